/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of threads, with dates. A thread is renamed when it executes another
 * program, or as it likes; each ring record says what its thread was called then.
 * A line of names.xml is written when that differs from what the lines so far
 * say, so that a reader finds the name of every packet by thread and time.
 * Records of one thread may come out of order, since each CPU has its own ring.
 * Memory is bounded: what is known of many threads is forgotten together, and
 * written again. Not thread safe: only the drain calls this.
 */
#ifndef USER_RECORD_THREAD_NAMES_H
#define USER_RECORD_THREAD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "user/record/recording.h"

struct er_task;
struct thread_names;

struct thread_names *thread_names_new(struct recording *recording);
void thread_names_free(struct thread_names *n);

/* The thread has a packet of that time, and was called task->comm then. */
void thread_names_note(struct thread_names *n, const struct er_task *task, bool kthread,
		       uint64_t time_ns);

#endif
