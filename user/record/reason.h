/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a thread was off the CPU: by the functions of its kernel stack, its system
 * call (reason_rules.h), and what the record's flags say. A stack is looked at
 * once, however many waits it stands for.
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

/* Of the blocked part of a wait, and of its wait for a CPU. */
enum er_reason reason_blocked(struct reasons *r, const struct er_wait *w);
enum er_reason reason_runq(const struct er_wait *w);
/* Of time in a state that no single wait was recorded for; stack: of one that was, or 0. */
enum er_reason reason_rest(struct reasons *r, enum er_off_state state, uint64_t stack,
			   bool kthread);
/* Whose doing a waking in an interrupt was. */
enum waking {
	WAKING_INTERRUPT,
	WAKING_TIMER,
	WAKING_THREAD, /* of the thread that ran: it sent something to its own machine */
};

/* By the waker's stack; 0, or one that is not there: an interrupt's. */
enum waking reason_waking(struct reasons *r, uint64_t waker_stack);

#endif
