/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A script, as read from `script`, standard input and .er.rc files. fopen is replaced (ld
 * --wrap), so that the script neither reads nor writes files.
 */
#include "tests/fuzz/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/command/shell.h"
#include "tests/fixtures/exp_rich.h"
#include "tests/fixtures/tempdir.h"
#include "tests/fuzz/report.h"

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);

static char *dir;

FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (!strcmp(path, "/dev/null"))
		return __real_fopen(path, mode);
	errno = EACCES;
	return NULL;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char *base = tempdir_new();

	report_quietly();
	exp_rich_write(base, "rich.er");
	dir = xasprintf("%s/rich.er", base);
	free(base);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shell *sh = report_open(dir);
	struct input in = { .read = read_file_line, .name = "fuzz" };

	if (!sh)
		abort();
	in.file = fmemopen((void *)data, size, "r");
	if (in.file) {
		shell_read(sh, &in);
		fclose(in.file);
	}
	report_close(sh);
	return 0;
}
