/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the segments of one recording among the open experiments. Each names the recorder and the time
 * at which the first segment began, also if that one is not open.
 */
#include <string.h>

#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/model/model.h"

/* A segment begins some milliseconds after the one before has ended. */
enum { SEAM_NS = 300000000 };

struct segment {
	struct experiment *e;
	int64_t pid, first_ns; /* of the recorder; first_ns 0: it does not say */
	unsigned group;        /* if groups are compared; else 0 */
};

typedef VEC(struct segment) segment_vec;

static struct segment segment_of(struct experiment *e, bool compared)
{
	struct segment ret = { .e = e, .group = compared ? e->group : 0 };

	vec_for_each(el, &e->recorder) {
		if (!strcmp(el->name, "recorder")) {
			ret.pid = element_int(el, "pid");
			ret.first_ns = element_int(el, "first_ns");
			break;
		}
	}
	return ret;
}

static int by_recording(const struct segment *a, const struct segment *b)
{
	if (a->first_ns != b->first_ns)
		return a->first_ns < b->first_ns ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return strcmp(a->e->hostname, b->e->hostname);
}

static int by_recording_and_time(const void *pa, const void *pb)
{
	const struct segment *a = pa, *b = pb;
	int order = by_recording(a, b);

	if (order)
		return order;
	if (a->e->start_ns != b->e->start_ns)
		return a->e->start_ns < b->e->start_ns ? -1 : 1;
	return (a->e->id > b->e->id) - (a->e->id < b->e->id);
}

/* Segments of one recording follow each other, in order of time. The caller frees them. */
static segment_vec all_segments(const struct session *s, bool compared)
{
	segment_vec ret = { 0 };

	vec_for_each(e, &s->experiments) {
		if (!(*e)->founder)
			vec_push(&ret, segment_of(*e, compared));
	}
	vec_sort(&ret, by_recording_and_time);
	return ret;
}

/* The segment before in the same recording; NULL: this is the first one that is open. */
static const struct segment *before(const segment_vec *all, size_t i)
{
	const struct segment *seg = &all->data[i];

	return i && seg->first_ns && !by_recording(seg - 1, seg) ? seg - 1 : NULL;
}

bool session_has_copies(const struct session *s, const struct experiment **one, const struct experiment **other)
{
	segment_vec all = all_segments(s, false);
	bool found = false;

	for (size_t i = 0; i < all.len && !found; i++) {
		const struct segment *last = before(&all, i);

		found = last && last->e->start_ns == all.data[i].e->start_ns;
		*one = found ? last->e : NULL;
		*other = all.data[i].e;
	}
	vec_free(&all);
	return found;
}

int64_t session_missing_ns(const struct session *s)
{
	segment_vec all = all_segments(s, false);
	int64_t missing = 0;

	for (size_t i = 0; i < all.len; i++) {
		const struct segment *last = before(&all, i);
		int64_t gap;

		if (!last || last->e->end_ns <= 0)
			continue;
		gap = wrap_minus(all.data[i].e->start_ns, wrap_plus(last->e->start_ns, last->e->end_ns));
		if (gap > SEAM_NS)
			add_to(&missing, gap);
	}
	vec_free(&all);
	return missing;
}

static int64_t last_sample(const struct experiment *e)
{
	int64_t last = 0;

	vec_for_each(ev, &e->events)
		last = !strcmp(ev->kind, "sample") && ev->id > last ? ev->id : last;
	return last;
}

void session_join(struct session *s, bool compared)
{
	segment_vec all = all_segments(s, compared);

	for (size_t i = 0; i < all.len; i++) {
		struct experiment *e = all.data[i].e;
		const struct segment *last = before(&all, i);

		e->origin = last ? last->e->origin : e;
		/* A segment counts its samples from 1. */
		e->first_sample = last ? last->e->first_sample + last_sample(last->e) : 0;
	}
	vec_free(&all);
	all = all_segments(s, false);
	for (size_t i = 0; i < all.len; i++) {
		const struct segment *last = before(&all, i);

		all.data[i].e->recording = last ? last->e->recording : all.data[i].e;
	}
	vec_for_each(e, &s->experiments) {
		(*e)->origin = experiment_founder(*e)->origin;
		(*e)->recording = experiment_founder(*e)->recording;
	}
	vec_free(&all);
	s->impl->compared = compared;
	s->impl->names_of = s->impl->spans_of = s->impl->divided_of = 0;
}
