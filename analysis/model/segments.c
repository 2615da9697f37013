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

void session_join(struct session *s, bool compared)
{
	VEC(struct segment) all = { 0 };

	vec_for_each(e, &s->experiments) {
		if (!(*e)->founder)
			vec_push(&all, segment_of(*e));
	}
	vec_for_each(a, &all) {
		a->e->origin = a->e;
		vec_for_each(b, &all) {
			if (are_of_one(a, b) && !(compared && a->e->group != b->e->group) &&
			    b->e->start_ns < a->e->origin->start_ns)
				a->e->origin = b->e;
		}
	}
	vec_for_each(e, &s->experiments)
		(*e)->origin = experiment_founder(*e)->origin;
	vec_free(&all);
	s->impl->compared = compared;
	s->impl->names_of = s->impl->spans_of = 0;
}
