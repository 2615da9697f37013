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

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/experiment_impl.h"

/* The last step of a thread. */
struct place {
	int64_t pid, tid;
	int64_t at_ns;	/* the snapshot; or the end itself */
	int64_t own_ns; /* the thread's own instant, a little later */
	int8_t state;	/* enum er_mstate; MS_LINUX_CPU: on a CPU; -1: none, it has ended */
	uint32_t life;
};

struct reading {
	struct exp_snapshots *s;
	struct map by_thread;
	VEC(struct place) places;
	uint32_t nlives;
	exp_step_fn fn;
	void *ctx;
	uint64_t nwrong;
};

/* --- instants --- */

static void read_instant(void *ctx, const struct xml_element *el)
{
	struct exp_snapshots *s = ctx;
	struct exp_instant in = { xml_get_int(el, "at", -1), xml_get_int(el, "took", 0) };

	if (strcmp(el->name, "snapshot"))
		return;
	if (in.at_ns < 0 || in.took_ns < 0 ||
	    (s->instants.len && in.at_ns <= s->instants.data[s->instants.len - 1].at_ns)) {
		s->nwrong++;
		return;
	}
	s->took_ns = in.took_ns > s->took_ns ? in.took_ns : s->took_ns;
	vec_push(&s->instants, in);
}

size_t exp_snapshots_until(const struct exp_snapshots *s, int64_t t)
{
	size_t lo = 0, hi = s->instants.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->instants.data[mid].at_ns <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The snapshot that the walk belonged to, if one was under way at t; else t. */
static int64_t snapshot_at(const struct exp_snapshots *s, int64_t t)
{
	size_t n = exp_snapshots_until(s, t);
	const struct exp_instant *in = n ? &s->instants.data[n - 1] : NULL;

	return in && t - in->at_ns <= in->took_ns ? in->at_ns : t;
}

int64_t exp_snapshots_nearest(const struct exp_snapshots *s, int64_t t)
{
	size_t n = exp_snapshots_until(s, t);
	int64_t before = n ? s->instants.data[n - 1].at_ns : 0;
	int64_t after = n < s->instants.len ? s->instants.data[n].at_ns : s->e->end_ns;

	if (t >= after)
		return after;
	return t - before < after - t ? before : after;
}

/* --- steps --- */

int64_t exp_span_of_thread_sum(const struct exp_span_of_thread *th)
{
	int64_t sum = th->run_ns;

	for (int i = 0; i < MS_COUNT; i++)
		add_to(&sum, th->off_ns[i]);
	return sum;
}

int64_t *exp_span_of_thread_in(struct exp_span_of_thread *th, int state)
{
	return mstate_descs[state].on_cpu ? &th->run_ns : &th->off_ns[state];
}

static struct place *place_of(struct reading *r, const struct exp_step *st)
{
	bool fresh;
	uint64_t *at = map_put(&r->by_thread, (uint64_t)st->pid << 32 | (uint64_t)st->tid, &fresh);

	if (fresh) {
		*at = r->places.len;
		vec_push(&r->places, (struct place){ .pid = st->pid, .tid = st->tid, .state = -1 });
	}
	return &r->places.data[*at];
}

/* The part of the step that the thread spent in the state it had before is not in its times. */
static void take_off_known(struct exp_step *st, const struct place *pl, int64_t until)
{
	int64_t *ns = exp_span_of_thread_in(&st->ns, pl->state);

	st->before = pl->state;
	st->before_at_ns = pl->at_ns;
	st->before_own_ns = pl->own_ns;
	st->until_ns = until;
	*ns = wrap_minus(*ns, wrap_minus(until, pl->own_ns));
}

static void take_step(struct reading *r, struct exp_step *st)
{
	const struct exp_snapshots *s = r->s;
	struct place *pl = place_of(r, st);
	bool goes_on;
	int64_t last;

	st->at_ns = snapshot_at(s, st->own_ns);
	st->second = exp_snapshots_until(s, wrap_minus(st->at_ns, 1));
	st->before = -1;
	last = st->second ? s->instants.data[st->second - 1].at_ns : 0;
	goes_on = pl->state >= 0 && pl->at_ns < st->at_ns;
	st->begin_ns =
		goes_on ? pl->at_ns
			: snapshot_at(s, wrap_minus(st->own_ns, exp_span_of_thread_sum(&st->ns)));
	st->is_vague = !goes_on && last > st->begin_ns;
	if (pl->state < 0)
		pl->life = r->nlives++;
	st->life = pl->life;
	if (goes_on && last > st->begin_ns)
		take_off_known(st, pl, last);
	r->fn(r->ctx, st);
	pl->at_ns = st->at_ns;
	pl->own_ns = st->own_ns;
	pl->state = st->state;
}

/* In a recording without an end, threads that have no further step went on as they were. */
static void go_on(struct reading *r)
{
	int64_t end = r->s->e->end_ns;

	vec_for_each (pl, &r->places) {
		struct exp_step st = { .pid = pl->pid, .tid = pl->tid, .own_ns = end, .state = -1 };

		if (pl->state < 0 || pl->own_ns >= end)
			continue;
		*exp_span_of_thread_in(&st.ns, pl->state) = wrap_minus(end, pl->own_ns);
		take_step(r, &st);
	}
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
static bool read_name(const char **p, struct exp_step *st)
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

static bool read_times(const char **p, struct exp_step *st)
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
static bool read_member(const char **p, struct exp_step *st, bool ends)
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
		struct exp_step st = { .own_ns = at };

		if (!read_member(&p, &st, ends)) {
			r->nwrong++;
			return;
		}
		take_step(r, &st);
		p += *p == ' ';
	}
}

/* --- the file --- */

static void report(struct exp_snapshots *s, uint64_t nwrong)
{
	if (nwrong && !s->reported)
		diag_warn(&s->e->diag, "snapshots.xml: %llu impossible elements",
			  (unsigned long long)nwrong);
	s->reported |= nwrong > 0;
}

struct exp_snapshots *exp_snapshots_open(struct experiment *e)
{
	static const struct xml_handler handler = { .start = read_instant };
	int dirfd = open(e->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct exp_snapshots *s = xcalloc(1, sizeof(*s));
	bool ok = dirfd >= 0 && exp_text(e, dirfd, "snapshots.xml", &s->file);

	if (dirfd >= 0)
		close(dirfd);
	if (!ok) {
		free(s);
		return NULL;
	}
	s->e = e;
	exp_parse(e, "snapshots.xml", &s->file, &handler, s);
	return s;
}

void exp_snapshots_close(struct exp_snapshots *s)
{
	if (!s)
		return;
	file_close(&s->file);
	vec_free(&s->instants);
	free(s);
}

void exp_snapshots_each(struct exp_snapshots *s, exp_step_fn fn, void *ctx)
{
	static const struct xml_handler handler = { .start = read_steps };
	struct reading r = { .s = s, .fn = fn, .ctx = ctx };

	exp_parse(s->e, "snapshots.xml", &s->file, &handler, &r);
	if (!s->e->closed)
		go_on(&r);
	report(s, s->nwrong + r.nwrong);
	map_free(&r.by_thread);
	vec_free(&r.places);
}
