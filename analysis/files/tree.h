/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies and removes directory trees of the size of an experiment. Directories are opened
 * relative to a descriptor, never through a symbolic link. So nothing outside the tree is read,
 * written or removed, whatever other programs do meanwhile.
 */
#ifndef FILES_TREE_H
#define FILES_TREE_H

struct diag;

/*
 * Copy the directory `name` in `from` to a new directory `copy` in `to`. Directories, regular
 * files and symbolic links are copied; other files are skipped with a warning. Modes and times
 * are kept, and owners if `owners` is set and the caller may. An experiment that is being
 * recorded is copied in an order that leaves the copy readable. Returns 0, or -1 after a
 * report; then no copy remains. Messages call the directory `path`.
 */
struct tree_copy {
	int from, to;
	const char *name, *copy, *path;
	int owners;
	const volatile int *stop; /* nonzero: give up; may be NULL */
};

int tree_copy(const struct tree_copy *c, struct diag *d);

/*
 * Remove the directory `name` in `dir` and all that it contains. Other file systems mounted in
 * it are an error. Returns 0, or -1 after a report.
 */
int tree_remove(int dir, const char *name, const char *path, struct diag *d);

#endif
