/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_archive makes experiments readable on other machines. The code is in analysis/files/. */
#include "analysis/base/program.h"
#include "analysis/files/tool.h"

int main(int argc, char **argv)
{
	int status = program_begin("er_archive");

	return status ? status : program_end("er_archive", archive_main(argc, argv));
}
