/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_print reports on experiments. The code is in analysis/; see analysis/command/shell.h. */
#include <locale.h>
#include <signal.h>

#include "analysis/base/program.h"
#include "analysis/command/edit.h"
#include "analysis/command/shell.h"

int main(int argc, char **argv)
{
	struct shell sh;
	int status = program_begin("er_print");

	if (status)
		return status;
	/* Names are UTF-8 in any locale; numbers keep their decimal point. */
	setlocale(LC_CTYPE, "C.UTF-8");
	/*
	 * A write to a closed pipe fails with EPIPE: `er_print … | head` then ends, an
	 * `outfile` to a pipe gives a message.
	 */
	signal(SIGPIPE, SIG_IGN);
	shell_init(&sh, "er_print", edit_read_line);
	status = shell_main(&sh, argc, argv);
	shell_fini(&sh);
	if (sh.interrupted) {
		/* End by SIGINT, as without a handler, so that a calling script ends, too. */
		signal(SIGINT, SIG_DFL);
		raise(SIGINT);
	}
	return status;
}
