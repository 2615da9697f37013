/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that BPF could not walk yet: kept until the tables that they need are there, walked
 * (user/unwind/rawwalk.h), and handed on as if BPF had sent them. One that waits too long, or
 * finds too many before it, is walked by frame pointers, and says so.
 */
#ifndef USER_RECORD_RAWS_H
#define USER_RECORD_RAWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/er_event.h"

struct procmap;
struct raws;
struct stacks;
struct unwinder;

/* All of it is borrowed. */
struct raws *raws_new(struct stacks *stacks, struct unwinder *unwinder);
void raws_free(struct raws *r); /* NULL: nothing */

/* A well-formed ER_STACK_RAW stack. */
void raws_take(struct raws *r, const struct er_stack *s);
/*
 * Walk those that can be; with `last` all of them. The procmap is up to date. `tables`: some
 * have come since the last call. `now_ns` 0: none has waited too long.
 */
void raws_process(struct raws *r, struct procmap *pm, uint64_t now_ns, bool tables, bool last);
/* The stack of this id is still to be walked: records that have it wait. */
bool raws_pending(const struct raws *r, uint64_t id);
size_t raws_waiting(const struct raws *r);

#endif
