/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What objects are called that a number tells apart. */
#ifndef VIEWS_INDEX_LABEL_H
#define VIEWS_INDEX_LABEL_H

#include <stdint.h>

struct buf;
struct objtype;

/* Append the name of the object `index`, which is not -1. */
void index_put_label(const struct objtype *type, int64_t index, struct buf *b);

#endif
