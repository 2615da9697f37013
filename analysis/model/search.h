/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where source files are looked for (P-041 to P-043, S-058): in the directories
 * of the search path, in their order; then under the recorded name, each prefix
 * that pathmap replaces tried first. "$expts" stands for the loaded experiments
 * in the order of loading; of them the archives are meant. In a directory the file is looked for
 * under its whole path and then under what is left of it without the first directory, the
 * first two …: a tree of sources has it, wherever the tree was when it was compiled.
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
	unsigned changes; /* how often it was changed */
};

/* "$expts:.", as gprofng has it. */
void search_init(struct search_path *sp);
void search_free(struct search_path *sp);
/* Replace, or append to, the directories by a list separated by colons; "\:" is a colon. */
void search_set(struct search_path *sp, const char *list);
void search_add(struct search_path *sp, const char *list);
/* Append the list as search_set takes it. */
void search_print(const struct search_path *sp, struct buf *b);
/* A later entry for the same prefix is tried after the earlier one. 0, or -1 after reporting. */
int search_map(struct search_path *sp, const char *from, const char *to, struct diag *d);

/*
 * Open a regular file for reading, by its recorded path. A descriptor, and in
 * *found the path it was found at, malloc'ed; -1 when it is nowhere. `s` may be
 * NULL: there are no experiments.
 */
int search_open(const struct search_path *sp, const struct session *s, const char *path,
		char **found);

#endif
