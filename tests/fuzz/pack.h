/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An experiment as one byte string, so that a fuzzer can change all of it. For each file there
 * is a byte with its number, three bytes with its length, lowest first, and its content. Every
 * byte string is a valid experiment in this form.
 */
#ifndef FUZZ_PACK_H
#define FUZZ_PACK_H

#include <stddef.h>

#include "analysis/base/buf.h"

/* The only sub-experiment that this form can have. */
#define PACK_SUB "_work_PID_2.1.er"

/* Append the file with this name in the experiment; files without a number are left out. */
void pack_add(struct buf *b, const char *name, const void *data, size_t size);
/* A path for pack_write in a new directory, which stays. The caller frees it. */
char *pack_path(void);
/* Turn the directory `dir` into this experiment. Aborts on failure. */
void pack_write(const char *dir, const void *data, size_t size);

#endif
