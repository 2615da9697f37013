/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chain of threads that a thread waited for. A thread waits for a message; the thread that
 * sends it was itself waiting for a third one, or was held up. The rule follows each wait to the
 * thread that ended it and looks what that thread did meanwhile.
 *
 * A thread that waits for another one's computing is no finding: the CPU time shows that. So a
 * chain must end in a hold-up, or have two links.
 *
 * Waits are sampled. Packets of the other thread often cover only a part of a wait, and not a random
 * part. So each packet counts by its chance to be recorded. A wait of the other thread counts with
 * its overlap times `weight / length`. A clock sample within the wait counts with its weight. Sums
 * of these over many waits have no bias. The shares of these sums split the waiting time.
 */
#include <inttypes.h>
#include <math.h>

#include "analysis/base/buf.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/mstate.h"
#include "analysis/findings/rules.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/timeline.h"
#include "analysis/views/view_state.h"

/*
 * GROUPS: of the waits of one kind of thread, in order of time. The error of a share is estimated
 * from how much it changes when one group is left out.
 */
enum { LINKS_MAX = 4, STEPS_MAX = 4000000, GROUPS = 16 };

#define NO_LINK UINT32_MAX

/* Threads of one kind, and their waits for messages. */
struct waiter {
	uint32_t name; /* text key */
	size_t nwaits;
	double waited; /* ns */
};

/*
 * A link of a chain: threads of one kind that others waited for. Or the end of a chain: what the
 * last threads did. Times are in ns and by group.
 */
struct link {
	uint32_t waiter, parent; /* index into waiters; into links, NO_LINK: the first link */
	uint32_t name;           /* text key */
	bool ends;
	enum holdup end;         /* of an end; HOLDUP_NONE: the last threads computed */
	int64_t pid, tid;        /* one of the waiting threads */
	double part[GROUPS];     /* of the parent's known time; of the first link: of the waits */
	double known[GROUPS];    /* what the threads are known to have done in the waits for them */
	double variance;         /* of the first link's part, from sampling */
	size_t nknown;           /* waits with known time */
	const struct message_wait *last; /* of them */
};

struct chains {
	struct facts *facts;
	message_waits *waits;
	VEC(struct link) links;
	struct map index; /* hash of a link's waiter, parent, name and end, to index into links */
	VEC(struct waiter) waiters;
	struct map by_name; /* to index into waiters */
	const struct message_wait *from; /* the wait being followed */
	size_t group;                    /* its group */
	const struct timeline *path[LINKS_MAX + 1];
	size_t nsteps;
};

/* The time in a chain. */
struct estimate {
	double ns, error;
};

/* The reasons of waits for messages. The end of a child or of a thread is not a message. */
static bool is_message(int64_t reason)
{
	return reason == REASON_NETWORK || reason == REASON_PIPE || reason == REASON_POLL ||
	       reason == REASON_EVENT || reason == REASON_IPC || reason == REASON_IO_URING;
}

void add_message_wait(message_waits *ret, const struct hit *h)
{
	int64_t end = hit_time(h);

	if (!hit_is_wait(h) || !hit_pid(h) || !is_message(hit_reason(h)) || !wait_has_waker(h) || hit_weight(h) <= 0)
		return;
	vec_push(ret, (struct message_wait){
		.origin = h->e->origin, .pid = hit_pid(h), .tid = hit_thread(h),
		.begin = wrap_minus(end, hit_part_length(h)), .end = end, .weight = hit_weight(h),
		.waker = hit_waker(h), .waker_pid = hit_waker_pid(h) });
}

/* The kind of a thread when the wait ended that is being followed. */
static uint32_t kind_key(struct chains *c, int64_t pid, int64_t tid)
{
	return wait_thread_key_at(&c->facts->w, c->from->origin, pid, tid, c->from->end);
}

/* The link, or the end, that follows `parent`; added if it is new. */
static uint32_t link_after(struct chains *c, uint32_t parent, uint32_t name, bool ends,
			   enum holdup end)
{
	uint32_t waiter = c->from->waiter;
	uint64_t what = hash64((uint64_t)name << 32 | (uint32_t)end << 1 | ends);
	bool fresh;
	uint64_t *at = map_put(&c->index, hash64(((uint64_t)waiter << 32 | parent) ^ what), &fresh);

	if (fresh) {
		*at = c->links.len;
		vec_push(&c->links, (struct link){
			.waiter = waiter, .parent = parent, .name = name, .ends = ends,
			.end = end, .pid = c->from->pid, .tid = c->from->tid });
	}
	return *at;
}

static void add_part(struct chains *c, uint32_t link, double ns)
{
	c->links.data[link].part[c->group] += ns;
}

static void add_known(struct chains *c, uint32_t link, double ns)
{
	struct link *l = &c->links.data[link];

	l->known[c->group] += ns;
	l->nknown += l->last != c->from;
	l->last = c->from;
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

static double length_of(int64_t begin, int64_t end)
{
	return (double)end - (double)begin;
}

/*
 * The time that an activity represents in the period. It ends after `from`. A clock sample is taken
 * at its end.
 */
static double time_within(const struct activity *a, int64_t from, int64_t to)
{
	if (mstate_descs[a->state].on_cpu)
		return a->end <= to ? (double)a->weight : 0;
	return (double)overlap(a, from, to) * (double)a->weight / length_of(a->begin, a->end);
}

static void follow(struct chains *c, int64_t tid, int64_t from, int64_t to, double factor,
		   uint32_t link, int depth);

/* Count an activity in the period, of a thread of link `link`, `factor` times. */
static void follow_activity(struct chains *c, const struct activity *a, int64_t from, int64_t to,
			    double factor, uint32_t link, int depth)
{
	bool message = is_message(a->reason) && a->waker &&
		       !(a->flags & (WFLAG_OPEN_END | WFLAG_REST | WFLAG_WAKER_IRQ));
	const struct timeline *next = message ?
		timeline_of(&c->facts->lines, c->from->origin, a->waker) : NULL;
	double ns = factor * time_within(a, from, to);
	enum holdup holdup;

	/*
	 * All threads of the path wait, so none of them can end this wait: its message is already
	 * sent, and the thread wakes up. What the thread does next has a share in that time.
	 */
	if (ns <= 0 || (next && on_path(c, next, depth + 1)))
		return;
	add_known(c, link, ns);
	holdup = holdup_in(c, a);
	if (mstate_descs[a->state].on_cpu) {
		if (depth > 1)
			add_part(c, link_after(c, link, 0, true, HOLDUP_NONE), ns);
	} else if (holdup) {
		add_part(c, link_after(c, link, 0, true, holdup), ns);
	} else if (message && depth < LINKS_MAX) {
		link = link_after(c, link, kind_key(c, a->waker_pid, a->waker), false, HOLDUP_NONE);
		add_part(c, link, ns);
		follow(c, a->waker, a->begin > from ? a->begin : from, a->end < to ? a->end : to,
		       factor * (double)a->weight / length_of(a->begin, a->end), link, depth + 1);
	}
}

/*
 * What thread `tid`, one of link `link`, did in this period. A nanosecond of the period represents
 * `factor` of the first threads' waits.
 */
static void follow(struct chains *c, int64_t tid, int64_t from, int64_t to, double factor,
		   uint32_t link, int depth)
{
	struct timeline *line = timeline_of(&c->facts->lines, c->from->origin, tid);

	if (!line || to <= from || c->nsteps > STEPS_MAX)
		return;
	c->path[depth] = line;
	for (size_t i = timeline_after(line, from);
	     i < line->acts.len && line->acts.data[i].begin < to; i++) {
		c->nsteps++;
		follow_activity(c, &line->acts.data[i], from, to, factor, link, depth);
	}
}

static uint32_t waiter_of(struct chains *c, uint32_t name)
{
	bool fresh;
	uint64_t *at = map_put(&c->by_name, name, &fresh);

	if (fresh) {
		*at = c->waiters.len;
		vec_push(&c->waiters, (struct waiter){ .name = name });
	}
	return *at;
}

static int by_end(const void *pa, const void *pb)
{
	const struct message_wait *a = pa, *b = pb;

	return (a->end > b->end) - (a->end < b->end);
}

static void rank_waits(struct chains *c)
{
	vec_sort(c->waits, by_end);
	vec_for_each(wait, c->waits) {
		struct waiter *w;

		c->from = wait;
		wait->waiter = waiter_of(c, kind_key(c, wait->pid, wait->tid));
		w = &c->waiters.data[wait->waiter];
		wait->rank = w->nwaits++;
		w->waited += (double)wait->weight;
	}
}

static void follow_wait(struct chains *c, const struct message_wait *wait)
{
	double weight = (double)wait->weight, length = length_of(wait->begin, wait->end);
	uint32_t first;

	c->from = wait;
	c->group = (size_t)wait->rank * GROUPS / c->waiters.data[wait->waiter].nwaits;
	c->path[0] = timeline_of(&c->facts->lines, wait->origin, wait->tid);
	if (length <= 0 || wait->waker == wait->tid)
		return;
	first = link_after(c, NO_LINK, kind_key(c, wait->waker_pid, wait->waker), false, HOLDUP_NONE);
	add_part(c, first, weight);
	/* Packets have whole microseconds: a smaller difference is rounding. */
	if (weight - length >= 1000)
		c->links.data[first].variance += weight * (weight - length);
	follow(c, wait->waker, wait->begin, wait->end, weight / length, first, 1);
}

/* The sum over all groups but one; GROUPS: over all. */
static double sum_without(const double groups[GROUPS], size_t without)
{
	double sum = 0;

	for (size_t g = 0; g < GROUPS; g++)
		sum += g == without ? 0 : groups[g];
	return sum;
}

/* The share of the waits for a chain's first link that has this end. *first: that link. */
static double share_without(const struct chains *c, const struct link *end, size_t without,
			    const struct link **first)
{
	const struct link *l = end;
	double share = 1;

	while (l->parent != NO_LINK) {
		const struct link *parent = &c->links.data[l->parent];
		double known = sum_without(parent->known, without);

		share *= known > 0 ? sum_without(l->part, without) / known : 0;
		l = parent;
	}
	*first = l;
	return share;
}

/*
 * The square of the relative error that a share has even if all groups agree: what n waits show has
 * a standard error of about 1 / (n + 2).
 */
static double unseen(const struct chains *c, const struct link *end)
{
	double sum = 0;

	for (const struct link *l = end; l->parent != NO_LINK;) {
		double n;

		l = &c->links.data[l->parent];
		n = (double)l->nknown;
		sum += 1 / ((n + 2) * (n + 2));
	}
	return sum;
}

static struct estimate estimate_of(const struct chains *c, const struct link *end)
{
	const struct link *first;
	double share = share_without(c, end, GROUPS, &first), variance = 0;
	double ns = sum_without(first->part, GROUPS);

	for (size_t g = 0; g < GROUPS; g++) {
		double change = share_without(c, end, g, &first) - share;

		variance += change * change * (GROUPS - 1) / GROUPS;
	}
	variance += share * share * unseen(c, end);
	return (struct estimate){ ns * share,
				  sqrt(share * share * first->variance + ns * ns * variance) };
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

/* "`front`, which waited for `back`": the links of a chain. */
static void put_links(struct buf *b, const struct chains *c, const struct link *l)
{
	if (l->parent != NO_LINK) {
		put_links(b, c, &c->links.data[l->parent]);
		buf_puts(b, ", which waited for ");
	}
	buf_printf(b, "`%s`", wait_key_text(&c->facts->w, l->name));
}

static void add_finding(struct finder *f, const struct rule *r, const struct chains *c,
			const struct link *end, struct estimate e)
{
	char *command = xasprintf("-wakechain %" PRId64 "/%" PRId64, end->pid, end->tid);
	char *filter = xasprintf("TID == %" PRId64, end->tid);
	struct buf text = { 0 };

	buf_printf(&text, "`%s` waited ",
		   wait_key_text(&f->facts.w, c->waiters.data[end->waiter].name));
	put_time(&text, e.ns);
	buf_puts(&text, " for ");
	put_links(&text, c, &c->links.data[end->parent]);
	buf_printf(&text, ", which %s.", ends[end->end]);
	finder_add(f, r, text.data, (int64_t)e.ns, e.error, command, filter);
	buf_free(&text);
	free(command);
	free(filter);
}

static void choose(struct finder *f, const struct rule *r, const struct chains *c)
{
	const struct link *worst = NULL;
	struct estimate most = { 0 };

	vec_for_each(l, &c->links) {
		struct estimate e;

		if (!l->ends)
			continue;
		e = estimate_of(c, l);
		if (e.ns < r->of_program * c->waiters.data[l->waiter].waited ||
		    e.ns < r->of_whole * (double)f->facts.duration_ns || e.ns < 3 * e.error ||
		    e.ns <= most.ns)
			continue;
		most = e;
		worst = l;
	}
	if (worst)
		add_finding(f, r, c, worst, most);
}

void find_chain(struct finder *f, const struct rule *r)
{
	struct chains c = { .facts = &f->facts, .waits = &f->facts.messages };

	if (c.waits->len) {
		rank_waits(&c);
		vec_for_each(wait, c.waits)
			follow_wait(&c, wait);
		choose(f, r, &c);
	}
	vec_free(&c.links);
	map_free(&c.index);
	vec_free(&c.waiters);
	map_free(&c.by_name);
}
