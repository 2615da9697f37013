/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kernel functions and system calls say about a wait: one table of each. */
#ifndef USER_RECORD_REASON_RULES_H
#define USER_RECORD_REASON_RULES_H

#include <limits.h>
#include <stddef.h>

#include "analysis/experiment/packet.h"

/* Of several functions the one of the lowest rank decides; any order will do. */
#define REASON_RANK_NONE UINT_MAX /* the function says nothing */

unsigned reason_rank(const char *function);
/* REASON_OTHER for REASON_RANK_NONE. */
enum er_reason reason_of_rank(unsigned rank);

/* By the functions of a kernel stack, in any order; REASON_OTHER when none says anything. */
enum er_reason reason_of_functions(const char *const *names, size_t n);
/* By the number of a system call; REASON_OTHER likewise. */
enum er_reason reason_of_syscall(int nr);

/*
 * Whose doing a waking in an interrupt is, by the functions on the way to it, leaf
 * first: what a thread sends to its own machine is delivered in a soft interrupt
 * that it runs itself, within its call. Others wait for any interrupt to end.
 */
enum doing {
	DOING_UNSAID,
	DOING_TIMER,     /* a timer has run out, and that is why somebody is woken */
	DOING_DELIVERS,  /* something that was sent on this machine */
	DOING_THREAD,    /* a thread lets soft interrupts in */
	DOING_INTERRUPT, /* an interrupt came upon it */
};

enum doing reason_doing(const char *function);

#endif
