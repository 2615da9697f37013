/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the parts of task_events only. task_events.c follows threads and processes, task_samples.c
 * makes records of samples, and task_settle.c gives them their weights.
 */
#ifndef USER_RECORD_TASK_EVENTS_IMPL_H
#define USER_RECORD_TASK_EVENTS_IMPL_H

#include "user/record/task_events.h"

#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "loaders/task_perf.h"
#include "user/space/eventqueue.h"

enum {
	TASK_THREADS = 1 << 16,
	TASK_WAITING = 1 << 14, /* samples of one thread whose time is not known yet */
};

/* A sample whose weight is not known yet. */
struct waiting {
	uint64_t time_ns, stack;
	uint32_t cpu;
};

struct thread {
	pid_t pid, tid;
	uint64_t run_ns, system_ns; /* CPU time that was read last, as the kernel counts it */
	uint64_t told_ns;           /* that was recorded, or is in user_ns */
	uint64_t read_ns;           /* when run_ns was read, or the thread began */
	uint64_t perf_ns;           /* that its event counted, if that was told when it ended; else 0 */
	uint64_t ended_ns;          /* when it ended */
	uint64_t user_ns;           /* without a sample so far */
	uint64_t stack;             /* of its last sample; 0: none */
	uint32_t cpu;
	bool ended;
	unsigned takes;             /* since it has ended */
	VEC(struct waiting) samples;
	char comm[16];
};

struct process {
	pid_t pid;
	uint64_t start_time; /* as the procmap knows the process */
	uint64_t clock_ns;   /* what its CPU clock said when recording began, or went on */
	uint64_t told_ns;    /* of its threads, since then */
};

/* A thread's event tells its count before the thread itself may be known here. */
struct used {
	pid_t pid, tid;
	uint64_t cpu_ns;
};

/* Followed by its registers and its stack. */
struct kept {
	struct task_sample s;
	bool again; /* its process was not known at the last take */
};

struct task_events {
	struct task_parts parts;
	struct map threads;   /* by tid, to struct thread * */
	struct map processes; /* by pid, to struct process * */
	struct eventqueue queue;
	struct buf records;   /* of samples, with their stacks: see struct kept */
	VEC(struct used) used;
	bool paused;
	uint64_t now_ns, nstacks;
	uint64_t lost[2]; /* of counters, of the clock */
	uint64_t told_ns;     /* of all threads */
	/* See note_drift: the clock's event had counted so much, which is more than the scheduler by drift_ns. */
	uint64_t drift_perf_ns, drift_due_ns;
	int64_t drift_ns;
	uint64_t ticks_ns;    /* of /proc/PID/stat */
	unsigned takes, living;
	union {
		struct er_stack s;
		char bytes[sizeof(struct er_stack) + sizeof(struct er_raw) + ER_RAW_BYTES];
	} raw;
};

static inline struct thread *thread_of(const struct task_events *te, uint32_t tid)
{
	const uint64_t *at = map_get(&te->threads, tid);

	return at ? (struct thread *)(uintptr_t)*at : NULL;
}

static inline struct process *process_of(const struct task_events *te, pid_t pid)
{
	const uint64_t *at = map_get(&te->processes, pid);

	return at ? (struct process *)(uintptr_t)*at : NULL;
}

/* --- task_samples.c --- */
/* Count samples that are lost: of the clock, or of counters. */
void task_lose_samples(struct task_events *te, bool of_clock, uint64_t n);

/* Keep a sample until the procmap is up to date. `again`: its process was not known at the last take. */
void task_keep_sample(struct task_events *te, const struct task_sample *s, bool again);
/* Hand their stacks and the counters' samples to the drain. Those of the clock wait for their weights. */
void task_use_samples(struct task_events *te);

/* --- task_settle.c --- */

/* From now on only later time counts. */
void task_settle_begin(struct task_events *te);
/* Record what the threads have used since the last time; with `last` also what has no sample. */
void task_settle(struct task_events *te, bool last);
/* Forget a thread. */
void task_thread_free(struct thread *t);

#endif
