/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Group files (.erg), which name experiments. */
#ifndef EXPERIMENT_EXP_GROUP_H
#define EXPERIMENT_EXP_GROUP_H

#include "analysis/experiment/experiment.h"

struct diag;

/* The first line of a group file, without its newline. */
extern const char group_first_line[];
/*
 * Read the experiments that a group file (.erg) names, in order. Warns when there are
 * none. 0, or -1 after reporting.
 */
int group_read(const char *path, str_vec *ret, struct diag *d);
/* Report that an experiment which group_read has returned does not exist, and which line names it. Returns -1. */
int group_lacks(const char *path, const char *experiment, struct diag *d);
/* Add a line to a group file; a new file gets its first line, too. 0, or -1 after reporting. */
int group_add(const char *path, const char *experiment, struct diag *d);
/*
 * Remove the lines with this entry from a group file, in place. A group that lacks it, or that is
 * gone, is left as it is. 0, or -1 after reporting.
 */
int group_remove(const char *path, const char *experiment, struct diag *d);

#endif
