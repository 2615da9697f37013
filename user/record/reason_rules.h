/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two tables: which reason for a wait a kernel function or a system call implies. */
#ifndef USER_RECORD_REASON_RULES_H
#define USER_RECORD_REASON_RULES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/experiment/packet.h"

/* The function with the lowest rank decides the reason of a stack, wherever it is in it. */
#define REASON_RANK_NONE UINT_MAX /* the function implies no reason */

unsigned reason_rank(const char *function);
/* Returns REASON_OTHER for REASON_RANK_NONE. */
enum er_reason reason_of_rank(unsigned rank);

/* The reason that the functions of a kernel stack imply, in any order; else REASON_OTHER. */
enum er_reason reason_of_functions(const char *const *names, size_t n);
/* The reason that the number of a system call implies; else REASON_OTHER. */
enum er_reason reason_of_syscall(int nr);

/*
 * What a kernel function says about the cause of a wakeup in interrupt context. The waker's stack
 * is searched from the leaf. Data that a thread sends to its own machine are delivered in a soft
 * interrupt that the thread runs itself, within its system call; then the thread is the waker.
 * Other soft interrupts run at the end of some hardware interrupt.
 */
enum doing {
	DOING_UNSAID,
	DOING_TIMER,     /* a timer has expired and wakes the thread */
	DOING_DELIVERS,  /* delivers data that were sent on this machine */
	DOING_THREAD,    /* a thread runs pending soft interrupts itself */
	DOING_INTERRUPT, /* an interrupt stopped the running thread */
};

enum doing reason_doing(const char *function);
/* Whether the processor begins an interrupt or an exception with this function. */
bool reason_is_entry(const char *function);

#endif
