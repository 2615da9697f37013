/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_rm removes experiments. The code is in analysis/files/. */
#include "analysis/base/program.h"
#include "analysis/files/tool.h"

int main(int argc, char **argv)
{
	int status = program_begin("er_rm");

	return status ? status : program_end("er_rm", remove_main(argc, argv));
}
