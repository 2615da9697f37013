/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wakechain: what one thread waited for, which thread ended each wait, and what that thread did
 * meanwhile. If that thread waited, the report goes on with its waits in the same way. Each
 * branch shows its part of the first thread's time.
 *
 * What a thread did between two times is taken from its packets. Packets are samples. A time
 * without packets gets no branch; if packets cover part of the time, the rest is a branch of its
 * own; where packets overlap, they share the time.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/timeline.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"
#include "analysis/views/waitrows.h"

enum { DEPTH_MAX = 6, STEPS_MAX = 4000000 };

/* Branches below this share of the whole are shown as one. */
static const double small = 0.01;

struct branch {
	const char *text;
	double time;
	struct branch *children, *next;
};

struct chain {
	struct wait_report w;
	struct timelines lines;
	const struct timeline *of;  /* the thread that the user asked about */
	VEC(struct activity) waits; /* of that thread, after the filter */
	/* the threads of the current branch: each waits for the next */
	const struct timeline *path[DEPTH_MAX + 1];
	struct branch root;
	uint64_t nsteps;
};

/* Add time to the branch with this text; make it if it is new. */
static struct branch *branch_at(struct chain *c, struct branch *parent, double time, const char *text)
{
	struct branch **at = &parent->children;

	while (*at && strcmp((*at)->text, text))
		at = &(*at)->next;
	if (!*at) {
		*at = arena_alloc(&c->w.t->arena, sizeof(**at));
		**at = (struct branch){ .text = arena_strdup(&c->w.t->arena, text) };
	}
	(*at)->time += time;
	return *at;
}

__attribute__((format(printf, 4, 5))) static struct branch *
branch_put(struct chain *c, struct branch *parent, double time, const char *fmt, ...)
{
	struct branch *b;
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	b = branch_at(c, parent, time, text);
	free(text);
	return b;
}

static const char *path_text(struct chain *c, uint32_t stack)
{
	return wait_path_brief(&c->w, wait_path(&c->w.paths, stack));
}

static const char *reason_text(const struct activity *a)
{
	if (a->reason > REASON_NONE && a->reason < REASON_COUNT)
		return reason_descs[a->reason].uname;
	return a->state == MS_SLEEP ? "unknown reason" : mstate_descs[a->state].uname;
}

static char *thread_text(struct chain *c, int64_t pid, int64_t tid)
{
	struct buf b = { 0 };

	names_put_thread(c->w.names, c->of->origin, pid, 0, tid, &b);
	return b.data;
}

static void follow(struct chain *c, struct branch *b, int64_t tid, int64_t from, int64_t to,
		   double time, int depth);

/* Append the thread that had what was waited for, or that ended the wait. */
static void put_thread(struct chain *c, struct branch *b, const struct activity *a, double time,
		       int depth, bool waker)
{
	int64_t pid = waker ? a->waker_pid : a->holder_pid, tid = waker ? a->waker : a->holder;
	char *name = thread_text(c, pid, tid);
	struct branch *end;

	if (waker)
		end = branch_put(c, b, time, "ended by %s: %s", name, path_text(c, a->waker_stack));
	else
		end = branch_put(c, b, time, "%s had it", name);
	free(name);
	follow(c, end, tid, a->begin, a->end, time, depth);
}

/* As in wait_holder. */
static bool has_holder(const struct chain *c, const struct activity *a)
{
	return a->holder && (!c->of->origin->threads.len ||
			     names_thread(c->w.names, c->of->origin, a->holder));
}

/* Find the thread that caused a wait, and follow what it did meanwhile. */
static void put_cause(struct chain *c, struct branch *b, const struct activity *a, double time,
		      int depth)
{
	if (a->flags & WFLAG_REST)
		return;
	if (a->state == MS_WAIT_CPU && has_holder(c, a)) {
		struct thread_kind k = names_kind(c->w.names, c->of->origin, a->holder_pid,
						  a->holder, a->end);
		struct buf name = { 0 };

		names_put_kind(&k, &name);
		branch_put(c, b, time, "%s had the CPU", name.data);
		buf_free(&name);
	} else if (a->state == MS_WAIT_CPU) {
		return;
	} else if (a->flags & WFLAG_OPEN_END) {
		branch_at(c, b, time, "still waiting at the end");
	} else if (a->flags & WFLAG_WAKER_IRQ) {
		branch_at(c, b, time, a->state == MS_USER_LOCK ? "gave up after a timeout" :
				      a->flags & WFLAG_WAKER_TIMER || a->reason == REASON_TIMER ? "its timer expired" :
				      "ended by an interrupt");
		if (has_holder(c, a))
			put_thread(c, b, a, time, depth, false);
	} else if (a->waker) {
		put_thread(c, b, a, time, depth, true);
	} else if (has_holder(c, a)) {
		put_thread(c, b, a, time, depth, false);
	}
}

static void put_activity(struct chain *c, struct branch *b, const struct activity *a, double time,
			 int64_t from, int64_t to, int depth)
{
	struct activity part = *a;

	if (mstate_descs[a->state].on_cpu) {
		branch_put(c, b, time, "meanwhile on a CPU: %s", path_text(c, a->stack));
		return;
	}
	part.begin = a->begin > from ? a->begin : from;
	part.end = a->end < to ? a->end : to;
	b = branch_put(c, b, time, "meanwhile waiting, %s: %s", reason_text(a),
		       path_text(c, a->stack));
	/*
	 * A wait for work ends when another thread gives work. The chain does not go on from
	 * there.
	 */
	if (a->reason != REASON_NO_WORK)
		put_cause(c, b, &part, time, depth + 1);
}

static int64_t overlap(const struct activity *a, int64_t from, int64_t to)
{
	int64_t begin = a->begin > from ? a->begin : from, end = a->end < to ? a->end : to;

	return end > begin ? end - begin : 0;
}

static bool on_path(const struct chain *c, const struct timeline *line, int depth)
{
	for (int i = 0; i < depth; i++) {
		if (c->path[i] == line)
			return true;
	}
	return false;
}

/* Add branches for what a thread did in this period; they share `time` nanoseconds. */
static void follow(struct chain *c, struct branch *b, int64_t tid, int64_t from, int64_t to,
		   double time, int depth)
{
	struct timeline *line = timeline_of(&c->lines, c->of->origin, tid);
	double known = 0, whole = (double)(to - from);
	size_t first;

	if (!line || to <= from)
		return;
	if (on_path(c, line, depth)) {
		branch_at(c, b, time, line == c->of ? "the thread itself again: cut here" :
				      "a thread from above again: cut here");
		return;
	}
	if (depth == DEPTH_MAX) {
		branch_at(c, b, time, "too deep: cut here");
		return;
	}
	c->path[depth] = line;
	first = timeline_after(line, from);
	for (size_t i = first; i < line->acts.len && line->acts.data[i].begin < to; i++)
		known += overlap(&line->acts.data[i], from, to);
	if (known <= 0)
		return;
	if (known < 0.99 * whole)
		branch_at(c, b, time * (1 - known / whole), "meanwhile not recorded");
	whole = known > whole ? known : whole;
	for (size_t i = first; i < line->acts.len && line->acts.data[i].begin < to; i++) {
		const struct activity *a = &line->acts.data[i];
		int64_t part = overlap(a, from, to);

		if (part && ++c->nsteps <= STEPS_MAX)
			put_activity(c, b, a, time * (double)part / whole, from, to, depth);
	}
}

static void put_waits(struct chain *c)
{
	c->path[0] = c->of;
	vec_for_each(a, &c->waits) {
		struct branch *b = branch_put(c, &c->root, (double)a->weight, "%s: %s",
					      reason_text(a), path_text(c, a->stack));

		c->root.time += (double)a->weight;
		put_cause(c, b, a, (double)a->weight, 1);
	}
}

static struct row *put_branch(struct chain *c, double time, int depth, bool more, const char *text)
{
	struct row *r = table_row(c->w.t);

	r->depth = depth;
	r->more = more;
	r->cells[0] = (struct cell){ .kind = CELL_TIME, .i = (int64_t)(time + 0.5) };
	r->cells[1] = (struct cell){ .kind = CELL_PERCENT, .d = 100 * time / c->root.time };
	put_text(r, 2, text);
	return r;
}

static int by_time(const void *pa, const void *pb)
{
	const struct branch *a = *(const struct branch *const *)pa;
	const struct branch *b = *(const struct branch *const *)pb;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return strcmp(a->text, b->text);
}

static void put_children(struct chain *c, const struct branch *b, int depth)
{
	VEC(const struct branch *) shown = { 0 };
	size_t nrest = 0;
	double rest = 0;

	for (const struct branch *ch = b->children; ch; ch = ch->next) {
		if (ch->time >= small * c->root.time) {
			vec_push(&shown, ch);
			continue;
		}
		nrest++;
		rest += ch->time;
	}
	vec_sort(&shown, by_time);
	for (size_t i = 0; i < shown.len; i++) {
		put_branch(c, shown.data[i]->time, depth, i + 1 < shown.len || nrest,
			   shown.data[i]->text);
		put_children(c, shown.data[i], depth + 1);
	}
	if (nrest && rest >= small * c->root.time) {
		char *text = xasprintf("(%zu more, each less than %.0f %%)", nrest, 100 * small);

		put_branch(c, rest, depth, false, arena_strdup(&c->w.t->arena, text));
		free(text);
	}
	vec_free(&shown);
}

static void put_columns(struct table *t)
{
	vec_push(&t->columns, (struct column){ .kind = CELL_TIME, .title = { "Time", "", "sec." },
					       .sorted = true });
	vec_push(&t->columns, (struct column){ .kind = CELL_PERCENT, .title = { "Time", "", "%" } });
	text_column(t, "Wait, what ended it, what that thread did");
}

static void collect(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	timelines_add(&((struct chain *)ctx)->lines, h);
}

static void collect_own(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct chain *c = ctx;

	if (!hit_is_wait(h) || hit_weight(h) <= 0 || hit_thread(h) != c->of->tid ||
	    h->e->origin != c->of->origin)
		return;
	vec_push(&c->waits, activity_of(h, true));
}

/* Whether `text` names the thread: "13", "12/13" as for er_kernel -T, or a name. */
static bool is_thread(const struct chain *c, const struct timeline *t, const char *text)
{
	const char *comm = names_thread(c->w.names, t->origin, t->tid);
	const char *process = t->pid ? names_process(c->w.names, t->origin, t->pid) : NULL;
	char *end;
	long long first = strtoll(text, &end, 10);

	if (end != text && !*end)
		return t->tid == first;
	if (end != text && *end == '/')
		return t->pid == first && t->tid == strtoll(end + 1, NULL, 10);
	return (comm && !strcmp(comm, text)) || (process && t->pid == t->tid && !strcmp(process, text));
}

static int choose_thread(struct chain *c, const char *text, struct diag *d)
{
	struct buf list = { 0 };
	size_t n = 0;

	vec_for_each(t, &c->lines.threads) {
		if (!is_thread(c, t, text))
			continue;
		c->of = t;
		buf_printf(&list, "%s%" PRId64, n++ ? ", " : "", t->tid);
	}
	if (!n)
		diag_error(d, "thread '%s': was not recorded; threads lists numbers and names", text);
	else if (n > 1)
		diag_error(d, "thread '%s': %zu threads have that name; give the number of one: %s",
			   text, n, list.data);
	buf_free(&list);
	return n == 1 ? 0 : -1;
}

static void put_chain(struct chain *c)
{
	char *name = thread_text(c, c->of->pid, c->of->tid);
	char *title = xasprintf("What %s waited for", name);

	c->w.t->title = arena_strdup(&c->w.t->arena, title);
	free(title);
	free(name);
	put_waits(c);
	if (c->waits.len) {
		put_columns(c->w.t);
		put_branch(c, c->root.time, 0, false, "<Total>");
		put_children(c, &c->root, 1);
	} else {
		wait_nothing(&c->w, "waits of that thread");
	}
	if (c->nsteps > STEPS_MAX)
		put_note(c->w.t, "*** Not followed in full: cut after %d steps; choose a shorter "
			 "time with from and to.", STEPS_MAX);
}

int view_wakechain(struct view_state *v, const char *thread, struct table *t, struct diag *d)
{
	struct chain c = { .lines.waker_stacks = true };
	int rc;

	t->name = "wakechain";
	wait_report_init(&c.w, v, t);
	pass_run(v->session, v->metric_set, NULL, collect, NULL, &c);
	timelines_sort(&c.lines);
	rc = choose_thread(&c, thread, d);
	if (!rc) {
		pass_run(v->session, v->metric_set, v->filter, collect_own, NULL, &c);
		put_chain(&c);
	}
	wait_report_end(&c.w);
	timelines_free(&c.lines);
	vec_free(&c.waits);
	return rc;
}
