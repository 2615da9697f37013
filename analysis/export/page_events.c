/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_events.h"

#include <stdlib.h>

#include "analysis/base/interrupt.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/packet.h"
#include "analysis/export/export.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/pass.h"
#include "analysis/metrics/waitcount.h"
#include "analysis/model/spans.h"
#include "analysis/views/view_state.h"

enum { NS_PER_US = 1000 };
/* What page_event.others can hold. */
enum { OTHER_PARTS_MAX = (1 << 22) - 1 };

static int64_t to_us(int64_t ns)
{
	return ns / NS_PER_US - (ns % NS_PER_US < 0);
}

static uint32_t thread_index(struct page_events *p, const struct experiment *origin, int64_t pid,
			     int64_t tid)
{
	uint64_t hash = hash64(origin->id ^ hash64(pid + hash64(tid)));
	struct intern_probe probe = intern_probe(hash);
	uint32_t id1;

	while ((id1 = intern_next(&p->thread_ids, &probe))) {
		const struct page_thread *t = &p->threads.data[id1 - 1];

		if (t->origin == origin && t->pid == pid && t->tid == tid)
			return id1 - 1;
	}
	vec_push(&p->threads, (struct page_thread){ .origin = origin, .pid = pid, .tid = tid });
	return intern_add(&p->thread_ids, hash);
}

/* Segments have other numbers for the threads of a fold. */
static uint32_t thread_of(struct page_events *p, const struct hit *h)
{
	const struct exp_fold *sums = hit_sums(h);
	uint64_t *at;
	bool fresh;

	if (!sums)
		return thread_index(p, h->e->origin, hit_pid(h), hit_thread(h));
	at = map_put(&p->by_sums, (uintptr_t)sums, &fresh);
	if (fresh) {
		*at = thread_index(p, hit_origin(h), hit_pid(h), hit_thread(h));
		p->threads.data[*at].sums = sums;
	}
	return *at;
}

static uint32_t class_index(struct page_events *p, const struct event_class *c)
{
	uint64_t key = (uint64_t)c->state << 56 | (uint64_t)c->reason << 48 |
		       (uint64_t)c->flags << 32 | (uint32_t)c->syscall;
	bool fresh;
	uint64_t *at = map_put(&p->class_ids, key, &fresh);

	if (fresh) {
		*at = p->classes.len;
		vec_push(&p->classes, *c);
	}
	return *at;
}

static struct page_stack *stack_at(struct page_events *p, uint32_t stack)
{
	while (p->stacks.len <= stack)
		vec_push(&p->stacks, (struct page_stack){ 0 });
	return &p->stacks.data[stack];
}

/*
 * Paths are numbered when all stacks are known. Until then events refer to stacks of the session.
 */
static void read_wait(struct page_events *p, const struct hit *h, struct page_event *ev)
{
	int64_t waker = hit_waker(h), holder = hit_holder(h);
	uint32_t stack;

	ev->length = to_us(hit_part_length(h));
	if (waker > 0) {
		ev->waker = 1 + thread_index(p, h->e->origin, hit_waker_pid(h), waker);
		stack = hit_waker_stack(h);
		ev->waker_path = stack == session_no_stack(h->session) ? 0 : stack + 1;
	}
	if (holder > 0)
		ev->holder = 1 + thread_index(p, h->e->origin, hit_holder_pid(h), holder);
}

/* What its number of waits is made from. */
static void read_count(struct page_events *p, const struct hit *h, int64_t state, struct page_event *ev)
{
	int64_t part = hit_part_length(h), others = wrap_minus(hit_wait_length(h), part);
	uint32_t number, *id1, *usual;

	if (!p->wait_counts)
		p->wait_counts = p->filtered ? wait_counts_new(h->session) : wait_counts_begin(h->session);
	ev->length_ns = part - ev->length * NS_PER_US;
	if (others > 0 && p->other_parts.len < OTHER_PARTS_MAX) {
		vec_push(&p->other_parts, others);
		ev->others = p->other_parts.len;
	}
	number = p->filtered ? wait_counts_factor(p->wait_counts, h) : wait_counts_add(p->wait_counts, h);
	if (!number)
		return;
	while (p->factor_of.len < number)
		vec_push(&p->factor_of, 0);
	id1 = &p->factor_of.data[number - 1];
	if (!*id1) {
		vec_push(&p->factors, number);
		*id1 = p->factors.len;
	}
	usual = &p->threads.data[ev->thread].factor[state];
	if (!*usual)
		*usual = *id1;
	ev->factor = page_unusual(*id1, *usual);
}

/* What every packet has. */
static struct page_event event_of(struct page_events *p, const struct hit *h)
{
	return (struct page_event){
		.end = to_us(hit_time(h)), .path = h->stack, .cpu = hit_cpu(h),
		.thread = thread_of(p, h),
		.spans = p->has_spans ? span_set_of(&p->span_sets, h) : 0,
		.objects = page_objects_of(&p->objects, h),
	};
}

static void count_stacks(struct page_events *p, const struct page_event *ev, const struct event_class *c)
{
	struct page_stack *st = stack_at(p, ev->path), *waker;

	st->n++;
	st->of_lock |= ev->lock > 0;
	add_to(class_is_wait(c) ? &st->wait_us : &st->cpu_us, ev->weight);
	if (!ev->waker_path)
		return;
	waker = stack_at(p, ev->waker_path - 1);
	waker->wakers++;
	waker->of_lock |= ev->lock > 0;
}

static void add_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct page_events *p = ctx;
	int64_t state = hit_state(h);
	struct event_class c = { .syscall = -1 };
	struct page_event ev;
	struct page_thread *th;

	if (state < 0 || state >= MS_COUNT) {
		if (n || h->stream->kind == ER_PKT_HEAP)
			page_counts_add(&p->counts, p->metrics, h, event_of(p, h), amounts, n);
		return;
	}
	c.state = state;
	ev = event_of(p, h);
	ev.weight = hit_weight(h) / NS_PER_US;
	if (hit_is_wait(h)) {
		int64_t reason = hit_reason(h);

		c.reason = reason >= 0 && reason < REASON_COUNT ? reason : UINT8_MAX;
		c.flags = hit_wait_flags(h);
		c.syscall = hit_syscall(h);
		read_wait(p, h, &ev);
		if (state == MS_USER_LOCK && !reason_is_rest(reason))
			ev.lock = 1 + lock_set_id(&p->locks, h);
		if (!p->no_counts)
			read_count(p, h, state, &ev);
	}
	count_stacks(p, &ev, &c);
	ev.event_class = class_index(p, &c);
	p->classes.data[ev.event_class].n++;
	th = &p->threads.data[ev.thread];
	add_to(&th->us[state], ev.weight);
	th->n++;
	vec_push(&p->all, ev);
}

double page_event_squares(const struct page_events *p, const struct page_event *ev)
{
	return ev->merged ? p->sums.data[ev->sums].squares : (double)ev->weight * (double)ev->weight;
}

double page_event_variance(const struct page_events *p, const struct page_event *ev)
{
	const struct event_class *c = &p->classes.data[ev->event_class];
	double weight = (double)ev->weight, rest = weight - (double)ev->length;

	if (ev->merged)
		return p->sums.data[ev->sums].variance;
	return class_is_wait(c) && !(c->flags & WFLAG_REST) && ev->length > 0 && rest >= 1 ?
		       weight * rest : 0;
}

int page_event_by_end(const void *pa, const void *pb)
{
	const struct page_event *a = pa, *b = pb;

	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* --- numbering by frequency --- */

/* The path of a stack, which becomes one more of its stacks. `by_node` has the path + 1 of each leaf. */
static uint32_t add_path(struct page_events *p, struct session *s, struct map *by_node, uint32_t stack)
{
	const struct page_stack *st = &p->stacks.data[stack];
	uint32_t node = page_tree_add(&p->tree, s, stack);
	uint64_t *at = map_put(by_node, node, NULL);
	struct page_path *path;

	if (!*at) {
		vec_push(&p->paths, (struct page_path){ .node = node, .stack = stack });
		*at = p->paths.len;
	}
	path = &p->paths.data[*at - 1];
	path->n += st->n + st->wakers;
	path->of_lock |= st->of_lock;
	add_to(&path->cpu_us, st->cpu_us);
	add_to(&path->wait_us, st->wait_us);
	return *at - 1;
}

/* Only leaves of events are places, those of wakers are not. */
static void number_paths(struct page_events *p, struct session *s)
{
	struct map by_node = { 0 };

	vec_for_each(ev, &p->counts.all)
		stack_at(p, ev->path)->n++;
	for (uint32_t i = 0; i < p->stacks.len; i++) {
		struct page_stack *st = &p->stacks.data[i];

		if (!st->n && !st->wakers)
			continue;
		st->path = add_path(p, s, &by_node, i);
		if (!st->n)
			continue;
		st->variant = page_places_add(&p->places, &p->tree);
		p->places.nodes.data[st->variant].n += st->n;
	}
	map_free(&by_node);
	page_places_number(&p->places, &p->tree);
}

struct rank {
	size_t n;
	uint32_t index;
};

static int by_count(const void *pa, const void *pb)
{
	const struct rank *a = pa, *b = pb;

	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return (a->index > b->index) - (a->index < b->index);
}

/*
 * Put the elements with the largest n first. Returns the new index of each old one; the caller
 * frees it.
 */
#define rank_by_count(v)                                                                           \
	({                                                                                         \
		struct rank *ranks = xcalloc((v)->len + 1, sizeof(*ranks));                        \
		__typeof__((v)->data) sorted = xcalloc((v)->len + 1, sizeof(*sorted));             \
		uint32_t *to = xcalloc((v)->len + 1, sizeof(*to));                                 \
		for (size_t i = 0; i < (v)->len; i++)                                              \
			ranks[i] = (struct rank){ (v)->data[i].n, i };                             \
		qsort(ranks, (v)->len, sizeof(*ranks), by_count);                                  \
		for (size_t i = 0; i < (v)->len; i++) {                                            \
			sorted[i] = (v)->data[ranks[i].index];                                     \
			to[ranks[i].index] = i;                                                    \
		}                                                                                  \
		free(ranks);                                                                       \
		free((v)->data);                                                                   \
		(v)->data = sorted;                                                                \
		to;                                                                                \
	})

/* The final numbers of an event's path and variant, which until now is a stack. */
static void renumber(const struct page_events *p, struct page_event *ev)
{
	const struct page_stack *st = &p->stacks.data[ev->path];

	ev->path = st->path;
	ev->variant = st->variant;
}

static void rank_all(struct page_events *p)
{
	uint32_t *paths = rank_by_count(&p->paths), *classes = rank_by_count(&p->classes);

	vec_for_each(st, &p->stacks) {
		if (st->n || st->wakers)
			st->path = paths[st->path];
		if (st->n)
			st->variant = p->places.nodes.data[st->variant].variant;
	}
	vec_for_each(ev, &p->all) {
		renumber(p, ev);
		ev->event_class = classes[ev->event_class];
		if (ev->waker_path)
			ev->waker_path = 1 + p->stacks.data[ev->waker_path - 1].path;
	}
	vec_for_each(ev, &p->counts.all)
		renumber(p, ev);
	free(paths);
	free(classes);
}

/* --- threads --- */

/* The recorded life of each thread that has events. */
static void read_lives(struct page_events *p, const struct session *s)
{
	size_t known = p->threads.len;

	vec_for_each(e, &s->experiments) {
		int64_t offset = experiment_offset_ns(*e);

		vec_for_each(th, &(*e)->threads) {
			uint32_t i = thread_index(p, (*e)->origin, th->pid, th->tid);

			/* Several lives with one id, or segments: from the first begin to the last end. */
			if (i >= known)
				continue;
			struct page_thread *t = &p->threads.data[i];
			bool first = !t->begin && !t->end;
			int64_t begin = to_us(wrap_plus(th->begin_ns, offset));
			int64_t end = to_us(wrap_plus(th->end_ns, offset));

			t->begin = first || begin < t->begin ? begin : t->begin;
			t->end = first || end > t->end ? end : t->end;
		}
	}
	p->threads.len = known;
}

static void add_call(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct page_events *p = ctx;
	uint32_t thread;

	if (h->stream->kind != ER_PKT_SPAN)
		return;
	thread = thread_of(p, h);
	p->threads.data[thread].n++;
}

/* Without times by state, threads are those of the other events, and of calls of spans. */
static void count_others(struct page_events *p, struct session *s, struct filter *filter)
{
	vec_for_each(ev, &p->counts.all)
		p->threads.data[ev->thread].n++;
	if (p->has_spans)
		pass_run(s, NULL, filter, add_call, NULL, p);
}

int page_events_read(const struct export *x, struct page_events *ret)
{
	struct view_state *v = x->view;

	*ret = (struct page_events){ .has_spans = session_has_spans(v->session), .no_counts = x->redact,
				      .filtered = v->filter,
				      .metrics = counts_possible(v->metric_set) ? v->metric_set : NULL,
				      .locks.session = v->session };
	if (!x->redact)
		page_objects_init(&ret->objects, v);
	pass_run(v->session, ret->metrics, v->filter, add_hit, NULL, ret);
	if (interrupt_pending())
		return -1;
	if (!ret->all.len && !ret->counts.all.len && (v->filter || !ret->has_spans))
		return export_nothing(x);
	number_paths(ret, v->session);
	rank_all(ret);
	vec_sort(&ret->all, page_event_by_end);
	page_counts_sort(&ret->counts);
	if (!ret->all.len)
		count_others(ret, v->session, v->filter);
	read_lives(ret, v->session);
	return 0;
}

void page_events_free(struct page_events *p)
{
	vec_free(&p->all);
	vec_free(&p->sums);
	vec_free(&p->other_parts);
	page_counts_free(&p->counts);
	vec_free(&p->classes);
	vec_free(&p->threads);
	vec_free(&p->paths);
	page_tree_free(&p->tree);
	page_places_free(&p->places);
	lock_set_free(&p->locks);
	wait_counts_free(p->wait_counts);
	vec_free(&p->factors);
	vec_free(&p->factor_of);
	span_sets_free(&p->span_sets);
	page_objects_free(&p->objects);
	intern_free(&p->thread_ids);
	map_free(&p->by_sums);
	map_free(&p->class_ids);
	vec_free(&p->stacks);
}
