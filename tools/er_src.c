/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_src shows the source and disassembly of an object; see analysis/command/ersrc.h. */
#include <locale.h>

#include "analysis/base/program.h"
#include "analysis/command/ersrc.h"

int main(int argc, char **argv)
{
	int status = program_begin("er_src");

	setlocale(LC_CTYPE, "C.UTF-8");
	return status ? status : program_end("er_src", ersrc_main(argc, argv));
}
