/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chain of threads that a thread waited for. A thread waits for a message; the thread that
 * sends it was itself waiting for a third one, or was held up. The rule follows each wait to the
 * thread that ended it and looks what that thread did meanwhile.
 *
 * A thread that waits for another one's computing is no finding: the CPU time shows that. So a
 * chain must end in a hold-up, or have two links.
 *
 * Waits are samples, so of many waits it is not known what the other thread did meanwhile. The
 * others are taken to be like these: times are scaled by the known part of the waits. In a wait
 * of which the other thread's packets cover a part, they share the whole.
 */
#include <inttypes.h>
#include <math.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/mstate.h"
#include "analysis/findings/rules.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/timeline.h"
#include "analysis/views/view_state.h"

enum { LINKS_MAX = 4, STEPS_MAX = 4000000 };

/* A wait for a message that a thread ended. */
struct message_wait {
	const struct experiment *founder;
	struct activity act;
	int64_t pid, tid;
};

/* Threads of one kind: their waits for messages, and how many of these cannot be followed. */
struct waiter {
	uint32_t name; /* text key */
	double waited, unknown; /* ns */
};

/* The time that threads of one kind waited through one chain. */
struct chain_sum {
	uint32_t waiter, links; /* index into waiters; text key */
	enum holdup end;        /* HOLDUP_NONE: the last thread computed */
	int64_t pid, tid;       /* one of the waiting threads */
	double ns, squares;
	double of_wait;         /* the part from the wait that is being followed */
};

struct chains {
	struct facts *facts;
	struct timelines lines;
	VEC(struct message_wait) waits;
	VEC(struct chain_sum) sums;
	struct map index; /* hash of waiter, links and end, to index into sums */
	VEC(struct waiter) waiters;
	struct map by_name; /* to index into waiters */
	const struct message_wait *from; /* the wait being followed */
	struct waiter *waiter;
	const struct timeline *path[LINKS_MAX + 1];
	size_t nsteps;
};

/* The reasons of waits for messages. The end of a child or of a thread is not a message. */
static bool is_message(int64_t reason)
{
	return reason == REASON_NETWORK || reason == REASON_PIPE || reason == REASON_POLL ||
	       reason == REASON_EVENT || reason == REASON_IPC || reason == REASON_IO_URING;
}

static void collect(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	timelines_add(&((struct chains *)ctx)->lines, h);
}

static void collect_wait(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct chains *c = ctx;
	struct message_wait wait = { .founder = h->e->founder ? h->e->founder : h->e,
				     .pid = hit_pid(h), .tid = hit_thread(h) };

	if (!hit_is_wait(h) || !wait.pid || !is_message(hit_reason(h)) || !wait_has_waker(h) ||
	    hit_weight(h) <= 0)
		return;
	wait.act = activity_of(h);
	vec_push(&c->waits, wait);
}

static uint32_t kind_key(struct chains *c, int64_t pid, int64_t tid, int64_t time_ns)
{
	struct thread_kind k = names_kind(c->facts->w.names, c->from->founder, pid, tid, time_ns);
	struct buf b = { 0 };
	uint32_t key;

	buf_puts(&b, "");
	names_put_kind(&k, &b);
	key = wait_text_key(&c->facts->w, b.data);
	buf_free(&b);
	return key;
}

/* "`front`, which waited for `back`": the threads of the path after the first. */
static uint32_t links_key(struct chains *c, int depth)
{
	struct buf b = { 0 };
	uint32_t key;

	for (int i = 1; i <= depth; i++) {
		const struct timeline *t = c->path[i];
		uint32_t name = kind_key(c, t->pid, t->tid, c->from->act.end);

		buf_printf(&b, "%s`%s`", i > 1 ? ", which waited for " : "",
			   wait_key_text(&c->facts->w, name));
	}
	key = wait_text_key(&c->facts->w, b.data);
	buf_free(&b);
	return key;
}

static void add_end(struct chains *c, int depth, enum holdup end, double ns)
{
	uint32_t links = links_key(c, depth), waiter = c->waiter - c->waiters.data;
	bool fresh;
	uint64_t *at = map_put(&c->index, hash64(((uint64_t)waiter << 32 | links) ^
						 hash64(end + 1)), &fresh);

	if (fresh) {
		*at = c->sums.len;
		vec_push(&c->sums, (struct chain_sum){
			.waiter = waiter, .links = links, .end = end,
			.pid = c->from->pid, .tid = c->from->tid });
	}
	c->sums.data[*at].ns += ns;
	c->sums.data[*at].of_wait += ns;
}

static bool on_path(const struct chains *c, const struct timeline *line, int depth)
{
	for (int i = 0; i < depth; i++) {
		if (c->path[i] == line)
			return true;
	}
	return false;
}

static int64_t overlap(const struct activity *a, int64_t from, int64_t to)
{
	int64_t begin = a->begin > from ? a->begin : from, end = a->end < to ? a->end : to;

	return end > begin ? end - begin : 0;
}

static enum holdup holdup_in(struct chains *c, const struct activity *a)
{
	enum holdup holdup = holdup_of(a->state, a->reason);

	if (holdup != HOLDUP_LOCK)
		return holdup;
	return wait_path_role(&c->facts->w.paths, wait_path(&c->facts->w.paths, a->stack)) ==
	       LOCK_LOCK ? HOLDUP_LOCK : HOLDUP_NONE;
}

static void follow(struct chains *c, int64_t tid, int64_t from, int64_t to, double ns, int depth);

static void follow_activity(struct chains *c, const struct activity *a, int64_t from, int64_t to,
			    double ns, int depth)
{
	enum holdup holdup = holdup_in(c, a);

	if (mstate_descs[a->state].on_cpu) {
		if (depth > 1)
			add_end(c, depth, HOLDUP_NONE, ns);
	} else if (holdup) {
		add_end(c, depth, holdup, ns);
	} else if (is_message(a->reason) && a->waker && depth < LINKS_MAX &&
		   !(a->flags & (WFLAG_OPEN_END | WFLAG_REST | WFLAG_WAKER_IRQ))) {
		follow(c, a->waker, a->begin > from ? a->begin : from, a->end < to ? a->end : to, ns,
		       depth + 1);
	}
}

/* How much of the period is covered by a thread's packets, from `first` on. */
static double known_time(const struct timeline *line, size_t first, int64_t from, int64_t to)
{
	double known = 0;

	for (size_t i = first; i < line->acts.len && line->acts.data[i].begin < to; i++)
		known += (double)overlap(&line->acts.data[i], from, to);
	return known;
}

/* What thread `tid` did in this period. The period is `ns` of the first thread's waits. */
static void follow(struct chains *c, int64_t tid, int64_t from, int64_t to, double ns, int depth)
{
	const struct timeline *line = timeline_of(&c->lines, c->from->founder, tid);
	size_t first = line && to > from ? timeline_after(line, from) : 0;
	double known = line && to > from ? known_time(line, first, from, to) : 0;

	if (known <= 0 || c->nsteps > STEPS_MAX) {
		c->waiter->unknown += ns;
		return;
	}
	if (on_path(c, line, depth))
		return;
	c->path[depth] = line;
	for (size_t i = first; i < line->acts.len && line->acts.data[i].begin < to; i++) {
		const struct activity *a = &line->acts.data[i];
		int64_t part = overlap(a, from, to);

		c->nsteps++;
		if (part)
			follow_activity(c, a, from, to, ns * (double)part / known, depth);
	}
}

static struct waiter *waiter_of(struct chains *c, uint32_t name)
{
	bool fresh;
	uint64_t *at = map_put(&c->by_name, name, &fresh);

	if (fresh) {
		*at = c->waiters.len;
		vec_push(&c->waiters, (struct waiter){ .name = name });
	}
	return &c->waiters.data[*at];
}

static void follow_wait(struct chains *c, const struct message_wait *wait)
{
	const struct activity *a = &wait->act;

	c->from = wait;
	c->waiter = waiter_of(c, kind_key(c, wait->pid, wait->tid, a->end));
	c->path[0] = timeline_of(&c->lines, wait->founder, wait->tid);
	c->waiter->waited += (double)a->weight;
	follow(c, a->waker, a->begin, a->end, (double)a->weight, 1);
	vec_for_each(s, &c->sums) {
		s->squares += s->of_wait * s->of_wait;
		s->of_wait = 0;
	}
}

/* What the last thread in a chain did. */
static const char *const ends[HOLDUPS] = {
	[HOLDUP_NONE] = "computed",
	[HOLDUP_CPU] = "waited for a CPU",
	[HOLDUP_QUOTA] = "had used up its CPU quota",
	[HOLDUP_STOLEN] = "lost its CPU to the hypervisor or interrupts",
	[HOLDUP_LOCK] = "waited for a lock",
	[HOLDUP_KERNEL_LOCK] = "waited for a lock in the kernel",
	[HOLDUP_FILE_LOCK] = "waited for a file lock",
	[HOLDUP_DISK] = "waited for the disk",
	[HOLDUP_FAULT] = "waited for pages to be read in",
	[HOLDUP_MEMORY] = "waited for memory to be freed",
};

static void add_finding(struct finder *f, const struct rule *r, const struct chains *c,
			const struct chain_sum *s, double scale)
{
	char *command = xasprintf("-wakechain %" PRId64 "/%" PRId64, s->pid, s->tid);
	char *filter = xasprintf("TID == %" PRId64, s->tid);
	const struct wait_report *w = &f->facts.w;
	struct buf text = { 0 };

	buf_printf(&text, "`%s` waited ", wait_key_text(w, c->waiters.data[s->waiter].name));
	put_time(&text, s->ns * scale);
	buf_printf(&text, " for %s, which %s.", wait_key_text(w, s->links), ends[s->end]);
	finder_add(f, r, text.data, (int64_t)(s->ns * scale), sqrt(s->squares) * scale, command, filter);
	buf_free(&text);
	free(command);
	free(filter);
}

/*
 * The factor by which the followed waits are scaled to all waits of those threads; 0: none can be
 * followed.
 */
static double scale_of(const struct chains *c, const struct chain_sum *s)
{
	const struct waiter *w = &c->waiters.data[s->waiter];

	return w->waited > w->unknown ? w->waited / (w->waited - w->unknown) : 0;
}

static void choose(struct finder *f, const struct rule *r, const struct chains *c)
{
	const struct chain_sum *worst = NULL;
	double most = 0;

	vec_for_each(s, &c->sums) {
		double ns = s->ns * scale_of(c, s);

		if (ns < r->of_program * c->waiters.data[s->waiter].waited ||
		    ns < r->of_whole * (double)f->facts.duration_ns || s->ns < 3 * sqrt(s->squares) ||
		    ns <= most)
			continue;
		most = ns;
		worst = s;
	}
	if (worst)
		add_finding(f, r, c, worst, scale_of(c, worst));
}

void find_chain(struct finder *f, const struct rule *r)
{
	struct chains c = { .facts = &f->facts };
	struct view_state *v = f->facts.w.v;

	pass_run(v->session, v->metric_set, v->filter, collect_wait, NULL, &c);
	if (c.waits.len) {
		pass_run(v->session, v->metric_set, NULL, collect, NULL, &c);
		timelines_sort(&c.lines);
		vec_for_each(wait, &c.waits)
			follow_wait(&c, wait);
		choose(f, r, &c);
	}
	timelines_free(&c.lines);
	vec_free(&c.waits);
	vec_free(&c.sums);
	map_free(&c.index);
	vec_free(&c.waiters);
	map_free(&c.by_name);
}
