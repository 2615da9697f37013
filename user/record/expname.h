/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the name of the experiment and the directory in which it is made. */
#ifndef USER_RECORD_EXPNAME_H
#define USER_RECORD_EXPNAME_H

#include "user/record/plan.h"

struct diag;

struct expname {
	int dirfd;   /* the directory it goes into */
	char *name;  /* its last component */
	char *path;  /* as a person would type it */
	char *group; /* path of the group file, or NULL */
};

/*
 * Choose the name. With -o it is used as given; if STEM.N.er exists it becomes STEM.M.er, where M
 * is one above the highest number in use, with a warning. Without -o the stem is the group's, or
 * "ktest". Creates nothing. Returns 0, or -errno after reporting. Free with expname_free.
 */
int expname_choose(const struct plan *plan, struct expname *ret, struct diag *d);
/*
 * The name of the segment after `n`: the next free number of the same stem, in the same directory
 * and group. Free it with expname_free; it does not depend on `n`.
 */
void expname_next(const struct expname *n, struct expname *ret);
/*
 * The same for a name that another recorder has taken since it was chosen, with a warning. Returns -EEXIST after
 * reporting if the name has no number.
 */
int expname_evade(const struct expname *n, struct expname *ret, struct diag *d);
/* The stem: the name without its number and ".er". The caller frees it. */
char *expname_stem(const struct expname *n);
/* The path of dumps for people: "dir/STEM.N". The caller frees it. */
char *expname_dumps(const struct expname *n);
/* The next free name STEM.N of a dump, in the same directory. The caller frees it. */
char *expname_dump(const struct expname *n);
/*
 * Add the experiment, which must exist, to its group file. The entry is the experiment's last
 * component if both are in the same directory, else its absolute path. Returns 0, or -errno
 * after reporting.
 */
int expname_join_group(const struct expname *n, struct diag *d);
/* Remove the experiment `path`, which still exists, from the group of `n`. As expname_join_group. */
int expname_leave_group(const struct expname *n, const char *path, struct diag *d);
void expname_free(struct expname *n);

#endif
