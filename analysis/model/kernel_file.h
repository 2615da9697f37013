/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that may be the vmlinux or a module of a kernel release, the likeliest
 * first: NAME or NAME.ko in the search path, a module also compressed; by build id and by release where
 * Debian's debug packages and other distributions put them; what debuginfod has,
 * if the user named a server and the build id is known.
 */
#ifndef MODEL_KERNEL_FILE_H
#define MODEL_KERNEL_FILE_H

#include <stdbool.h>

#include "analysis/base/vec.h"

struct diag;
struct search_path;
struct session;

struct kernel_files {
	VEC(char *) paths;
	size_t next;
	int first;        /* from the search path, open; -1 none */
	char *first_path;
	bool asked;       /* debuginfod */
	const char *module;
	const char *release, *build_id;
	struct diag *diag;
};

/* `os` is "Linux RELEASE", `build_id` may be NULL; all are borrowed. */
void kernel_files_init(struct kernel_files *kf, const struct search_path *sp,
		       const struct session *s, const char *os, const char *module,
		       const char *build_id, struct diag *d);
/* The next one, open, and its path, both the caller's; -1: no more. */
int kernel_files_next(struct kernel_files *kf, char **path);
void kernel_files_free(struct kernel_files *kf);

#endif
