/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_rm: removes experiments. Everything is in analysis/tool/. */
#include "analysis/tool/tool.h"

int main(int argc, char **argv)
{
	return remove_main(argc, argv);
}
