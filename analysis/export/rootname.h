/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The name of the frame above a stack: its state, its reason, or its process. */
#ifndef EXPORT_ROOTNAME_H
#define EXPORT_ROOTNAME_H

#include <stdint.h>

#include "analysis/export/export.h"

struct bucket_key;
struct buf;

/* What `gather` has to distinguish for a root: enum gather_by. */
unsigned root_by(enum export_root root);
/* Append the name of the root for x; nothing for ROOT_NONE. */
void root_put(const struct export *x, const struct bucket_key *k, struct buf *b);

/*
 * The name of a microstate in reports; "No state" outside the table. The name of a reason; "On CPU"
 * for -1.
 */
const char *state_uname(int64_t state);
const char *reason_uname(int64_t reason);

#endif
