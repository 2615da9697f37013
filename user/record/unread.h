/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds stacks of which BPF could not read all user frames, because a page was not in memory. Such a
 * stack comes with ER_STACK_UNREAD. Its thread walks again before it returns to user mode, and
 * sends the user frames with ER_STACK_AGAIN and the same id (bpf/again.bpf.h). The stack is held for a second;
 * then it is handed on as it is. Ids of such stacks are unique.
 */
#ifndef USER_RECORD_UNREAD_H
#define USER_RECORD_UNREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/er_event.h"

struct buf;
struct stacks;
struct unread;

struct unread *unread_new(struct stacks *stacks); /* borrowed */
void unread_free(struct unread *u);              /* NULL: nothing */
/* A new segment begins: count anew. */
void unread_restart(struct unread *u);
/* Takes a well-formed stack with ER_STACK_UNREAD or ER_STACK_AGAIN. */
void unread_take(struct unread *u, const struct er_stack *s);
/* Hand on what is whole or was held for too long; with `last` all. Ages are counted from the first call. */
void unread_process(struct unread *u, uint64_t now_ns, bool last);
/* True if the stack of this id is held: records with that id must wait. */
bool unread_pending(const struct unread *u, uint64_t id);
/* How many entries there are. */
size_t unread_waiting(const struct unread *u);
/* The time of the oldest stack that is held, or now_ns. Images of that time are still needed. */
uint64_t unread_oldest(const struct unread *u, uint64_t now_ns);
/* How many stacks had no user frame until their thread walked again. */
uint64_t unread_mended(const struct unread *u);
/* The element <unread> of recorder.xml. */
void unread_write(const struct unread *u, struct buf *b);

#endif
