/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An experiment as one string of bytes, so that a fuzzer can change all of it: for
 * each file a byte that says which, three with its length, low first, and what
 * is in it. Any string is an experiment.
 */
#ifndef FUZZ_PACK_H
#define FUZZ_PACK_H

#include <stddef.h>

#include "analysis/base/buf.h"

/* The one sub-experiment that an experiment in this form may have. */
#define PACK_SUB "_work_PID_2.1.er"

/* Add the file of that name below the experiment; files that have no number are left out. */
void pack_add(struct buf *b, const char *name, const void *data, size_t size);
/* A path for pack_write, in a directory of one's own that stays; to be freed. */
char *pack_path(void);
/* Make the directory `dir` that experiment. Aborts when it cannot. */
void pack_write(const char *dir, const void *data, size_t size);

#endif
