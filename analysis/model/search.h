/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds source files. First the directories of the search path are tried in order; then
 * the recorded name, after trying the replacement of each prefix set by pathmap.
 * "$expts" means the archives of all loaded experiments, in order of loading. In a
 * directory a file is looked for by its whole path, then without its first directory,
 * without the first two, and so on; so a source tree is found wherever it was when it
 * was compiled.
 */
#ifndef MODEL_SEARCH_H
#define MODEL_SEARCH_H

#include "analysis/base/vec.h"

struct buf;
struct diag;
struct session;

struct pathmap {
	char *from, *to;
};

struct search_path {
	VEC(char *) dirs;
	VEC(struct pathmap) maps;
	unsigned changes; /* number of changes so far */
};

/* Initialize to "$expts:.", like gprofng. */
void search_init(struct search_path *sp);
void search_free(struct search_path *sp);
/* Replace the directories, or append to them, from a list separated by colons; "\:" is a colon. */
void search_set(struct search_path *sp, const char *list);
void search_add(struct search_path *sp, const char *list);
/* Append the list to b, in the form that search_set takes. */
void search_print(const struct search_path *sp, struct buf *b);
/*
 * Add a prefix replacement. Several for one prefix are tried in the order of addition.
 * 0, or -1 after reporting.
 */
int search_map(struct search_path *sp, const char *from, const char *to, struct diag *d);

/*
 * Open a regular file by its recorded path. Returns a descriptor and, in *found, the
 * path where it was found (the caller frees it); -1: not found. `s` may be NULL: no
 * experiments.
 */
int search_open(const struct search_path *sp, const struct session *s, const char *path,
		char **found);

#endif
