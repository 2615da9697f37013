/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/pass.h"

#include <string.h>

#include "analysis/metrics/filter.h"
#include "analysis/metrics/metric.h"
#include "analysis/model/session.h"

/* So many packets have their stacks looked up together, so that cache misses overlap. */
enum { BATCH = 16 };

/* A metric as one stream has it. */
struct source {
	uint32_t metric;
	bool counts;      /* packets, whatever their values */
	bool main_thread;
	struct field_ref value, minus;
	int64_t scale;
};

enum { SOURCES_MAX = 128, SELECTS = 64 };

/* All metrics of a kind select packets by the same field, or all take every packet. */

struct stream_pass {
	struct source sources[SOURCES_MAX];
	size_t nsources;
	struct field_ref select;
	bool plain[SELECTS]; /* the sources of that value all add the same field at one scale */
	uint8_t by_select[SELECTS][SOURCES_MAX], nby_select[SELECTS]; /* sources of a value */
	struct field_ref time, stack, thread, lwp, cpu;
};

bool experiment_is_kernel(const struct experiment *e)
{
	vec_for_each(st, &e->streams) {
		if (st->kind == ER_PKT_CLOCK && st->numstates == STATES_KERNEL)
			return true;
	}
	return false;
}

bool experiment_is_system_wide(const struct experiment *e)
{
	return experiment_is_kernel(e->founder ? e->founder : e) ||
	       !strncmp(e->collector, "er_kernel ", strlen("er_kernel "));
}

/* The tag that this stream has the counter of that name under, or -1. */
static int counter_tag(const struct exp_stream *st, const char *name)
{
	vec_for_each(c, &st->counters) {
		if (c->name && !strcmp(c->name, name) && c->tag >= 0 && c->tag < 64)
			return c->tag;
	}
	return -1;
}

static void add_source(struct stream_pass *sp, const struct experiment *e,
		       const struct exp_stream *st, const struct metric *m)
{
	struct source src = { .metric = m->id, .main_thread = m->main_thread, .scale = m->scale,
			      .counts = !strcmp(m->value, "1") };
	uint64_t mask = UINT64_MAX;

	if (m->select) {
		sp->select = stream_field(st, m->select);
		mask = experiment_is_system_wide(e) ? m->kstates : m->states;
	}
	if (m->tag >= 0) {
		int tag = counter_tag(st, m->name);

		if (tag < 0)
			return;
		mask = 1ULL << tag;
	}
	if (!src.counts)
		src.value = stream_field(st, m->value);
	if (m->minus)
		src.minus = stream_field(st, m->minus);
	if (m->kind == ER_PKT_CLOCK)
		src.scale = (int64_t)((uint64_t)m->scale * (uint64_t)st->ptimer_us);
	for (int v = 0; v < SELECTS; v++) {
		if (mask >> v & 1)
			sp->by_select[v][sp->nby_select[v]++] = sp->nsources;
	}
	sp->sources[sp->nsources++] = src;
}

/* Whether all sources of a selecting value take one field as it is: the packets of a clock do. */
static bool is_plain(const struct stream_pass *sp, int select)
{
	const struct source *first = &sp->sources[sp->by_select[select][0]];

	for (int i = 0; i < sp->nby_select[select]; i++) {
		const struct source *src = &sp->sources[sp->by_select[select][i]];

		if (src->counts || src->minus.offset || src->scale != first->scale ||
		    src->value.offset != first->value.offset)
			return false;
	}
	return true;
}

static void stream_pass_init(struct stream_pass *sp, const struct experiment *e,
			     const struct exp_stream *st, const struct metric_set *ms)
{
	*sp = (struct stream_pass){ 0 };
	sp->time = stream_field(st, "TSTAMP");
	sp->stack = stream_field(st, "FRINFO");
	sp->thread = stream_field(st, "THRID");
	sp->lwp = stream_field(st, "LWPID");
	sp->cpu = stream_field(st, "CPUID");
	vec_for_each(m, &ms->all) {
		if (m->kind == st->kind && sp->nsources < SOURCES_MAX)
			add_source(sp, e, st, m);
	}
	for (int v = 0; v < SELECTS; v++)
		sp->plain[v] = is_plain(sp, v);
}

static size_t plain_amounts(const struct stream_pass *sp, const struct hit *h, int select,
			    struct amount *ret)
{
	const struct source *first = &sp->sources[sp->by_select[select][0]];
	int64_t value = (int64_t)((uint64_t)packet_int(h->packet, first->value) *
				  (uint64_t)first->scale);
	bool main_thread = h->thread == h->e->pid;
	size_t n = 0;

	for (int i = 0; i < sp->nby_select[select]; i++) {
		const struct source *src = &sp->sources[sp->by_select[select][i]];

		ret[n] = (struct amount){ .metric = src->metric, .value = value };
		n += !src->main_thread || main_thread;
	}
	return n;
}

/* Neighbouring sources mostly read the same field: read it once. */
static size_t amounts_of(const struct stream_pass *sp, const struct hit *h, struct amount *ret)
{
	int64_t select = sp->select.offset ? packet_int(h->packet, sp->select) : 0;
	uint32_t value_at = UINT32_MAX;
	int64_t value = 0;
	size_t n = 0;

	if (select < 0 || select >= SELECTS)
		return 0;
	if (sp->plain[select])
		return plain_amounts(sp, h, select, ret);
	for (int i = 0; i < sp->nby_select[select]; i++) {
		const struct source *src = &sp->sources[sp->by_select[select][i]];

		if (src->main_thread && h->thread != h->e->pid)
			continue;
		if (!src->counts && src->value.offset != value_at) {
			value_at = src->value.offset;
			value = packet_int(h->packet, src->value);
		}
		ret[n].metric = src->metric;
		ret[n].value = src->counts ? 1 : value;
		if (src->minus.offset)
			add_to(&ret[n].value, -(uint64_t)packet_int(h->packet, src->minus));
		ret[n].value = (int64_t)((uint64_t)ret[n].value * (uint64_t)src->scale);
		n++;
	}
	return n;
}

struct pass {
	struct session *session;
	const struct metric_set *metrics;
	struct filter *filter;
	hit_fn fn;
	ahead_fn ahead;
	void *ctx;
};

static int64_t minus64(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static size_t next_batch(const struct stream_pass *sp, const struct experiment *e,
			 struct packet_iter *it, struct packet packets[BATCH])
{
	size_t n = 0;

	while (n < BATCH && packet_next(it, &packets[n])) {
		map_prefetch(&e->stack_by_uid, packet_int(&packets[n], sp->stack));
		n++;
	}
	return n;
}

static void hit_init(struct hit *h, const struct pass *ps, const struct stream_pass *sp,
		     const struct packet *p)
{
	struct experiment *e = h->e;
	const struct experiment *founder = e->founder ? e->founder : e;
	int64_t tstamp = packet_int(p, sp->time);

	h->packet = p;
	h->time_ns = minus64(tstamp, founder->start_ns);
	h->thread = packet_int(p, sp->thread);
	h->lwp = packet_int(p, sp->lwp);
	h->cpu = sp->cpu.offset ? packet_int(p, sp->cpu) : -1;
	h->stack = session_resolve(ps->session, e, experiment_stack(e, packet_int(p, sp->stack)),
				   minus64(tstamp, e->start_ns));
}

static void run_stream(const struct pass *ps, struct experiment *e, const struct exp_stream *st)
{
	struct hit hits[BATCH];
	struct amount amounts[SOURCES_MAX];
	struct packet packets[BATCH];
	struct stream_pass sp;
	struct packet_iter it;
	size_t n;

	stream_pass_init(&sp, e, st, ps->metrics);
	packet_iter_init(&it, e, st);
	while ((n = next_batch(&sp, e, &it, packets))) {
		for (size_t i = 0; i < n; i++) {
			hits[i] = (struct hit){ .session = ps->session, .e = e, .stream = st };
			hit_init(&hits[i], ps, &sp, &packets[i]);
			if (ps->ahead)
				ps->ahead(ps->ctx, hits[i].stack);
		}
		for (size_t i = 0; i < n; i++) {
			if (!ps->filter || filter_match(ps->filter, &hits[i]))
				ps->fn(ps->ctx, &hits[i], amounts,
				       amounts_of(&sp, &hits[i], amounts));
		}
	}
}

void pass_run(struct session *s, const struct metric_set *ms, struct filter *filter, hit_fn fn,
	      ahead_fn ahead, void *ctx)
{
	struct pass ps = { .session = s, .metrics = ms, .filter = filter, .fn = fn,
			   .ahead = ahead, .ctx = ctx };

	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams)
			run_stream(&ps, *e, st);
	}
}

int64_t hit_pid(const struct hit *h)
{
	return !h->e->founder && experiment_is_kernel(h->e) ? h->lwp : h->e->pid;
}

/* Samples end at their events; those of a sub-experiment without any are its founder's. */
int64_t hit_sample(const struct hit *h)
{
	const struct experiment *e = h->e;
	bool own = false;
	int64_t t = h->time_ns;

	vec_for_each(ev, &e->events)
		own |= !strcmp(ev->kind, "sample");
	if (!own && e->founder)
		e = e->founder;
	else if (e->founder)
		t = minus64(t, minus64(e->start_ns, e->founder->start_ns));
	vec_for_each(ev, &e->events) {
		if (!strcmp(ev->kind, "sample") && t < ev->time_ns)
			return ev->id;
	}
	return -1;
}
