/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the CPU time of threads without a sample is divided between user mode and the kernel. Where the kernel counts by
 * ticks it knows nothing of most short-lived threads, and too much of some: a tick is 4 ms to a thread of 1 ms. Over
 * many threads the shares are right. So time of which the kernel told nothing is given to the mode that lacks most,
 * compared with what it told of threads of the same name.
 */
#ifndef USER_RECORD_MODES_H
#define USER_RECORD_MODES_H

#include <stdbool.h>
#include <stdint.h>

enum { MODES_NAMES = 1024, MODES_COMM = 16 };

/* Zeroed at first. A name may lose its place to another one. */
struct modes {
	struct modes_of {
		char comm[MODES_COMM];
		uint64_t user, system;             /* told */
		uint64_t guessed_user, guessed_system;
	} of[MODES_NAMES];
};

/*
 * The part of weight_ns in the kernel. told: the kernel says system_ns. The name need not end with NUL.
 */
uint64_t modes_system(struct modes *m, const char comm[MODES_COMM], uint64_t weight_ns, bool told, uint64_t system_ns);

#endif
