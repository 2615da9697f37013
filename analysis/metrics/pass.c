/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/pass.h"

#include <string.h>

#include "analysis/base/interrupt.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_stacks.h"
#include "analysis/metrics/filter.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/leaks.h"
#include "analysis/metrics/metric.h"
#include "analysis/model/divided.h"
#include "analysis/model/session.h"

/* The stacks of so many packets are looked up together, so that cache misses overlap. */
enum { BATCH = 16 };

/* How a metric is read from one stream. */
struct source {
	uint32_t metric;
	bool counts;      /* count packets, ignoring values */
	bool leaked;      /* only allocations never freed, and their leaked bytes */
	bool temporary;   /* only temporary allocations */
	bool main_thread;
	bool squared;
	uint64_t selects; /* values of the selecting field that count, a bit mask */
	struct field_ref value, minus;
	int64_t scale;
};

enum { SOURCES_MAX = 255, SELECTS = 64 };

/*
 * All metrics of a kind select packets by the same field, or take every packet. In a
 * selecting value's sources, those that take only the main thread's packets come last.
 */
struct stream_pass {
	struct source sources[SOURCES_MAX];
	size_t nsources;
	struct field_ref select;
	struct {
		uint8_t sources[SOURCES_MAX], n, nall; /* n: all; nall: for all threads */
		bool plain; /* all add the same field at one scale */
	} by_select[SELECTS];
	struct hit_fields fields;
	const struct leaks *leaks;
};

/* The tag of a counter in this stream, by its name; -1: none. */
static int counter_tag(const struct exp_stream *st, const char *name)
{
	vec_for_each(c, &st->counters) {
		if (c->name && !strcmp(c->name, name) && c->tag >= 0 && c->tag < 64)
			return c->tag;
	}
	return -1;
}

/* For packets with a field for each state: add the fields of the states that count. */
static void add_states(struct stream_pass *sp, const struct exp_stream *st, const struct metric *m)
{
	static const char *const fields[] = { "UCPU", "SCPU", "TRAP", "TFLT", "DFLT", "KFLT",
					      "ULCK", "TSLP", "WCPU", "TSTP" };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct field_ref ref = stream_field(st, fields[i]);

		if (m->states >> i & 1 && ref.offset && sp->nsources < SOURCES_MAX)
			sp->sources[sp->nsources++] = (struct source){
				.metric = m->id, .main_thread = m->main_thread, .value = ref,
				.selects = UINT64_MAX,
				.scale = wrap_times(m->scale, st->ptimer_us) };
	}
}

static void add_source(struct stream_pass *sp, const struct experiment *e,
		       const struct exp_stream *st, const struct metric *m)
{
	struct source src = { .metric = m->id, .main_thread = m->main_thread, .scale = m->scale,
			      .leaked = m->leaked, .temporary = m->temporary, .squared = m->squared,
			      .counts = !strcmp(m->value, "1") };
	uint64_t mask = UINT64_MAX;

	if (st->kind == ER_PKT_PROF && m->kind == ER_PKT_CLOCK)
		add_states(sp, st, m);
	if (m->squared && m->kind != ER_PKT_CLOCK)
		return;
	if (m->kind != st->kind || m->unit == UNIT_RATIO || sp->nsources == SOURCES_MAX)
		return;
	if (m->select) {
		sp->select = stream_field(st, m->select);
		mask = e->system_wide ? m->kstates : m->states;
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
		src.scale = wrap_times(m->scale, st->ptimer_us);
	src.selects = mask;
	sp->sources[sp->nsources++] = src;
}

/*
 * Whether all sources of a selecting value take one field unmodified, like those of
 * clock packets.
 */
static bool is_plain(const struct stream_pass *sp, int select)
{
	const struct source *first = &sp->sources[sp->by_select[select].sources[0]];

	for (int i = 0; i < sp->by_select[select].n; i++) {
		const struct source *src = &sp->sources[sp->by_select[select].sources[i]];

		if (src->counts || src->leaked || src->squared || src->minus.offset ||
		    src->scale != first->scale || src->value.offset != first->value.offset)
			return false;
	}
	return true;
}

/* List the sources of each selecting value: those for all threads, or those for the main thread. */
static void select_sources(struct stream_pass *sp, bool main_thread)
{
	for (size_t i = 0; i < sp->nsources; i++) {
		for (int v = 0; v < SELECTS; v++) {
			if (sp->sources[i].main_thread == main_thread &&
			    sp->sources[i].selects >> v & 1)
				sp->by_select[v].sources[sp->by_select[v].n++] = i;
		}
	}
}

static void stream_pass_init(struct stream_pass *sp, const struct experiment *e,
			     const struct exp_stream *st, const struct metric_set *ms)
{
	*sp = (struct stream_pass){ .leaks = ms ? ms->leaks : NULL };
	hit_fields_init(&sp->fields, st);
	if (!ms)
		return;
	vec_for_each(m, &ms->all)
		add_source(sp, e, st, m);
	vec_for_each(m, &ms->compared) {
		if (m->group == e->group)
			add_source(sp, e, st, m);
	}
	select_sources(sp, false);
	for (int v = 0; v < SELECTS; v++)
		sp->by_select[v].nall = sp->by_select[v].n;
	select_sources(sp, true);
	for (int v = 0; v < SELECTS; v++)
		sp->by_select[v].plain = is_plain(sp, v);
}

static int64_t leaked_value(uint64_t bytes, bool counts)
{
	return counts ? bytes > 0 : (int64_t)bytes;
}

/* Adjacent sources mostly use the same field, so it is read once. */
static size_t amounts_of(const struct stream_pass *sp, const struct hit *h, struct amount *ret)
{
	int64_t select = sp->select.offset ? packet_int(h->packet, sp->select) : 0;
	const struct source *src = NULL;
	uint32_t value_at = UINT32_MAX;
	const uint8_t *sources;
	int64_t value = 0;
	size_t n;

	if (select < 0 || select >= SELECTS)
		return 0;
	sources = sp->by_select[select].sources;
	n = sp->by_select[select].nall;
	if (n < sp->by_select[select].n && hit_thread(h) == hit_pid(h))
		n = sp->by_select[select].n;
	if (sp->by_select[select].plain && n) {
		src = &sp->sources[sources[0]];
		value = wrap_times(packet_int(h->packet, src->value), src->scale);
		for (size_t i = 0; i < n; i++)
			ret[i] = (struct amount){ sp->sources[sources[i]].metric, value };
		return n;
	}
	for (size_t i = 0; i < n; i++) {
		src = &sp->sources[sources[i]];
		if (!src->counts && src->value.offset != value_at) {
			value_at = src->value.offset;
			value = packet_int(h->packet, src->value);
		}
		ret[i].metric = src->metric;
		ret[i].value = src->counts ? 1 : value;
		if (src->leaked)
			ret[i].value = leaked_value(leaks_of(sp->leaks, h->packet), src->counts);
		if (src->temporary)
			ret[i].value = leaks_temporary(sp->leaks, h->packet);
		if (src->minus.offset)
			add_to(&ret[i].value, -(uint64_t)packet_int(h->packet, src->minus));
		ret[i].value = wrap_times(ret[i].value, src->scale);
		if (src->squared)
			ret[i].value = wrap_times(ret[i].value / 1000, ret[i].value / 1000);
	}
	return n;
}

struct pass {
	struct session *session;
	const struct metric_set *metrics;
	struct filter *filter;
	const struct divided *divided; /* NULL: no wait is divided */
	hit_fn fn;
	ahead_fn ahead;
	void *ctx;
};

/* All parts of a divided wait have one stack. */
static uint32_t stack_of(const struct pass *ps, const struct hit *h, const struct packet *p, uint64_t uid)
{
	const struct divided_wait *whole = ps->divided ? divided_find(ps->divided, p->p) : NULL;

	if (whole)
		return session_resolve(ps->session, whole->stack_in, whole->stack, whole->stack_time);
	return session_resolve(ps->session, h->e, experiment_stack(h->e, uid),
			       wrap_minus(packet_int(p, h->fields->time), h->e->start_ns));
}

/* Read the next packets of the stream and resolve their stacks. */
static size_t next_batch(const struct pass *ps, const struct hit *h, struct packet_iter *it,
			 struct packet packets[BATCH], uint32_t stacks[BATCH])
{
	size_t n = packet_batch(it, packets, BATCH);
	uint64_t uids[BATCH];

	for (size_t i = 0; i < n; i++) {
		uids[i] = packet_int(&packets[i], h->fields->stack);
		map_prefetch(&h->e->stack_by_uid, uids[i]);
	}
	for (size_t i = 0; i < n; i++) {
		stacks[i] = stack_of(ps, h, &packets[i], uids[i]);
		if (ps->ahead)
			ps->ahead(ps->ctx, stacks[i]);
	}
	return n;
}

static void run_stream(const struct pass *ps, struct experiment *e, struct exp_stream *st)
{
	struct amount amounts[SOURCES_MAX];
	struct packet packets[BATCH];
	uint32_t stacks[BATCH];
	struct stream_pass sp;
	struct packet_iter it;
	struct hit h = { .session = ps->session, .e = e, .stream = st, .fields = &sp.fields };
	size_t n;

	stream_pass_init(&sp, e, st, ps->metrics);
	packet_iter_init(&it, e, st);
	while (!interrupt_pending() && (n = next_batch(ps, &h, &it, packets, stacks))) {
		for (size_t i = 0; i < n; i++) {
			h.packet = &packets[i];
			h.stack = stacks[i];
			if (!ps->filter || filter_match(ps->filter, &h))
				ps->fn(ps->ctx, &h, amounts, amounts_of(&sp, &h, amounts));
		}
	}
	packet_iter_report(&it, e, st);
}

void pass_run(struct session *s, const struct metric_set *ms, struct filter *filter, hit_fn fn,
	      ahead_fn ahead, void *ctx)
{
	struct pass ps = { .session = s, .metrics = ms, .filter = filter, .divided = session_divided(s),
			   .fn = fn, .ahead = ahead, .ctx = ctx };

	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams)
			run_stream(&ps, *e, st);
	}
}
