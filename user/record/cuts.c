/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A total is a set of parts that add up to its length: time on the CPU, and time off it by state.
 * `done` has what earlier segments were given of each. A part of a later total may be smaller than
 * what was given, by less than a microsecond: at a cut the time of a running thread is predicted.
 * The segment then gets 0 of it, and the next one less. A thread's last total must come out exactly,
 * so there the difference is taken off the largest part.
 */
#include "user/record/cuts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"

enum { KEEP_CUTS = 2 }; /* a thread that so many cuts did not see has ended */
enum { MOMENT_NS = 100000000 };

struct account {
	__u64 key;
	struct er_total done;             /* what earlier segments have; begin_ns 0: nothing */
	__u64 cut_ns;                  /* time of the last cut; 0: none */
	__u64 waited_ns;               /* when the last wait ended that was written */
	__u64 open_ns, open_at_ns;     /* length of the wait that was open at a cut, and that time; 0: none */
	__u64 next_cut_ns;             /* of the cut in progress; 0: it has not seen the thread */
	__u64 written[ER_OFF_STATES];  /* ns that waits of this segment represent */
	__u64 owed[ER_OFF_STATES];     /* ns that records may represent again */
	__u64 deferred;                   /* the last batch in which a wait was put off; 0: none */
	__u32 unseen;                     /* cuts in a row without the thread */
	bool ends;                        /* its last total came with the cut in progress */
	bool closed;                      /* its last total is written */
};

struct cuts {
	struct map by_thread; /* index in `accounts`, + 1 */
	VEC(struct account) accounts;
	__u64 begin_ns, end_ns;
	__u64 batch;
};

struct cuts *cuts_new(void)
{
	return xcalloc(1, sizeof(struct cuts));
}

void cuts_free(struct cuts *c)
{
	if (!c)
		return;
	map_free(&c->by_thread);
	vec_free(&c->accounts);
	free(c);
}

size_t cuts_nthreads(const struct cuts *c)
{
	return c->accounts.len;
}

static __u64 key_of(const struct er_task *task)
{
	return hash64(task->start_time ^ hash64((__u64)task->tgid << 32 | task->tid));
}

static struct account *find(const struct cuts *c, const struct er_task *task)
{
	const uint64_t *at = map_get(&c->by_thread, key_of(task));

	return at ? &c->accounts.data[*at - 1] : NULL;
}

static struct account *find_or_add(struct cuts *c, const struct er_task *task)
{
	uint64_t key = key_of(task), *at = map_put(&c->by_thread, key, NULL);

	if (!*at) {
		vec_push(&c->accounts, (struct account){ .key = key });
		*at = c->accounts.len;
	}
	return &c->accounts.data[*at - 1];
}

/* The last account takes the place of the removed one. */
static void drop(struct cuts *c, struct account *a)
{
	struct account *last = &c->accounts.data[c->accounts.len - 1];

	map_remove(&c->by_thread, a->key);
	if (a != last) {
		*a = *last;
		*map_put(&c->by_thread, a->key, NULL) = a - c->accounts.data + 1;
	}
	c->accounts.len--;
}

/* --- a cut --- */

void cuts_begin(struct cuts *c, uint64_t begin_ns, uint64_t end_ns)
{
	c->begin_ns = begin_ns;
	c->end_ns = end_ns;
	vec_for_each(a, &c->accounts) {
		a->next_cut_ns = 0;
		a->ends = false;
	}
}

/* A thread whose storage the iterator found closed has ended meanwhile. */
void cuts_note(struct cuts *c, const struct er_total *t)
{
	struct account *a;

	if (t->flags & ER_TOTAL_CUT) {
		find_or_add(c, &t->task)->next_cut_ns = t->h.time_ns;
	} else if (t->h.time_ns <= c->end_ns) {
		a = find_or_add(c, &t->task);
		a->ends = !a->next_cut_ns;
	}
}

/*
 * A thread that the iterator did not see, and whose last total has not come, was born after the
 * iterator passed its place. Idle CPUs have no account.
 */
bool cuts_is_next(const struct cuts *c, const struct er_header *h)
{
	const struct er_task *task = (const struct er_task *)(h + 1);
	const struct account *a = find(c, task);

	if (a && a->next_cut_ns)
		return h->time_ns > a->next_cut_ns;
	if (a && a->ends)
		return false;
	return h->time_ns > c->begin_ns;
}

void cuts_end(struct cuts *c)
{
	for (size_t i = c->accounts.len; i-- > 0;) {
		struct account *a = &c->accounts.data[i];

		a->unseen = a->next_cut_ns ? 0 : a->unseen + 1;
		if (a->closed || a->unseen >= KEEP_CUTS)
			drop(c, a);
	}
}

/* --- waits --- */

void cuts_batch(struct cuts *c)
{
	c->batch++;
}

void cuts_defer(struct cuts *c, const struct er_task *task)
{
	find_or_add(c, task)->deferred = c->batch;
}

bool cuts_must_defer(const struct cuts *c, const struct er_task *task)
{
	const struct account *a = find(c, task);

	return a && a->deferred && a->deferred == c->batch;
}

bool cuts_was_cut(const struct cuts *c, const struct er_task *task)
{
	const struct account *a = find(c, task);

	return a && a->cut_ns;
}

static __u64 take(__u64 *from, __u64 at_most)
{
	__u64 n = *from < at_most ? *from : at_most;

	*from -= n;
	return n;
}

/* Whether the wait that was open at a cut was so at the last one. Cuts are a second apart, or more. */
static bool was_open(const struct account *a)
{
	return a->open_ns && a->open_at_ns + MOMENT_NS > a->cut_ns && a->open_at_ns < a->cut_ns + MOMENT_NS;
}

/*
 * How much of the wait is before the last cut. Lengths are exact. Times are converted from the kernel's clock, each
 * with an error of its own, which may be milliseconds if the hypervisor takes the CPU meanwhile.
 */
static __u64 length_before(const struct account *a, const struct er_wait *w)
{
	__u64 len = w->blocked_ns + w->runq_ns, begin = w->h.time_ns - len;

	if (begin >= a->cut_ns)
		return 0;
	return was_open(a) && a->open_ns <= len ? a->open_ns : a->cut_ns - begin;
}

/* Leave only the part after the last cut. */
static unsigned shorten(const struct account *a, struct er_wait *w)
{
	__u64 before = length_before(a, w);
	bool was_blocked = w->blocked_ns;
	unsigned parts = 0;

	if (!before)
		return 0;
	w->flags |= ER_WAIT_OPEN_START;
	before -= take(&w->blocked_ns, before);
	take(&w->runq_ns, before);
	if (was_blocked)
		parts |= CUT_BLOCKED;
	if (before || !was_blocked)
		parts |= CUT_RUNQ;
	return parts;
}

/*
 * Take off the weight what the total before the cut has of it. A part that represents only itself
 * (`alone`) has there what was cut off its length, which leaves `len`.
 */
static void weigh(struct account *a, unsigned state, __u64 *weight, __u64 len, bool alone)
{
	*weight -= take(&a->owed[state], alone ? *weight - len : *weight);
	a->written[state] += *weight;
}

/*
 * True if the time of the wait is in a total that is written already: it was on its way at the cut,
 * or came after the thread's last total, from the ring of another CPU.
 */
static bool is_late(struct account *a, const struct er_wait *w)
{
	if (a->closed && w->h.time_ns - w->blocked_ns - w->runq_ns >= a->done.end_ns)
		*a = (struct account){ .key = a->key }; /* another thread with the same number */
	return w->h.time_ns <= a->cut_ns;
}

/*
 * The iterator found the thread asleep, and a record says that it had already run: its switch was under
 * way, on a CPU that the hypervisor had taken. The total has the time up to the cut, and the record
 * represents a part of it.
 */
static bool is_over(const struct account *a, const struct er_wait *w)
{
	return w->flags & ER_WAIT_OPEN_END &&
	       w->h.time_ns - w->blocked_ns - w->runq_ns < a->waited_ns;
}

static unsigned clear(struct er_wait *w)
{
	w->blocked_ns = w->runq_ns = w->blocked_weight = w->runq_weight = 0;
	return CUT_BLOCKED | CUT_RUNQ;
}

unsigned cuts_wait(struct cuts *c, struct er_wait *w)
{
	struct account *a = find_or_add(c, &w->task);
	unsigned state = w->state < ER_OFF_STATES ? w->state : ER_OFF_SLEEP, parts;
	bool blocked_alone = points_is_alone(w->blocked_weight, w->blocked_ns);
	bool runq_alone = points_is_alone(w->runq_weight, w->runq_ns);
	__u64 len = w->blocked_ns + w->runq_ns;

	if (is_late(a, w) || is_over(a, w))
		return clear(w);
	if (!(w->flags & ER_WAIT_OPEN_END) && w->h.time_ns > a->waited_ns)
		a->waited_ns = w->h.time_ns;
	parts = shorten(a, w);
	a->open_ns = w->flags & ER_WAIT_OPEN_END ? len : 0;
	a->open_at_ns = w->h.time_ns;
	weigh(a, state, &w->blocked_weight, w->blocked_ns, blocked_alone);
	weigh(a, ER_OFF_CPU, &w->runq_weight, w->runq_ns, runq_alone);
	return parts;
}

/* --- totals --- */

/* Give this segment what is new, but at most `most`; the next one gets what is left. */
static __u64 part_of(__u64 *done, __u64 now, __u64 most)
{
	__u64 n = now > *done ? now - *done : 0;

	n = n < most ? n : most;
	*done += n;
	return n;
}

static __u64 part64(__u64 *done, __u64 now)
{
	return part_of(done, now, ~0ULL);
}

static __u32 part32(__u32 *done, __u32 now)
{
	__u32 n = now > *done ? now - *done : 0;

	*done += n;
	return n;
}

static void part_counts(struct er_total *done, struct er_total *t)
{
	t->nwaits = part64(&done->nwaits, t->nwaits);
	t->npreempted = part64(&done->npreempted, t->npreempted);
	t->minflt = part64(&done->minflt, t->minflt);
	t->majflt = part64(&done->majflt, t->majflt);
	t->ncalls = part64(&done->ncalls, t->ncalls);
	t->rchar = part64(&done->rchar, t->rchar);
	t->wchar = part64(&done->wchar, t->wchar);
	t->read_bytes = part64(&done->read_bytes, t->read_bytes);
	t->write_bytes = part64(&done->write_bytes, t->write_bytes);
	t->moved_ns = part64(&done->moved_ns, t->moved_ns);
	t->nmoved = part32(&done->nmoved, t->nmoved);
	for (int i = 0; i < ER_OFF_STATES; i++)
		t->off_n[i] = part32(&done->off_n[i], t->off_n[i]);
}

/* Take `excess` off the largest of the parts. */
static void take_off_largest(struct er_total *t, __u64 excess)
{
	__u64 *largest = &t->run_ns;

	for (int i = 0; i < ER_OFF_STATES; i++)
		if (t->off_ns[i] > *largest)
			largest = &t->off_ns[i];
	take(largest, excess);
}

static __u64 sum_of(const struct er_total *t)
{
	__u64 sum = t->run_ns;

	for (int i = 0; i < ER_OFF_STATES; i++)
		sum += t->off_ns[i];
	return sum;
}

/* The times, and begin and end from them. `last`: the thread gets no further total. */
static void part_times(struct er_total *done, struct er_total *t, bool last)
{
	__u64 all = sum_of(t) - sum_of(done), sum;

	t->run_ns = part64(&done->run_ns, t->run_ns);
	for (int i = 0; i < ER_OFF_STATES; i++)
		t->off_ns[i] = part64(&done->off_ns[i], t->off_ns[i]);
	sum = sum_of(t);
	if (last && (int64_t)all >= 0 && sum > all)
		take_off_largest(t, sum - all);
	t->user_ns = part_of(&done->user_ns, t->user_ns,
			     t->flags & ER_TOTAL_SPLIT ? t->run_ns : ~0ULL);
	t->system_ns = t->flags & ER_TOTAL_SPLIT ? t->run_ns - t->user_ns :
						   part64(&done->system_ns, t->system_ns);
	t->stolen_ns = part_of(&done->stolen_ns, t->stolen_ns, t->off_ns[ER_OFF_CPU]);
	t->begin_ns = done->end_ns;
	t->end_ns = done->end_ns += sum_of(t);
}

/* The remainder that no wait of this segment represents. */
static void part_rests(struct account *a, struct er_total *t)
{
	for (int i = 0; i < ER_OFF_STATES; i++) {
		__u64 written = a->written[i];

		t->rest_ns[i] = t->off_ns[i] > written ? t->off_ns[i] - written : 0;
		a->written[i] = written > t->off_ns[i] ? written - t->off_ns[i] : 0;
	}
}

static void begin_account(struct account *a, const struct er_total *t)
{
	a->done = (struct er_total){ .begin_ns = t->begin_ns, .end_ns = t->begin_ns };
}

/* NULL for the last total of a thread that was never cut: BPF has computed everything. */
static struct account *cut_account(struct cuts *c, const struct er_total *t)
{
	bool cut = t->flags & ER_TOTAL_CUT;
	struct account *a = cut ? find_or_add(c, &t->task) : find(c, &t->task);

	if (a && a->closed)
		*a = (struct account){ .key = a->key };
	if (!a || cut || a->cut_ns)
		return a;
	drop(c, a);
	return NULL;
}

void cuts_total(struct cuts *c, struct er_total *t)
{
	struct account *a = cut_account(c, t);
	bool cut = t->flags & ER_TOTAL_CUT, first;
	__u64 owed[ER_OFF_STATES];

	if (!a)
		return;
	memcpy(owed, t->rest_ns, sizeof(owed));
	owed[ER_OFF_CPU] -= t->stolen_ns;
	first = !a->done.begin_ns;
	if (first)
		begin_account(a, t);
	else
		t->flags &= ~ER_TOTAL_BORN;
	part_times(&a->done, t, !cut);
	part_counts(&a->done, t);
	part_rests(a, t);
	t->flags &= ~ER_TOTAL_CUT;
	a->closed = !cut;
	memcpy(a->owed, owed, sizeof(owed));
	a->cut_ns = t->h.time_ns;
}
