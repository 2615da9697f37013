/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of an experiment: how each spent its time (threads.xml), and its names (names.xml).
 * The programs that its processes ran (processes.xml).
 */
#ifndef EXPERIMENT_EXP_THREADS_H
#define EXPERIMENT_EXP_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/experiment/mstate.h"

/*
 * An element of threads.xml: how one recorded thread spent its time. A thread has one more after
 * each pause of the recording. Times are
 * nanoseconds and never negative. run_ns and all off_ns add up to end_ns - begin_ns;
 * thread_sum adds them. Of a thread that was folded only the names, begin_ns and end_ns are known;
 * its other numbers are 0 here and part of the fold's.
 */
struct exp_thread {
	int64_t pid, tid;            /* pid 0: a kernel thread */
	const char *comm, *cgroup;
	const char *experiment;      /* sub-experiment with the packets; "": the founder, or a fold */
	int64_t begin_ns, end_ns;    /* relative to the start of this experiment */
	int64_t run_ns, user_ns, system_ns;
	int64_t off_ns[MS_COUNT];    /* time by state; 0 for states on a CPU */
	int64_t off_n[MS_COUNT];     /* number of waits in off_ns; all 0 if not recorded */
	int64_t stolen_ns;           /* part of off_ns[MS_WAIT_CPU]: had the CPU, was not charged */
	int64_t nwaits, npreempted, minflt, majflt;
	int64_t nmoved, moved_ns;    /* sleeps that schedstat counts as CPU waits; not in off_ns */
	bool born, ended;            /* the thread began, ended during the recording */
	bool again;                  /* continues an element: the recording was paused in between */
	bool split;                  /* user_ns and system_ns are exact */
	uint32_t fold;               /* number from 1 of its fold; 0: it was not folded */
};

/*
 * Elements `threads` of threads.xml, added up by name and cgroup: short-lived threads that the
 * recorder folded. Each thread is also in the list of threads.
 */
struct exp_fold {
	struct exp_thread sum;  /* begin_ns: the first begin; end_ns: the last end */
	int64_t nthreads;
	int64_t lived_ns;       /* of all threads; run_ns and all off_ns add up to it */
	int64_t nmovers;        /* threads that have a part in nmoved */
	bool ambiguous;         /* another fold has the same name */
	bool summed;            /* some packets have the time of several of its threads */
};

/* Packets with this TID have the time of several threads of a fold. */
struct exp_fold_number {
	int64_t tid;
	uint32_t fold; /* number from 1 */
};

/*
 * The thread's name from at_ns until its next one: an element of names.xml, or one of processes.xml
 * that names the main thread.
 */
struct exp_name {
	int64_t pid, tid; /* pid 0: a kernel thread */
	int64_t at_ns;    /* relative to the start of this experiment */
	int64_t start;    /* of the process, by a clock of the kernel; 0: unknown */
	const char *comm;
};

/* An element of processes.xml: a program that a process ran from begin_ns on. */
struct exp_process {
	int64_t pid;
	int64_t start;    /* of the process, as in exp_name; 0: unknown */
	int64_t begin_ns; /* relative to the start of this experiment */
	int64_t ppid;     /* when the process began; 0: unknown */
	const char *name; /* of the program */
	const char *command;
};

/* An element `exit` of processes.xml: the end of a process. */
struct exp_exit {
	int64_t pid;
	int64_t start;    /* as in exp_process */
	int64_t at_ns;    /* relative to the start of this experiment */
	int64_t status;   /* as wait(2) encodes it */
	const char *cgroup; /* "": unknown */
};

/* run_ns plus all off_ns, in nanoseconds; saturates. */
int64_t thread_sum(const struct exp_thread *th);

#endif
