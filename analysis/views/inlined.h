/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How reports name a place in code. */
#ifndef VIEWS_INLINED_H
#define VIEWS_INLINED_H

#include "analysis/model/source.h"

struct buf;

/*
 * Append " <-- twice a.c:7 <-- mix inl.h:3": the inlined calls around a pc, the
 * outermost first, each with the place in what it called. Nothing when there are none.
 */
void put_inlined(struct buf *b, struct session *s, const struct func *f, uint64_t offset);

#endif
