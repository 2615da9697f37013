/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Delivers the kernel's events about the processes of the whole system: fork, exec, exit, new
 * names and executable mappings. They come from a perf `dummy` event on every CPU. Nothing is
 * kept here.
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

/* Open an event on every online CPU. Returns NULL after one sentence with the remedy. */
struct sideband *sideband_open(struct diag *d);
void sideband_close(struct sideband *s);
/*
 * Open the event of a CPU again that has come online; the old event ended when the CPU went
 * offline. Returns 0 or -errno. Needs CAP_PERFMON if sideband_open needed it. Events between the
 * CPU's return and this call are not delivered.
 */
int sideband_reopen(struct sideband *s, int cpu);
/*
 * Read all rings and deliver the events up to until_ns, a time before the call, in the order of
 * time. What came while the rings were read waits for the next call: see eventqueue.h.
 */
void sideband_drain(struct sideband *s, uint64_t until_ns, proc_event_fn fn, void *ctx);
/* The number of records that found no room so far, read from the kernel. */
uint64_t sideband_lost(const struct sideband *s);
/* The descriptors for poll(2); one is readable when its ring is half full. */
const int *sideband_fds(const struct sideband *s, size_t *n);

/* Parse one raw perf record, checked against its size; false if it is of no use here. */
bool sideband_parse(const void *record, size_t size, struct proc_event *ret);

#endif
