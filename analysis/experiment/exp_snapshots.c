/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread has a step for each snapshot before which it left or entered a CPU, and one for its end.
 * Between two steps there may be snapshots without it. Until the last one of them it was in the
 * state that the earlier step ended with, and the remainder of the step is after it. So each step
 * can be divided at any snapshot without an error.
 */
#include "analysis/experiment/exp_snapshots.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/map.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/experiment_impl.h"

struct instant {
	int64_t at_ns, took_ns;
};

/* The last step of a thread. */
struct place {
	int64_t at_ns;	/* the snapshot; or the end itself */
	int64_t own_ns; /* the thread's own instant, a little later */
	int8_t state;	/* enum er_mstate; MS_LINUX_CPU: on a CPU; -1: none, it has ended */
	uint32_t span;	/* index + 1 in threads; 0: none */
};

struct step {
	int64_t pid, tid, own_ns;
	int8_t state;
	struct exp_span_of_thread ns;
};

struct reading {
	struct experiment *e;
	VEC(struct instant) instants;
	struct map by_thread;
	VEC(struct place) places;
	struct exp_range *range;
	int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: the ends of the experiment */
	uint64_t nwrong;
};

/* --- instants --- */

static void read_instant(void *ctx, const struct xml_element *el)
{
	struct reading *r = ctx;
	struct instant in = { xml_get_int(el, "at", -1), xml_get_int(el, "took", 0) };

	if (strcmp(el->name, "snapshot"))
		return;
	if (in.at_ns < 0 || in.took_ns < 0 ||
	    (r->instants.len && in.at_ns <= r->instants.data[r->instants.len - 1].at_ns))
		r->nwrong++;
	else
		vec_push(&r->instants, in);
}

/* The number of instants up to t. */
static size_t count_until(const struct reading *r, int64_t t)
{
	size_t lo = 0, hi = r->instants.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->instants.data[mid].at_ns <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The snapshot that the walk belonged to, if one was under way at t; else t. */
static int64_t snapshot_at(const struct reading *r, int64_t t)
{
	size_t n = count_until(r, t);
	const struct instant *in = n ? &r->instants.data[n - 1] : NULL;

	return in && t - in->at_ns <= in->took_ns ? in->at_ns : t;
}

static int64_t nearest(const struct reading *r, int64_t t)
{
	size_t n = count_until(r, t);
	int64_t before = n ? r->instants.data[n - 1].at_ns : 0;
	int64_t after = n < r->instants.len ? r->instants.data[n].at_ns : r->e->end_ns;

	if (t >= after)
		return after;
	return t - before < after - t ? before : after;
}

static int64_t longest_walk(const struct reading *r)
{
	int64_t most = 0;

	vec_for_each (in, &r->instants)
		most = in->took_ns > most ? in->took_ns : most;
	return most;
}

/* --- steps --- */

int64_t exp_span_of_thread_sum(const struct exp_span_of_thread *th)
{
	int64_t sum = th->run_ns;

	for (int i = 0; i < MS_COUNT; i++)
		add_to(&sum, th->off_ns[i]);
	return sum;
}

static struct place *place_of(struct reading *r, const struct step *st)
{
	bool fresh;
	uint64_t *at = map_put(&r->by_thread, (uint64_t)st->pid << 32 | (uint64_t)st->tid, &fresh);

	if (fresh) {
		*at = r->places.len;
		vec_push(&r->places, (struct place){ .state = -1 });
	}
	return &r->places.data[*at];
}

static struct exp_span_of_thread *span_of(struct reading *r, struct place *pl,
					  const struct step *st)
{
	struct exp_span_of_thread *th;

	if (!pl->span) {
		vec_push(&r->range->threads,
			 (struct exp_span_of_thread){ .pid = st->pid, .tid = st->tid });
		pl->span = r->range->threads.len;
	}
	th = &r->range->threads.data[pl->span - 1];
	th->last_ns = st->own_ns;
	return th;
}

static int64_t *time_in(struct exp_span_of_thread *th, int state)
{
	return mstate_descs[state].on_cpu ? &th->run_ns : &th->off_ns[state];
}

/* The part of the step that the thread spent in the state it had before; returns all of it. */
static int64_t add_known(struct reading *r, struct place *pl, const struct step *st, int64_t until)
{
	int64_t begin = r->from_ns > pl->at_ns ? r->from_ns : pl->own_ns;
	int64_t end = r->to_ns < until ? r->to_ns : until;

	if (r->from_ns < until && r->to_ns > pl->at_ns && end > begin)
		add_to(time_in(span_of(r, pl, st), pl->state), end - begin);
	return until - pl->own_ns;
}

static void add_step(struct reading *r, struct place *pl, const struct step *st)
{
	struct exp_span_of_thread *th = span_of(r, pl, st);

	add_to(&th->run_ns, st->ns.run_ns);
	add_to(&th->user_ns, st->ns.user_ns);
	add_to(&th->system_ns, st->ns.system_ns);
	add_to(&th->stolen_ns, st->ns.stolen_ns);
	for (int i = 0; i < MS_COUNT; i++)
		add_to(&th->off_ns[i], st->ns.off_ns[i]);
}

static void take_step(struct reading *r, struct step *st)
{
	int64_t at = snapshot_at(r, st->own_ns), begin;
	struct place *pl = place_of(r, st);
	size_t n = count_until(r, at - 1);
	int64_t last = n ? r->instants.data[n - 1].at_ns : 0; /* the snapshot before the step */
	bool goes_on = pl->state >= 0 && pl->at_ns < at;

	if (pl->state < 0)
		pl->span = 0;
	begin = goes_on ? pl->at_ns : snapshot_at(r, st->own_ns - exp_span_of_thread_sum(&st->ns));
	if (goes_on && last > begin)
		*time_in(&st->ns, pl->state) -= add_known(r, pl, st, last);
	else if (last > begin && r->from_ns < at && (r->from_ns > begin || r->to_ns < at))
		add_to(&r->range->vague_ns, exp_span_of_thread_sum(&st->ns));
	if (at > r->from_ns && at <= r->to_ns)
		add_step(r, pl, st);
	pl->at_ns = at;
	pl->own_ns = st->own_ns;
	pl->state = st->state;
}

/* --- members --- */

static const struct letter {
	char letter;
	size_t member;
	int state; /* -1: part of another time */
} letters[] = {
#define OFF(s) offsetof(struct exp_span_of_thread, off_ns[s]), s
	{ 'r', offsetof(struct exp_span_of_thread, run_ns), MS_LINUX_CPU },
	{ 'u', offsetof(struct exp_span_of_thread, user_ns), -1 },
	{ 'y', offsetof(struct exp_span_of_thread, system_ns), -1 },
	{ 'z', offsetof(struct exp_span_of_thread, stolen_ns), -1 },
	{ 't', OFF(MS_TFAULT) },
	{ 'd', OFF(MS_DFAULT) },
	{ 'k', OFF(MS_KFAULT) },
	{ 'l', OFF(MS_USER_LOCK) },
	{ 's', OFF(MS_SLEEP) },
	{ 'w', OFF(MS_WAIT_CPU) },
	{ 'p', OFF(MS_STOPPED) },
#undef OFF
};

static const struct letter *letter_of(char c)
{
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		if (letters[i].letter == c)
			return &letters[i];
	}
	return NULL;
}

/* Read a number; false: there is none. */
static bool read_number(const char **p, int64_t *ret)
{
	char *end;

	if (**p != '-' && (**p < '0' || **p > '9'))
		return false;
	errno = 0;
	*ret = strtoll(*p, &end, 10);
	if (errno || end == *p)
		return false;
	*p = end;
	return true;
}

/* [PID/]TID[+NS] */
static bool read_name(const char **p, struct step *st)
{
	int64_t later = 0;

	if (!read_number(p, &st->pid))
		return false;
	st->tid = st->pid;
	if (**p == '/' && (++*p, !read_number(p, &st->tid)))
		return false;
	if (**p == '+' && (++*p, !read_number(p, &later)))
		return false;
	return exp_is_id(st->pid) && exp_is_id(st->tid) &&
	       !__builtin_add_overflow(st->own_ns, later, &st->own_ns);
}

static bool read_times(const char **p, struct step *st)
{
	while (**p && **p != ' ') {
		const struct letter *l = letter_of(**p);

		++*p;
		if (!l || !read_number(p, (int64_t *)((char *)&st->ns + l->member)))
			return false;
	}
	return true;
}

/* NAME,[STATE]TIMES: a state is a letter without a number. */
static bool read_member(const char **p, struct step *st, bool ends)
{
	const struct letter *state;

	if (!read_name(p, st) || *(*p)++ != ',')
		return false;
	st->state = -1;
	if (!ends) {
		state = **p ? letter_of(*(*p)++) : NULL;
		if (!state || state->state < 0)
			return false;
		st->state = state->state;
	}
	return read_times(p, st);
}

static void read_steps(void *ctx, const struct xml_element *el)
{
	struct reading *r = ctx;
	bool ends = !strcmp(el->name, "ends");
	int64_t at = ends ? 0 : xml_get_int(el, "at", -1);
	const char *p = xml_get(el, "threads");

	if ((!ends && strcmp(el->name, "snapshot")) || at < 0)
		return;
	while (p && *p) {
		struct step st = { .own_ns = at };

		if (!read_member(&p, &st, ends)) {
			r->nwrong++;
			return;
		}
		take_step(r, &st);
		p += *p == ' ';
	}
}

/* --- a range --- */

/* Threads that have no step after the range went on as they were. */
static void go_on(struct reading *r)
{
	vec_for_each (pl, &r->places) {
		int64_t end = r->to_ns == INT64_MAX ? r->e->end_ns : r->to_ns;
		struct step st = { .own_ns = pl->own_ns };

		if (pl->state < 0 || pl->at_ns >= end || !pl->span)
			continue;
		st.pid = r->range->threads.data[pl->span - 1].pid;
		st.tid = r->range->threads.data[pl->span - 1].tid;
		add_known(r, pl, &st, end);
	}
}

static void read_range(struct reading *r, const struct file *f, int64_t from_ns, int64_t to_ns)
{
	static const struct xml_handler instants = { .start = read_instant },
					steps = { .start = read_steps };
	struct exp_range *range = r->range;

	exp_parse(r->e, "snapshots.xml", f, &instants, r);
	range->from_ns = nearest(r, from_ns);
	range->to_ns = nearest(r, to_ns);
	range->took_ns = longest_walk(r);
	r->from_ns = range->from_ns <= 0 ? INT64_MIN : range->from_ns;
	r->to_ns = range->to_ns >= r->e->end_ns ? INT64_MAX : range->to_ns;
	if (range->from_ns >= range->to_ns)
		return;
	exp_parse(r->e, "snapshots.xml", f, &steps, r);
	if (!r->e->closed)
		go_on(r);
}

bool exp_range_read(struct experiment *e, int64_t from_ns, int64_t to_ns, struct exp_range *ret)
{
	struct reading r = { .e = e, .range = ret };
	int dirfd = open(e->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct file f;
	bool ok = dirfd >= 0 && exp_text(e, dirfd, "snapshots.xml", &f);

	*ret = (struct exp_range){ 0 };
	if (dirfd >= 0)
		close(dirfd);
	if (!ok)
		return false;
	read_range(&r, &f, from_ns, to_ns);
	file_close(&f);
	map_free(&r.by_thread);
	vec_free(&r.places);
	vec_free(&r.instants);
	if (r.nwrong)
		diag_warn(&e->diag, "snapshots.xml: %llu impossible elements",
			  (unsigned long long)r.nwrong);
	return ret->from_ns < ret->to_ns;
}

void exp_range_free(struct exp_range *r)
{
	vec_free(&r->threads);
}
