/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the experiment is called, and the directory that it is made in. */
#ifndef USER_RECORD_NAMES_H
#define USER_RECORD_NAMES_H

#include "user/record/plan.h"

struct diag;

struct expname {
	int dirfd;   /* the directory it goes into */
	char *name;  /* its last component */
	char *path;  /* as a person would type it */
	char *group; /* path of the group file, or NULL */
};

/*
 * Choose: -o as it is; a taken STEM.N.er becomes STEM.M.er, M one above the
 * highest in use, with a warning; without -o the stem is the group's or ktest.
 * 0, or -errno after reporting. Nothing is created. Free with expname_free.
 */
int expname_choose(const struct plan *plan, struct expname *ret, struct diag *d);
/*
 * Enter the experiment, which exists by now, into its group: one beside it by its
 * last component, any other by its absolute path. 0 or -errno after reporting.
 */
int expname_join_group(const struct expname *n, struct diag *d);
void expname_free(struct expname *n);

#endif
