/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the attributes that lines of threads.xml have in common, from a total. */
#ifndef USER_RECORD_THREAD_LINE_H
#define USER_RECORD_THREAD_LINE_H

#include <stdint.h>

struct buf;
struct er_total;

/* Append ` name="value"`. thread_line_attr leaves out a 0. */
void thread_line_number(struct buf *b, const char *name, uint64_t value);
void thread_line_attr(struct buf *b, const char *name, uint64_t value);
/* Append times by state and counts, those that are 0 left out. No names, begin, end or flags. */
void thread_line_sums(struct buf *b, const struct er_total *t);

#endif
