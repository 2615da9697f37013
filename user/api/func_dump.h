/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Describes generated functions in /tmp/jit-PID.dump, as runtimes do that write a jitdump, with code and lines.
 * The recorder reads it (user/jit/jitdump.h). The process maps the file's first page: that tells the recorder of
 * it. The file stays when the program has ended.
 */
#ifndef USER_API_FUNC_DUMP_H
#define USER_API_FUNC_DUMP_H

#include <stdbool.h>

#include "user/api/collectorAPI.h"

struct func_description {
	const char *name;
	const char *alias, *source; /* NULL: unknown */
	const void *start;
	unsigned size;
	const Lineno *lines;
	unsigned nlines;
};

/*
 * Add a function, and say that the function at this address is gone. False: there is no such file, as in a /tmp
 * that is mounted noexec. Then the process has none for ever.
 */
__attribute__((visibility("hidden"))) bool func_dump_add(const struct func_description *f);
__attribute__((visibility("hidden"))) bool func_dump_remove(const void *start);

#endif
