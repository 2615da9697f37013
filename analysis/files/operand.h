/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command-line operand: an entry of a directory. The directory is kept open, so that all
 * operations happen in it, on an entry that was checked without following a symbolic link.
 */
#ifndef FILES_OPERAND_H
#define FILES_OPERAND_H

#include <stdbool.h>
#include <sys/types.h>

struct diag;

struct operand {
	int dir;          /* the directory; closed by operand_free */
	char *path;       /* as given, without trailing slashes */
	const char *name; /* the last component of path */
};

/* Returns 0, or -1 after a report; call operand_free in either case. The entry need not exist. */
int operand_init(struct operand *p, const char *path, struct diag *d);
void operand_free(struct operand *p);

bool operand_exists(const struct operand *p);
/* Whether the directory open at `inner` is the one open at `outer`, or lies in it. */
bool operand_inside(int inner, int outer);

/*
 * Open an experiment's directory. Its name must end in ".er", and it must be no link. It must
 * have a log.xml, or nothing but files that belong in an experiment. Returns a descriptor, or
 * -1 after a report.
 */
int operand_open_experiment(const struct operand *p, struct diag *d);

/*
 * Call fn for the operand, or, if it is a group, for each experiment of the group. Returns 0,
 * or nonzero if a call did so or the group cannot be read.
 */
int operand_each(const char *operand, int (*fn)(void *ctx, const char *path, struct diag *d),
		 void *ctx, struct diag *d);

/*
 * The recorder that still writes into the experiment open at fd, in words for a message
 * ("er_kernel (process 4711)"); NULL: none is visible from here. The caller frees it.
 */
char *experiment_recorder(int fd);

#endif
