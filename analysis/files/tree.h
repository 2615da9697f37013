/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directory trees the size of an experiment, copied and removed. Directories
 * are entered by descriptor and never through a symbolic link, so that nothing
 * outside the tree is read, written or removed whatever others do meanwhile.
 */
#ifndef FILES_TREE_H
#define FILES_TREE_H

struct diag;

/*
 * Copy the directory `name` of `from` to a new one `copy` in `to`: directories,
 * regular files, symbolic links as they are; what else there is is passed over
 * with a warning. Modes and times are kept, and owners if `owners` (and we may).
 * An experiment that grows meanwhile is copied so that the copy can be read.
 * 0, or -1 after reporting; then there is no copy. `path` is what messages call
 * the directory.
 */
struct tree_copy {
	int from, to;
	const char *name, *copy, *path;
	int owners;
	const volatile int *stop; /* becomes other than 0: give up; may be NULL */
};

int tree_copy(const struct tree_copy *c, struct diag *d);

/* Remove the directory `name` of dir and all in it; not into other file systems. 0 or -1. */
int tree_remove(int dir, const char *name, const char *path, struct diag *d);

#endif
