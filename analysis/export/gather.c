/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/gather.h"

#include <string.h>

#include "analysis/base/interrupt.h"
#include "analysis/base/map.h"
#include "analysis/base/wrap.h"
#include "analysis/export/export.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/pass.h"
#include "analysis/metrics/timeline.h"
#include "analysis/model/names.h"
#include "analysis/views/view_state.h"

struct gathering {
	struct gathered *g;
	const struct names *names;
	uint32_t metric; /* id */
};

static struct bucket_key key_of(const struct gathering *ga, const struct hit *h)
{
	const struct experiment *origin = hit_origin(h);
	struct bucket_key k = { .stack = h->stack, .cpu = -1, .state = -1 };
	unsigned by = ga->g->by;

	if (by & (BY_PROCESS | BY_THREAD)) {
		k.origin = origin;
		k.pid = hit_pid(h);
		k.tid = by & BY_THREAD || !k.pid ? hit_thread(h) : 0;
	}
	if (by & BY_THREAD)
		k.comm = names_thread_at(ga->names, h->e, k.tid, hit_time(h));
	if (by & BY_CPU)
		k.cpu = hit_cpu(h);
	if (by & BY_STATE)
		k.state = hit_state(h);
	if (by & BY_REASON)
		k.reason = hit_is_wait(h) ? hit_reason(h) : -1;
	return k;
}

static bool same(const struct bucket_key *a, const struct bucket_key *b)
{
	return a->origin == b->origin && a->comm == b->comm && a->pid == b->pid &&
	       a->tid == b->tid && a->stack == b->stack && a->cpu == b->cpu &&
	       a->state == b->state && a->reason == b->reason;
}

static struct bucket *bucket_of(struct gathered *g, const struct bucket_key *k)
{
	uint64_t words[] = {
		(uintptr_t)k->origin, (uintptr_t)k->comm, k->pid, k->tid,
		(uint64_t)k->stack << 32 | (uint32_t)k->cpu,
		(uint64_t)(uint32_t)k->state << 32 | (uint32_t)k->reason,
	};
	uint64_t hash = hash_words(words, sizeof(words) / sizeof(words[0]));
	struct intern_probe probe = intern_probe(hash);
	uint32_t id1;

	while ((id1 = intern_next(&g->ids, &probe))) {
		if (same(&g->buckets.data[id1 - 1].key, k))
			return &g->buckets.data[id1 - 1];
	}
	intern_add(&g->ids, hash);
	vec_push(&g->buckets, (struct bucket){ .key = *k });
	return &g->buckets.data[g->buckets.len - 1];
}

static void add_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct gathering *ga = ctx;
	struct bucket_key k = key_of(ga, h);
	struct bucket *b = bucket_of(ga->g, &k);

	if (hit_state(h) >= 0) {
		b->samples += !(hit_wait_flags(h) & (WFLAG_REST | WFLAG_CONTINUED));
		add_to(hit_is_wait(h) ? &b->off_ns : &b->on_ns, hit_weight(h));
	}
	for (size_t i = 0; i < n; i++) {
		if (amounts[i].metric == ga->metric)
			add_to(&b->value, amounts[i].value);
	}
}

int gather(const struct export *x, unsigned by, struct gathered *ret)
{
	struct view_state *v = x->view;
	struct gathering ga = { .g = ret, .names = session_names(v->session),
				.metric = x->metric ? x->metric->id : UINT32_MAX };
	size_t n = 0;

	*ret = (struct gathered){ .by = by };
	pass_run(v->session, v->metric_set, v->filter, add_hit, NULL, &ga);
	intern_free(&ret->ids);
	vec_for_each(b, &ret->buckets) {
		if (b->samples || b->on_ns || b->off_ns || b->value)
			ret->buckets.data[n++] = *b;
	}
	ret->buckets.len = n;
	if (n && !interrupt_pending())
		return 0;
	gathered_free(ret);
	if (interrupt_pending())
		return -1;
	return export_nothing(x);
}

void gathered_free(struct gathered *g)
{
	vec_free(&g->buckets);
	intern_free(&g->ids);
}

static void add_activity(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	timelines_add(ctx, h);
}

int gather_timelines(const struct export *x, bool rests, struct timelines *ret)
{
	struct view_state *v = x->view;

	*ret = (struct timelines){ .waker_stacks = true, .rests = rests };
	pass_run(v->session, NULL, v->filter, add_activity, NULL, ret);
	if (interrupt_pending())
		return -1;
	if (!ret->threads.len)
		return export_nothing(x);
	timelines_sort(ret);
	timelines_join(ret);
	return 0;
}
