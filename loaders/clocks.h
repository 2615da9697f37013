/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock: a perf event on each CPU that is online, which runs a BPF program. The
 * event ends with its CPU: when that is back, it needs another one.
 */
#ifndef LOADERS_CLOCKS_H
#define LOADERS_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct clocks;
struct diag;
struct rings;

/* Open, disabled. 0, or -errno after one sentence with the remedy. The rings are borrowed. */
int clocks_open(const struct rings *rings, uint64_t interval_ns, bool idle, struct diag *d,
		struct clocks **ret);
/* NULL: nothing. */
void clocks_close(struct clocks *c);

/* From now on the events run the program; it stays the caller's. 0, or -errno. */
int clocks_attach(struct clocks *c, int prog_fd);
int clocks_enable(struct clocks *c);
int clocks_disable(struct clocks *c);
/* As capture_cpus_changed and capture_follow_cpus say. */
bool clocks_changed(const struct clocks *c);
void clocks_follow(struct clocks *c, void (*fn)(void *ctx, int cpu, int err), void *ctx);

#endif
