/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_mv: moves and renames experiments. Everything is in analysis/tool/. */
#include "analysis/tool/tool.h"

int main(int argc, char **argv)
{
	return transfer_main(TRANSFER_MOVE, argc, argv);
}
