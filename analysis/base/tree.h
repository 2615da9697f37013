/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies and removes directory trees of the size of an experiment. Directories are opened
 * relative to a descriptor, never through a symbolic link. So nothing outside the tree is read,
 * written or removed, whatever other programs do meanwhile.
 */
#ifndef BASE_TREE_H
#define BASE_TREE_H

#include "analysis/base/map.h"
#include "analysis/base/vec.h"

struct diag;

/*
 * Files with several links that were copied so far, for trees that share files. The copies share
 * them in the same way. `root` is a directory that contains all copies; the paths of tree_copy
 * are then relative to it. With all but `root` zero it is empty.
 */
struct tree_links {
	int root;
	struct map at;      /* inode to index in `copies`, + 1 */
	VEC(char *) copies; /* paths below root */
};

void tree_links_free(struct tree_links *l);

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
	struct tree_links *links; /* NULL: a file with several links is copied for each of them */
	void (*relief)(void *ctx); /* called after each entry, and often in large files; NULL: none */
	void *ctx;
};

int tree_copy(const struct tree_copy *c, struct diag *d);

/*
 * Remove the directory `name` in `dir` and all that it contains. Other file systems mounted in
 * it are an error. Returns 0, or -1 after a report.
 */
int tree_remove(int dir, const char *name, const char *path, struct diag *d);

#endif
