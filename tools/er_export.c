/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * er_export writes experiments in other formats (analysis/command/exporting.h) or prints their
 * raw data (analysis/files/).
 */
#include <locale.h>
#include <signal.h>

#include "analysis/base/program.h"
#include "analysis/command/exporting.h"
#include "analysis/files/tool.h"

int main(int argc, char **argv)
{
	int status = program_begin("er_export");

	if (status)
		return status;
	if (!exporting_asked(argc, argv))
		return program_end("er_export", export_main(argc, argv));
	setlocale(LC_CTYPE, "C.UTF-8");
	/* A write to a closed pipe fails with EPIPE: `er_export -o - … | head` then ends. */
	signal(SIGPIPE, SIG_IGN);
	status = exporting_main(argc, argv);
	if (status == -SIGINT) {
		/* End by SIGINT, as without a handler, so that a calling script ends, too. */
		signal(SIGINT, SIG_DFL);
		raise(SIGINT);
	}
	return program_end("er_export", status);
}
