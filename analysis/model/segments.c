/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the segments of one recording among the open experiments. Each names the recorder and the time
 * at which the first segment began, also if that one is not open.
 */
#include <string.h>

#include "analysis/experiment/exp_recorder.h"
#include "analysis/model/model.h"
#include "analysis/model/names.h"
#include "analysis/model/spans.h"

struct segment {
	struct experiment *e;
	int64_t pid, first_ns; /* of the recorder; first_ns 0: it does not say */
};

static struct segment segment_of(struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		if (!strcmp(el->name, "recorder"))
			return (struct segment){ e, element_int(el, "pid"), element_int(el, "first_ns") };
	}
	return (struct segment){ .e = e };
}

static bool are_of_one(const struct segment *a, const struct segment *b)
{
	return a->first_ns && a->first_ns == b->first_ns && a->pid == b->pid &&
	       !strcmp(a->e->hostname, b->e->hostname);
}

typedef VEC(struct segment) segment_vec;

static segment_vec all_segments(const struct session *s)
{
	segment_vec ret = { 0 };

	vec_for_each(e, &s->experiments) {
		if (!(*e)->founder)
			vec_push(&ret, segment_of(*e));
	}
	return ret;
}

bool session_has_copies(const struct session *s, const struct experiment **one, const struct experiment **other)
{
	segment_vec all = all_segments(s);
	bool found = false;

	for (size_t i = 0; i < all.len && !found; i++) {
		for (size_t k = 0; k < i && !found; k++) {
			const struct segment *a = &all.data[k], *b = &all.data[i];

			found = are_of_one(a, b) && a->e->start_ns == b->e->start_ns;
			*one = a->e;
			*other = b->e;
		}
	}
	vec_free(&all);
	return found;
}

static int64_t last_sample(const struct experiment *e)
{
	int64_t last = 0;

	vec_for_each(ev, &e->events)
		last = !strcmp(ev->kind, "sample") && ev->id > last ? ev->id : last;
	return last;
}

/* A segment counts its samples from 1. */
static int64_t samples_before(const segment_vec *all, const struct experiment *e)
{
	int64_t n = 0;

	vec_for_each(a, all)
		n += a->e->origin == e->origin && a->e->start_ns < e->start_ns ? last_sample(a->e) : 0;
	return n;
}

void session_join(struct session *s, bool compared)
{
	segment_vec all = all_segments(s);

	vec_for_each(a, &all) {
		a->e->origin = a->e;
		vec_for_each(b, &all) {
			if (are_of_one(a, b) && !(compared && a->e->group != b->e->group) &&
			    b->e->start_ns < a->e->origin->start_ns)
				a->e->origin = b->e;
		}
	}
	vec_for_each(a, &all)
		a->e->first_sample = samples_before(&all, a->e);
	vec_for_each(e, &s->experiments)
		(*e)->origin = experiment_founder(*e)->origin;
	vec_free(&all);
	s->impl->compared = compared;
	s->impl->names_of = s->impl->spans_of = 0;
}
