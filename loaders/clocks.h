/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock events: on each online CPU a perf event runs a BPF program at every interval. The
 * event ends when its CPU goes offline; a CPU that comes back needs a new one.
 */
#ifndef LOADERS_CLOCKS_H
#define LOADERS_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct clocks;
struct diag;
struct rings;

/*
 * Open the events, disabled. Returns 0, or -errno after a report that names the remedy. The
 * rings are borrowed; the caller releases *ret with clocks_close.
 */
int clocks_open(const struct rings *rings, uint64_t interval_ns, bool idle, struct diag *d,
		struct clocks **ret);
/* NULL is allowed. */
void clocks_close(struct clocks *c);

/*
 * Make the events run the program. The caller keeps prog_fd open, because new CPUs need it,
 * too. Returns 0, or -errno.
 */
int clocks_attach(struct clocks *c, int prog_fd);
int clocks_enable(struct clocks *c);
int clocks_disable(struct clocks *c);
/* See capture_cpus_changed and capture_follow_cpus. */
bool clocks_changed(const struct clocks *c);
void clocks_follow(struct clocks *c, void (*fn)(void *ctx, int cpu, int err), void *ctx);

#endif
