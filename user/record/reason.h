/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the reason why a thread was off the CPU: from the functions of its kernel stack and its
 * system call (reason_rules.h), and from the record's flags. The result for a stack is kept and
 * used for all waits with that stack.
 */
#ifndef USER_RECORD_REASON_H
#define USER_RECORD_REASON_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "analysis/experiment/packet.h"
#include "bpf/er_event.h"
#include "user/record/recording.h"
#include "user/record/stacks.h"

struct reasons;

/* Both are borrowed. */
struct reasons *reasons_new(struct recording *recording, struct stacks *stacks);
void reasons_free(struct reasons *r);

/* The reason of a wait's blocked part, and of its part that waited for a CPU. */
enum er_reason reason_blocked(struct reasons *r, const struct er_wait *w);
enum er_reason reason_runq(const struct er_wait *w);
/* The reason of the remainder in a state; stack: id of a recorded wait in that state, or 0. */
enum er_reason reason_rest(struct reasons *r, enum er_off_state state, uint64_t stack,
			   bool kthread);
/* What caused a wakeup in interrupt context. */
enum waking {
	WAKING_INTERRUPT,
	WAKING_TIMER,
	WAKING_THREAD, /* the thread that ran: it sent something to its own machine */
};

/* Decided from the waker's stack. WAKING_INTERRUPT if the id is 0 or the stack is not known. */
enum waking reason_waking(struct reasons *r, uint64_t waker_stack);
/*
 * How many kernel frames of the stack belong to the interrupt, up to the entry into the kernel. What
 * it interrupted comes behind them. All frames if there is no such entry; 0: the stack is not known.
 */
unsigned reason_interrupt(struct reasons *r, uint64_t waker_stack);

#endif
