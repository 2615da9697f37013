/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU time, and the functions that have most of it. This rule always speaks. */
#include <math.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/findings/rules.h"
#include "analysis/metrics/tally.h"
#include "analysis/views/columns.h"

enum { NAMED = 3 };

/* A function with less than a twentieth of the time is not named, unless it is the first. */
static const double named_share = 0.05;

struct func_time {
	uint32_t func;
	int64_t ns;
	double squares;
};

typedef VEC(struct func_time) func_times;

static int by_time(const void *pa, const void *pb)
{
	const struct func_time *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->func > b->func) - (a->func < b->func);
}

/* The exclusive time of each function, as `functions` shows it, in descending order. */
static void add_up(struct facts *f, func_times *ret)
{
	struct session *s = f->w.v->session;
	struct map index = { 0 };
	VEC(uint32_t) path = { 0 };

	for (size_t i = 0; i < f->stacks.len; i++) {
		const struct stack_time *st = &f->stacks.data[i];
		uint64_t *at;
		bool fresh;

		if (!st->ns)
			continue;
		while (path.len < s->stacks.data[i].n)
			vec_push(&path, 0);
		if (!shown_path(s, i, path.data, NULL))
			continue;
		at = map_put(&index, path.data[0], &fresh);
		if (fresh) {
			*at = ret->len;
			vec_push(ret, (struct func_time){ .func = path.data[0] });
		}
		add_to(&ret->data[*at].ns, st->ns);
		ret->data[*at].squares += st->squares;
	}
	vec_free(&path);
	map_free(&index);
	vec_sort(ret, by_time);
}

/*
 * The standard error of a function's time. The time of all functions is exact, and the function's
 * share is sampled: a ratio estimator (Cochran, Sampling Techniques, 6.4).
 */
static double error_of(const struct facts *f, const struct func_time *t)
{
	double share = (double)t->ns / (double)facts_all(f)->run_ns;
	double others = f->run_squares - t->squares;

	return sqrt(t->squares * (1 - share) * (1 - share) +
		    (others > 0 ? others : 0) * share * share);
}

/* Not a function, but the time of threads without a sample. */
static bool is_unsampled(const struct facts *f, const struct func_time *t)
{
	return !strcmp(f->w.v->session->funcs.data[t->func]->name, "<Unsampled-CPU>");
}

static void put_unsampled(struct facts *f, const struct func_time *t, struct buf *b)
{
	double share = (double)t->ns / (double)facts_all(f)->run_ns;

	if (share < named_share)
		return;
	buf_puts(b, "; of ");
	put_share(b, share, 0);
	buf_puts(b, " no sample tells the function, as threads ran too shortly (er_kernel -p high samples more often)");
}

static void put_functions(struct facts *f, const func_times *times, struct buf *b)
{
	double all = (double)facts_all(f)->run_ns;
	const struct func_time *unsampled = NULL;
	size_t named = 0;

	vec_for_each(t, times) {
		if (is_unsampled(f, t)) {
			unsampled = t;
			continue;
		}
		if (named == NAMED || (named && (double)t->ns < named_share * all))
			continue;
		buf_printf(b, "%s%s ", named++ ? ", " : ": ",
			   func_name(f->w.v, f->w.v->session->funcs.data[t->func]));
		put_share(b, (double)t->ns / all, error_of(f, t) / all);
	}
	if (unsampled)
		put_unsampled(f, unsampled, b);
}

/* A recording with --states off has no waits, so it does not tell what held programs up. */
static bool lacks_waits(const struct session *s)
{
	vec_for_each(e, &s->experiments) {
		vec_for_each(el, &(*e)->recorder) {
			if (!strcmp(el->name, "capture") && element_get(el, "states") && !element_int(el, "states"))
				return true;
		}
	}
	return false;
}

void find_computing(struct finder *f, const struct rule *r)
{
	struct facts *facts = &f->facts;
	const struct program *all = facts_all(facts);
	func_times times = { 0 };
	struct buf text = { 0 };

	if (!all->run_ns && !all->wait_ns)
		return;
	if (!all->run_ns) {
		buf_puts(&text, "No thread ran.");
	} else {
		add_up(facts, &times);
		put_time(&text, all->run_ns);
		buf_puts(&text, " went into computing");
		buf_puts(&text, f->found.len || lacks_waits(facts->w.v->session) ? "" :
				", and little is known to have held it up");
		put_functions(facts, &times, &text);
		buf_puts(&text, ".");
	}
	finder_add(f, r, text.data, all->run_ns, all->cut ? sqrt(facts->run_squares) : 0,
		   "-functions", NULL);
	vec_free(&times);
	buf_free(&text);
}
