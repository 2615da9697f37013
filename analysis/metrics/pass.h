/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The single loop over all packets of a session. It applies the filter, then determines
 * what each packet adds to which metrics. Tallies and index lists only differ in what
 * they do with a hit.
 */
#ifndef METRICS_PASS_H
#define METRICS_PASS_H

#include <stddef.h>
#include <stdint.h>

struct filter;
struct hit;
struct metric_set;
struct session;

struct amount {
	uint32_t metric; /* id */
	int64_t value;   /* in the metric's unit */
};

typedef void (*hit_fn)(void *ctx, const struct hit *h, const struct amount *amounts, size_t n);

/* Called shortly before a hit with this stack may follow, to prefetch its data. */
typedef void (*ahead_fn)(void *ctx, uint32_t stack);

/*
 * Run over all packets; filter may be NULL. Packets that add to no metric are
 * delivered, too. Without metrics (NULL) there are no amounts. ahead may be NULL.
 */
void pass_run(struct session *s, const struct metric_set *ms, struct filter *filter, hit_fn fn,
	      ahead_fn ahead, void *ctx);

#endif
