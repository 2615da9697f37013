/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A filter expression: parsed as a filter and as an index, and applied to every packet. */
#include "tests/fuzz/target.h"

#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/command/command.h"
#include "analysis/command/shell.h"
#include "analysis/metrics/filter.h"
#include "tests/fixtures/exp_rich.h"
#include "tests/fixtures/tempdir.h"
#include "tests/fuzz/report.h"

static struct shell *shell;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char *dir = tempdir_new(), *path = xasprintf("%s/rich.er", dir);

	report_quietly();
	exp_rich_write(dir, "rich.er");
	shell = report_open(path);
	if (!shell)
		abort();
	free(path);
	free(dir);
	return 0;
}

static void run(const char *command, char *arg)
{
	const struct command *c = command_find(command, NULL);
	char *argv[] = { (char *)command, arg };

	if (!c)
		abort();
	shell_run(shell, c, arg ? 2 : 1, argv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char none[] = "";
	char *text = xstrndup((const char *)data, size);
	struct diag d = { 0 };

	run("filters", text);
	run("functions", NULL);
	run("filters", none);
	filter_free(filter_parse_index(shell->session, &shell->view.types, text, &d));
	diag_free(&d);
	free(text);
	return 0;
}
