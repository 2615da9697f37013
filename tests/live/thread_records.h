/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects all records of a capture with states, by thread. */
#ifndef THREAD_RECORDS_H
#define THREAD_RECORDS_H

#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "loaders/capture.h"
#include "tests/live/selftest.h"

/* The records of one thread. It has more than one total if its number was used again. */
struct thread_sum {
	uint32_t tgid, tid;
	unsigned ntotals, nwaits;
	struct er_total total; /* the last */
	uint64_t blocked[ER_OFF_STATES], runq;           /* of the waits: lengths */
	uint64_t weight[ER_OFF_STATES];                  /* weights */
	uint64_t cpu_weight;                             /* of clock samples and residuals */
	uint64_t unsampled_weight;                       /* those without a sample's stack */
};

static VEC(struct thread_sum) threads;
static VEC(struct er_wait) waits;
static VEC(struct er_total) totals;
static struct map thread_at;
/* Maps a stack's id to kernel frames << 16 | user frames; for a raw stack, words of the copy. */
static struct map stacks;
static uint64_t ninexact; /* totals whose parts do not add up */

static inline struct thread_sum *thread_sum(uint32_t tgid, uint32_t tid)
{
	bool fresh;
	uint64_t *at = map_put(&thread_at, (uint64_t)tgid << 32 | tid, &fresh);

	if (fresh) {
		*at = threads.len;
		vec_push(&threads, ((struct thread_sum){ .tgid = tgid, .tid = tid }));
	}
	return &threads.data[*at];
}

static inline void take_total(const struct er_total *r)
{
	struct thread_sum *s = thread_sum(r->task.tgid, r->task.tid);
	uint64_t sum = r->run_ns;

	for (int i = 0; i < ER_OFF_STATES; i++)
		sum += r->off_ns[i];
	ninexact += sum != r->end_ns - r->begin_ns;
	s->ntotals++;
	s->total = *r;
	vec_push(&totals, *r);
}

static inline void take_wait(const struct er_wait *r)
{
	struct thread_sum *s = thread_sum(r->task.tgid, r->task.tid);

	s->nwaits++;
	s->blocked[r->state] += r->blocked_ns;
	s->weight[r->state] += r->blocked_weight;
	s->runq += r->runq_ns;
	s->weight[ER_OFF_CPU] += r->runq_weight;
	vec_push(&waits, *r);
}

static inline void take_clock(const struct er_clock *c)
{
	struct thread_sum *s = thread_sum(c->task.tgid, c->task.tid);

	s->cpu_weight += c->weight;
	if (c->flags & ER_CLOCK_UNSAMPLED)
		s->unsampled_weight += c->weight;
}

static inline uint64_t user_part(const struct er_stack *s)
{
	const struct er_raw *raw = (const void *)&s->pcs[s->nkernel];

	return s->flags & ER_STACK_RAW ? raw->nbytes / 8 : s->nuser;
}

/* A capture_fn. */
static inline void take(void *ctx, int cpu, const void *record, size_t size)
{
	const struct er_header *h = record;
	const struct er_clock *c = record;
	const struct er_stack *s = record;

	if (h->kind == ER_KIND_TOTAL)
		take_total(record);
	else if (h->kind == ER_KIND_WAIT)
		take_wait(record);
	else if (h->kind == ER_KIND_STACK)
		*map_put(&stacks, s->id, NULL) = (uint64_t)s->nkernel << 16 | user_part(s);
	else if (h->kind == ER_KIND_CLOCK || h->kind == ER_KIND_RESIDUAL)
		take_clock(c);
}

static inline void take_reset(void)
{
	vec_free(&threads);
	vec_free(&waits);
	vec_free(&totals);
	map_free(&thread_at);
	map_free(&stacks);
	ninexact = 0;
}

static inline struct capture *begin(const struct capture_plan *plan)
{
	struct capture *c;
	uint64_t start;

	take_reset();
	if (capture_open(plan, &diag, &c) || capture_start(c, &start, &diag))
		exit(2);
	return c;
}

static inline void end(struct capture *c)
{
	uint64_t stop;

	if (capture_stop(c, &stop, &diag))
		exit(2);
	while (capture_drain(c, 0, take, NULL) > 0)
		;
}

static inline uint64_t lost_records(const struct capture *c, enum er_kind kind)
{
	uint64_t n = 0;

	for (int cpu = 0; cpu < capture_ncpus(c); cpu++) {
		struct er_counts counts;

		capture_counts(c, cpu, &counts);
		n += counts.lost[kind];
	}
	return n;
}

/* Checks all threads of the system, whatever they did. */
static inline void check_exact(const char *name)
{
	result(name, !ninexact && totals.len > 0, "%zu totals, %llu whose parts do not add up",
	       totals.len, (unsigned long long)ninexact);
}

/* For each thread, the remainder must be the time off the CPU minus the weights of its records. */
static inline void check_rest(const char *name)
{
	size_t wrong = 0, n = 0;

	for (size_t i = 0; i < threads.len; i++) {
		const struct thread_sum *s = &threads.data[i];

		for (int k = 0; s->ntotals == 1 && k < ER_OFF_STATES; k++, n++)
			wrong += s->total.rest_ns[k] + s->weight[k] != s->total.off_ns[k];
	}
	result(name, !wrong && n,
	       "%zu of %zu states: the remainder is not the time off the CPU minus the records", wrong, n);
}

#endif
