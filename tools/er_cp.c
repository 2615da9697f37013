/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_cp copies experiments. The code is in analysis/files/. */
#include "analysis/base/program.h"
#include "analysis/files/tool.h"

int main(int argc, char **argv)
{
	int status = program_begin("er_cp");

	return status ? status : program_end("er_cp", transfer_main(TRANSFER_COPY, argc, argv));
}
