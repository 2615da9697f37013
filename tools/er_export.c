/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_export prints the raw data of experiments. The code is in analysis/files/. */
#include "analysis/base/program.h"
#include "analysis/files/tool.h"

int main(int argc, char **argv)
{
	int status = program_begin("er_export");

	return status ? status : program_end("er_export", export_main(argc, argv));
}
