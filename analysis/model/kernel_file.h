/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds files that may be the vmlinux or a module of a kernel release, most likely
 * first. Searched are: NAME and NAME.ko in the search path, modules also compressed;
 * the directories of Debian's and other distributions' debug packages, by build id and
 * by release; and debuginfod, if a server is set and the build id is known.
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
	int first;        /* found in the search path, open; -1: none */
	char *first_path;
	bool asked;       /* debuginfod was asked */
	const char *module;
	const char *release, *build_id;
	struct diag *diag;
};

/* `os` is "Linux RELEASE"; `build_id` may be NULL. All arguments are borrowed. */
void kernel_files_init(struct kernel_files *kf, const struct search_path *sp,
		       const struct session *s, const char *os, const char *module,
		       const char *build_id, struct diag *d);
/* Open the next file. The caller closes it and frees *path. -1: no more. */
int kernel_files_next(struct kernel_files *kf, char **path);
void kernel_files_free(struct kernel_files *kf);

#endif
