/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one loop over all packets of a session: filter, then what each packet
 * adds to which metric. Tallies and index lists differ only in what they do
 * with a hit.
 */
#ifndef METRICS_PASS_H
#define METRICS_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/experiment/experiment.h"

struct filter;
struct metric_set;
struct session;

/* Where the packets of a stream have what every kind of packet has. */
struct hit_fields {
	struct field_ref time, stack, thread, lwp, cpu;
};

/* One packet that passed the filter. What few ask for is read when they do: hit_time, … */
struct hit {
	struct session *session;
	struct experiment *e;
	const struct exp_stream *stream;
	const struct hit_fields *fields;
	const struct packet *packet;
	uint32_t stack;   /* resolved: into session.stacks */
};

struct amount {
	uint32_t metric; /* id */
	int64_t value;   /* in the metric's unit */
};

/* Whether it is the kernel's own part of an er_kernel recording: holds many processes. */
bool experiment_is_kernel(const struct experiment *e);
/* Whether it is any part of one, also a followed process that was opened alone. */
bool experiment_is_system_wide(const struct experiment *e);

typedef void (*hit_fn)(void *ctx, const struct hit *h, const struct amount *amounts, size_t n);

/* Told a little before a hit of that stack may come, to have what it needs in the cache. */
typedef void (*ahead_fn)(void *ctx, uint32_t stack);

/*
 * filter NULL: everything. Packets that add to no metric are handed out, too.
 * ahead may be NULL.
 */
void pass_run(struct session *s, const struct metric_set *ms, struct filter *filter, hit_fn fn,
	      ahead_fn ahead, void *ctx);

/* Nanoseconds from the start of the founder. */
int64_t hit_time(const struct hit *h);
int64_t hit_thread(const struct hit *h);
int64_t hit_lwp(const struct hit *h);
/* -1: unknown. */
int64_t hit_cpu(const struct hit *h);
/*
 * The process: in a kernel experiment that of the packet, which stands in LWPID
 * (0: a kernel thread), elsewhere that of the experiment.
 */
int64_t hit_pid(const struct hit *h);
/* The number of the sample that a hit fell into, -1 none. */
int64_t hit_sample(const struct hit *h);

/* Sums wrap instead of overflowing: values come from files. */
static inline void add_to(int64_t *sum, int64_t value)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)value);
}

#endif
