/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an operand names: an entry of a directory that is held open, so that
 * all that follows happens in that directory, and to an entry that was looked
 * at without following a symbolic link.
 */
#ifndef TOOL_PLACE_H
#define TOOL_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

struct diag;

struct place {
	int dir;          /* the directory; closed by place_free */
	char *path;       /* as given, without slashes at its end */
	const char *name; /* the last component of path */
};

/* 0, or -1 after reporting; place_free in either case. The entry need not be there. */
int place_init(struct place *p, const char *path, struct diag *d);
void place_free(struct place *p);

bool place_exists(const struct place *p);

/*
 * Open the directory of the experiment: a name in ".er", no link, and in it a
 * log.xml or nothing that does not belong into an experiment. -1 after
 * reporting.
 */
int place_open_experiment(const struct place *p, struct diag *d);

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
