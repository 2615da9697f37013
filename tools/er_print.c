/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_print: reports on experiments. Everything is in analysis/; see analysis/command/shell.h. */
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
	/* Names are UTF-8 whatever the user's locale says; numbers keep their point. */
	setlocale(LC_CTYPE, "C.UTF-8");
	/* `er_print … | head` ends by EPIPE, an `outfile` to a pipe with a message. */
	signal(SIGPIPE, SIG_IGN);
	shell_init(&sh, "er_print", edit_read_line);
	status = shell_main(&sh, argc, argv);
	shell_fini(&sh);
	if (sh.interrupted) {
		/* Ends as if it had not been caught, so that a script that runs this one ends, too. */
		signal(SIGINT, SIG_DFL);
		raise(SIGINT);
	}
	return status;
}
