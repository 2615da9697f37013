/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/experiment/exp_range.h"

#include "analysis/base/wrap.h"
#include "analysis/experiment/experiment.h"

struct ranging {
	struct exp_range *range;
	int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: the ends of the experiment */
	VEC(uint32_t) spans;	/* by life: index + 1 in range->threads; 0: none */
};

static struct exp_span_of_thread *span_of(struct ranging *r, const struct exp_step *st)
{
	struct exp_span_of_thread *th;

	while (r->spans.len <= st->life)
		vec_push(&r->spans, 0);
	if (!r->spans.data[st->life]) {
		vec_push(&r->range->threads,
			 (struct exp_span_of_thread){ .pid = st->pid, .tid = st->tid });
		r->spans.data[st->life] = r->range->threads.len;
	}
	th = &r->range->threads.data[r->spans.data[st->life] - 1];
	th->last_ns = st->own_ns;
	return th;
}

/* The part of the step that the thread spent in the state it had before. */
static void add_known(struct ranging *r, const struct exp_step *st)
{
	int64_t begin = r->from_ns > st->before_at_ns ? r->from_ns : st->before_own_ns;
	int64_t end = r->to_ns < st->until_ns ? r->to_ns : st->until_ns;

	if (r->from_ns < st->until_ns && r->to_ns > st->before_at_ns && end > begin)
		add_to(exp_span_of_thread_in(span_of(r, st), st->before), end - begin);
}

static void add_times(struct ranging *r, const struct exp_step *st)
{
	struct exp_span_of_thread *th = span_of(r, st);

	add_to(&th->run_ns, st->ns.run_ns);
	add_to(&th->user_ns, st->ns.user_ns);
	add_to(&th->system_ns, st->ns.system_ns);
	add_to(&th->stolen_ns, st->ns.stolen_ns);
	for (int i = 0; i < MS_COUNT; i++)
		add_to(&th->off_ns[i], st->ns.off_ns[i]);
}

static void take_step(void *ctx, const struct exp_step *st)
{
	struct ranging *r = ctx;

	if (st->before >= 0)
		add_known(r, st);
	if (st->is_vague && r->from_ns < st->at_ns &&
	    (r->from_ns > st->begin_ns || r->to_ns < st->at_ns))
		add_to(&r->range->vague_ns, exp_span_of_thread_sum(&st->ns));
	if (st->at_ns > r->from_ns && st->at_ns <= r->to_ns)
		add_times(r, st);
}

bool exp_range_read(struct experiment *e, int64_t from_ns, int64_t to_ns, struct exp_range *ret)
{
	struct exp_snapshots *s = exp_snapshots_open(e);
	struct ranging r = { .range = ret };

	*ret = (struct exp_range){ 0 };
	if (!s)
		return false;
	ret->from_ns = exp_snapshots_nearest(s, from_ns);
	ret->to_ns = exp_snapshots_nearest(s, to_ns);
	ret->took_ns = s->took_ns;
	r.from_ns = ret->from_ns <= 0 ? INT64_MIN : ret->from_ns;
	r.to_ns = ret->to_ns >= e->end_ns ? INT64_MAX : ret->to_ns;
	if (ret->from_ns < ret->to_ns)
		exp_snapshots_each(s, take_step, &r);
	vec_free(&r.spans);
	exp_snapshots_close(s);
	return ret->from_ns < ret->to_ns;
}

void exp_range_free(struct exp_range *r)
{
	vec_free(&r->threads);
}
