/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds raw stacks: copies of user stacks that BPF could not walk yet. When the unwind tables that
 * such a stack needs are ready, it is walked (user/unwind/rawwalk.h) and handed on like a stack
 * from BPF. A stack that waits too long, or that finds no room here, is walked by frame pointers;
 * its end (enum er_end) says so.
 */
#ifndef USER_RECORD_RAWS_H
#define USER_RECORD_RAWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/er_event.h"

struct buf;
struct image;
struct procmap;
struct raws;
struct stacks;
struct unwinder;

/* Both are borrowed. */
struct raws *raws_new(struct stacks *stacks, struct unwinder *unwinder);
void raws_free(struct raws *r); /* NULL: nothing */

/*
 * A stack has code of the image's Java VM, which the unwinder does not know yet. `wants` finds it out. True: that
 * takes a moment, for which the stack waits. Without the function no stack does.
 */
void raws_want_vms(struct raws *r, bool (*wants)(void *ctx, struct image *im), void *ctx);
/* A new segment begins: count anew. */
void raws_restart(struct raws *r);
/* Takes a well-formed ER_STACK_RAW stack. */
void raws_take(struct raws *r, const struct er_stack *s);
/* The procmap has all events from before the stacks that have come: they can be walked. */
void raws_settle(struct raws *r);
/*
 * Walk the settled stacks whose tables are ready; with `last` walk all settled ones. A stack waits at most 1.2 s
 * after the first call.
 * `now_ns` 0: no stack has waited too long.
 */
void raws_process(struct raws *r, struct procmap *pm, uint64_t now_ns, bool last);
/*
 * Request tables that stacks lack which came since the last call, if their processes are known. May be
 * called while the recording writes: it walks no stack to its end and changes no process.
 */
void raws_ask(struct raws *r, const struct procmap *pm);
/* True if the stack of this id is still to be walked; records with that id must wait. */
bool raws_pending(const struct raws *r, uint64_t id);
size_t raws_waiting(const struct raws *r);
/* How many of them are settled. */
size_t raws_settled(const struct raws *r);
/* The time of the oldest stack that waits, or now_ns. Images of that time are still needed. */
uint64_t raws_oldest(const struct raws *r, uint64_t now_ns);
/* The element <copies> of recorder.xml. */
void raws_write(const struct raws *r, struct buf *b);

#endif
