/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel tells of processes while we record: fork, exec, exit, names
 * and executable mappings of the whole system, from a perf `dummy` event on
 * every CPU. Hands out events and keeps nothing.
 */
#ifndef USER_SIDEBAND_H
#define USER_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct diag;
struct sideband;

enum proc_event_kind { PROC_FORK, PROC_EXIT, PROC_COMM, PROC_EXEC, PROC_MMAP };

struct proc_event {
	enum proc_event_kind kind;
	uint64_t time_ns;  /* CLOCK_MONOTONIC */
	pid_t pid, tid;
	pid_t ppid;        /* FORK: parent process */
	const char *name;  /* COMM, EXEC: the name; MMAP: the path. Valid during the call */
	uint64_t addr, len, pgoff; /* MMAP */
	uint64_t dev, ino;         /* MMAP; dev is (major << 32 | minor) */
};

typedef void (*proc_event_fn)(void *ctx, const struct proc_event *e);

/* Open on every CPU that is online. NULL after one sentence with the remedy. */
struct sideband *sideband_open(struct diag *d);
void sideband_close(struct sideband *s);
/*
 * The CPU has come online: its events ended when it went. 0, or -errno; needs CAP_PERFMON
 * where opening did. What its processes have done since it came back will not be told.
 */
int sideband_reopen(struct sideband *s, int cpu);
/* Hand out what is there, of all CPUs in the order of time. */
void sideband_drain(struct sideband *s, proc_event_fn fn, void *ctx);
/* Records that found no room, up to now: asks the kernel. */
uint64_t sideband_lost(const struct sideband *s);
/* The descriptors, for poll: readable when a ring is half full. */
const int *sideband_fds(const struct sideband *s, size_t *n);

/* Read one raw perf record, checked against its size; false when it is none of ours. */
bool sideband_parse(const void *record, size_t size, struct proc_event *ret);

#endif
