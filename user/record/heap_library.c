/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/heap_library.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"

static char *if_there(char *path)
{
	if (!access(path, R_OK))
		return path;
	free(path);
	return NULL;
}

char *heap_library(const char *name, struct diag *d)
{
	char dir[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	char *path = NULL, *slash;

	dir[n > 0 ? n : 0] = 0;
	slash = strrchr(dir, '/');
	if (slash) {
		*slash = 0;
		path = if_there(xasprintf("%s/%s", dir, name));
		if (!path)
			path = if_there(xasprintf("%s/../lib/er_kernel/%s", dir, name));
	}
	if (!path)
		diag_error(d, "the library %s is missing beside %s: install it again", name, dir);
	/* The loader divides the list at these characters. */
	if (path && strpbrk(path, " :")) {
		diag_error(d, "the library '%s' cannot be loaded, because its path has a blank or a "
			      "colon: install er_kernel elsewhere", path);
		free(path);
		return NULL;
	}
	return path;
}
