/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How reports name a location in code. */
#ifndef VIEWS_INLINED_H
#define VIEWS_INLINED_H

#include "analysis/model/source.h"

struct buf;

/*
 * Append the inlined calls around a pc: " <-- twice a.c:7 <-- mix inl.h:3". The outermost comes
 * first, and each has its location in the function that it called. Appends nothing if there are
 * none.
 */
void put_inlined(struct buf *b, struct session *s, const struct func *f, uint64_t offset);

#endif
