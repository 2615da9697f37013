/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records the names of threads over time. A thread gets a new name when it executes another
 * program, or whenever it sets one; each ring record has the name of its thread at that time. A
 * line of names.xml is written when that name differs from what the earlier lines say, or when the
 * kernel has given the number to another process, so that a reader finds the name and the process
 * for every packet by thread and time. The first line of a number has a time that is earlier than its
 * first packet, by less than a millisecond. The records of one thread may come
 * out of order, since each CPU has its own ring. Memory is bounded: when there are too many
 * threads all are forgotten, and their names are written again. Not thread safe: only the drain
 * calls this.
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

/*
 * Note that the thread has a packet at time_ns and that its name was `comm` then: 16 bytes, ended
 * by a NUL if it is shorter.
 */
void thread_names_note(struct thread_names *n, const struct er_task *task, const char *comm,
		       bool kthread, uint64_t time_ns);

/*
 * True if a line of processes.xml shall say the name of a process's main thread from begin_ns on: then
 * no line of names.xml is written for it. False: lines are written that say it, or contradict it.
 */
bool thread_names_process(struct thread_names *n, uint32_t pid, uint64_t start_time, const char *comm,
			  uint64_t begin_ns);

#endif
