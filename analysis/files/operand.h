/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an operand names: an entry of a directory that is held open, so that
 * all that follows happens in that directory, and to an entry that was looked
 * at without following a symbolic link.
 */
#ifndef FILES_OPERAND_H
#define FILES_OPERAND_H

#include <stdbool.h>
#include <sys/types.h>

struct diag;

struct operand {
	int dir;          /* the directory; closed by operand_free */
	char *path;       /* as given, without slashes at its end */
	const char *name; /* the last component of path */
};

/* 0, or -1 after reporting; operand_free in either case. The entry need not be there. */
int operand_init(struct operand *p, const char *path, struct diag *d);
void operand_free(struct operand *p);

bool operand_exists(const struct operand *p);
/* Whether the directory open at `inner` is that at `outer` or lies in it. */
bool operand_inside(int inner, int outer);

/*
 * Open the directory of the experiment: a name in ".er", no link, and in it a
 * log.xml or nothing that does not belong into an experiment. -1 after
 * reporting.
 */
int operand_open_experiment(const struct operand *p, struct diag *d);

/*
 * Call fn for the experiment that an operand is, or for each one of the group that
 * it is. 0, or -1 when one of the calls said so or the group cannot be read.
 */
int operand_each(const char *operand, int (*fn)(void *ctx, const char *path, struct diag *d),
		 void *ctx, struct diag *d);

/*
 * Who still writes into the experiment open at fd, as words for a message
 * ("er_kernel (process 4711)"); NULL nobody that can be seen from here. Freed
 * by the caller.
 */
char *experiment_recorder(int fd);

#endif
