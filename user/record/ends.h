/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the walks of user stacks ended: for each program, and for samples and waits apart, how
 * many stacks and how much time ended in which way (enum er_end). Written into recorder.xml.
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

/* A record of the image, whose stack ended so, has this weight. ER_END_NOT: there was no walk. */
void ends_count(struct ends *e, struct image *im, enum ends_kind kind, enum er_end end,
		uint64_t weight_ns);
/* One element for each program, kind and way. */
void ends_write(const struct ends *e, struct buf *b);

#endif
