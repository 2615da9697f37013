/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plain perf events of a process, its threads and its descendants. Some sample a clock or a counter,
 * with a copy of the user stack. Others record forks, execs, exits, names and mappings. The caller
 * needs no privileges for its own process, if kernel.perf_event_paranoid is at most 2.
 * Only user mode is sampled. The CPU time that a thread used is counted in both modes.
 *
 * All events of a CPU share one ring. An event belongs to a thread and a CPU, because the kernel gives
 * no ring to an event that is inherited on all CPUs.
 */
#ifndef LOADERS_TASK_PERF_H
#define LOADERS_TASK_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct capture_counter;
struct capture_counted;
struct diag;
struct task_perf;

enum {
	TASK_PERF_REGS = 17,
	TASK_PERF_PC = 16, /* its place among them */
	TASK_PERF_CLOCK = -1, /* instead of the index of a counter */
};

struct task_perf_plan {
	pid_t pid;
	uint64_t interval_ns;                   /* of CPU time; 0: no clock */
	const struct capture_counter *counters;
	size_t ncounters;
	bool descend;                           /* also the processes that it creates */
};

/* A sample. The pointers are valid during the call. */
struct task_sample {
	int source;             /* index of a counter, or TASK_PERF_CLOCK */
	uint32_t pid, tid, cpu;
	uint64_t time_ns;       /* CLOCK_MONOTONIC */
	uint64_t address;       /* of data that the event is about; 0: unknown */
	const uint64_t *regs;   /* TASK_PERF_REGS, by DWARF number; NULL: the thread is not a 64-bit one */
	const uint64_t *stack;  /* from the stack pointer upwards */
	size_t nstack;          /* bytes, a multiple of 8 */
};

struct task_perf_sink {
	void (*sample)(void *ctx, const struct task_sample *s);
	/* A record for sideband_parse. */
	void (*process)(void *ctx, const void *record, size_t size);
	/* A thread has ended that began during the recording: its CPU time on one CPU. */
	void (*used)(void *ctx, uint32_t pid, uint32_t tid, uint64_t cpu_ns);
	void *ctx;
};

/* 0 if an event of the process can be opened, else -errno. No message. */
int task_perf_try(pid_t pid);
/*
 * Open the events of all threads of the process. They are off at first. Returns 0, or -errno after a
 * message. Threads that begin meanwhile get a warning if they may have no events; nothing is ever
 * counted twice. Release *ret with task_perf_close.
 */
int task_perf_open(const struct task_perf_plan *plan, struct diag *d, struct task_perf **ret);
void task_perf_close(struct task_perf *t); /* NULL: nothing */
/* Let the events count, or not. */
void task_perf_enable(struct task_perf *t, bool on);
/* Descriptors for poll(2), one for each CPU. One that reports POLLHUP will never be readable again. */
const int *task_perf_fds(const struct task_perf *t, size_t *n);
/* Hand on all records that the rings have. */
void task_perf_read(struct task_perf *t, const struct task_perf_sink *sink);
/* Records of the clock, which are also those of processes, or of all counters, that found no room so far. */
uint64_t task_perf_lost(const struct task_perf *t, bool of_clock);
/* The CPU time that all threads used while the events were on, in both modes. */
uint64_t task_perf_cpu_ns(const struct task_perf *t);
/* What a counter has counted so far, over all threads, and the events of its samples that were read. */
void task_perf_counted(const struct task_perf *t, size_t counter, struct capture_counted *ret);

#endif
