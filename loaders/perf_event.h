/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perf events, one on each CPU that has a ring. */
#ifndef LOADERS_PERF_EVENT_H
#define LOADERS_PERF_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct capture_counted;
struct capture_counter;

/* A clock event, disabled; the descriptor, or -errno. */
int perf_clock_open(int cpu, uint64_t interval_ns, bool exclude_idle);
/*
 * A counter, disabled, with its interval; the descriptor, or -errno. `precise` in: whether
 * that is wanted; out: whether it is so.
 */
int perf_counter_open(int cpu, const struct capture_counter *c, bool *precise);
/* What it has counted so far, added up. 0, or -errno. */
int perf_counter_read(int fd, struct capture_counted *sum);
int perf_event_enable(int fd);
int perf_event_disable(int fd);
/* It runs the BPF program at each tick; closing it ends that. 0, or -errno. */
int perf_event_run(int fd, int prog_fd);

/* A number from /proc/sys/kernel, `otherwise` when it cannot be read. */
long kernel_sysctl(const char *name, long otherwise);

#endif
