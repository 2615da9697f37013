/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Appends protocol buffer messages to a buffer, field by field. A message inside a message is first
 * built in a buffer of its own.
 */
#ifndef EXPORT_PROTOBUF_H
#define EXPORT_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"

/*
 * An integer, bool or enum field. Negative values of int32 and int64 fields are written as two's
 * complement.
 */
void pb_uint(struct buf *b, unsigned field, uint64_t value);
/* A fixed64 field, and a double. */
void pb_fixed64(struct buf *b, unsigned field, uint64_t value);
void pb_double(struct buf *b, unsigned field, double value);
/* A string, bytes or message field. */
void pb_bytes(struct buf *b, unsigned field, const void *p, size_t n);
void pb_string(struct buf *b, unsigned field, const char *s);
/* A message field; `inner` is emptied for the next one. */
void pb_message(struct buf *b, unsigned field, struct buf *inner);
/* A packed repeated integer field. */
void pb_packed(struct buf *b, unsigned field, const uint64_t *values, size_t n);

#endif
