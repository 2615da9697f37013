/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts how the walks of user stacks ended (enum er_end), per program, and for samples and
 * waits separately: number of stacks and time. recorder.xml has the result.
 */
#ifndef USER_RECORD_ENDS_H
#define USER_RECORD_ENDS_H

#include <stdint.h>

#include <linux/types.h>

#include "bpf/er_event.h"

struct buf;
struct ends;
struct image;

enum ends_kind { ENDS_CPU, ENDS_WAITS, ENDS_KINDS };

struct ends *ends_new(void);
void ends_free(struct ends *e); /* NULL: nothing */

/* Count one record of the image: how its walk ended (ER_END_NOT: there was none), its weight. */
void ends_count(struct ends *e, struct image *im, enum ends_kind kind, enum er_end end,
		uint64_t weight_ns);
/* Set all counts to 0. Programs keep their numbers. */
void ends_clear(struct ends *e);
/* Write one element for each program, kind and end. */
void ends_write(const struct ends *e, struct buf *b);

#endif
