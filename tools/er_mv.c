/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_mv moves and renames experiments. The code is in analysis/files/. */
#include "analysis/base/program.h"
#include "analysis/files/tool.h"

int main(int argc, char **argv)
{
	int status = program_begin("er_mv");

	return status ? status : program_end("er_mv", transfer_main(TRANSFER_MOVE, argc, argv));
}
