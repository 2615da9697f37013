/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening, reading and switching perf events. Each function handles one event on one CPU. */
#ifndef LOADERS_PERF_EVENT_H
#define LOADERS_PERF_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct capture_counted;
struct capture_counter;

/* Open a disabled clock event. Returns the descriptor, or -errno. */
int perf_clock_open(int cpu, uint64_t interval_ns, bool exclude_idle);
/*
 * Open a disabled counter with its interval. Returns the descriptor, or -errno. *precise says
 * on entry whether precision is wanted, and on return whether the counter has it.
 */
int perf_counter_open(int cpu, const struct capture_counter *c, bool *precise);
/* Add what the counter has counted to `sum`. Returns 0, or -errno. */
int perf_counter_read(int fd, struct capture_counted *sum);
int perf_event_enable(int fd);
int perf_event_disable(int fd);
/* Run the BPF program at each overflow, until the event is closed. Returns 0, or -errno. */
int perf_event_run(int fd, int prog_fd);

/* A number from /proc/sys/kernel; `otherwise` if it cannot be read. */
long kernel_sysctl(const char *name, long otherwise);

#endif
