/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/selection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/metrics/hit.h"
#include "analysis/model/session.h"

struct part {
	bool all_experiments, all;
	range_vec experiments, ranges;
};

typedef VEC(struct part) part_vec;

struct reader {
	const char *text, *p;
	const struct session *session;
	struct diag *diag;
};

static int fail(struct reader *r, const char *at, const char *what)
{
	diag_error(r->diag, "selection: column %zu: %s", (size_t)(at - r->text) + 1, what);
	diag_note(r->diag, "  %s", r->text);
	diag_note(r->diag, "  %*s^", (int)(at - r->text), "");
	return -1;
}

static int read_number(struct reader *r, int64_t *ret)
{
	const char *at = r->p;
	char *end;

	if (*at < '0' || *at > '9')
		return fail(r, at, "a number or 'all' is expected here");
	errno = 0;
	*ret = strtoll(at, &end, 10);
	if (errno)
		return fail(r, at, "the number is too large");
	r->p = end;
	return 0;
}

static int read_range(struct reader *r, range_vec *ret)
{
	const char *at = r->p;
	struct range range;

	if (read_number(r, &range.first))
		return -1;
	range.last = range.first;
	if (*r->p == '-') {
		r->p++;
		if (read_number(r, &range.last))
			return -1;
	}
	if (range.last < range.first)
		return fail(r, at, "a range goes from the smaller number to the larger");
	vec_push(ret, range);
	return 0;
}

/* all | range,range… */
static int read_which(struct reader *r, bool *all, range_vec *ret)
{
	*all = !strncmp(r->p, "all", 3);
	if (*all) {
		r->p += 3;
		return 0;
	}
	for (;;) {
		if (read_range(r, ret))
			return -1;
		if (*r->p != ',')
			return 0;
		r->p++;
	}
}

static int check_experiments(struct reader *r, const range_vec *v, const char *at)
{
	vec_for_each(range, v) {
		if (range->first < 1 || range->last > (int64_t)r->session->experiments.len)
			return fail(r, at,
				    "no experiment has this number; experiment_list shows them");
	}
	return 0;
}

static int read_part(struct reader *r, struct part *part)
{
	const char *at = r->p;

	if (read_which(r, &part->all, &part->ranges))
		return -1;
	if (*r->p != ':') {
		part->all_experiments = true;
		return 0;
	}
	r->p++;
	part->all_experiments = part->all;
	part->experiments = part->ranges;
	part->ranges = (range_vec){ 0 };
	if (check_experiments(r, &part->experiments, at))
		return -1;
	return read_which(r, &part->all, &part->ranges);
}

static int read_parts(struct reader *r, part_vec *parts)
{
	for (;;) {
		struct part part = { 0 };
		int rc = read_part(r, &part);

		vec_push(parts, part);
		if (rc)
			return -1;
		if (!*r->p)
			return 0;
		if (*r->p != '+')
			return fail(r, r->p, "',', '+' or the end of the list is expected here");
		r->p++;
	}
}

static bool in_ranges(const range_vec *v, int64_t n)
{
	vec_for_each(range, v) {
		if (n >= range->first && n <= range->last)
			return true;
	}
	return false;
}

static int by_first(const void *a, const void *b)
{
	const struct range *ra = a, *rb = b;

	return (ra->first > rb->first) - (ra->first < rb->first);
}

/* Sort ranges, and join those that touch. */
static void tidy(range_vec *v)
{
	size_t n = 0;

	vec_sort(v, by_first);
	vec_for_each(r, v) {
		if (n && r->first <= v->data[n - 1].last + (v->data[n - 1].last < INT64_MAX)) {
			if (r->last > v->data[n - 1].last)
				v->data[n - 1].last = r->last;
		} else {
			v->data[n++] = *r;
		}
	}
	v->len = n;
}

/* Collect what the parts say about an experiment. False: nothing. */
static bool gather(const part_vec *parts, int64_t id, bool *all, range_vec *ret)
{
	bool named = false;

	*all = false;
	vec_for_each(p, parts) {
		if (!p->all_experiments && !in_ranges(&p->experiments, id))
			continue;
		named = true;
		*all |= p->all;
		vec_for_each(r, &p->ranges)
			vec_push(ret, *r);
	}
	tidy(ret);
	return named;
}

static void choose(struct chosen *c, enum select_kind kind, const part_vec *parts, int64_t id)
{
	range_vec ranges = { 0 };
	bool all, back = c->off;

	c->off = !gather(parts, id, &all, &ranges);
	if (c->off) {
		vec_free(&ranges);
		return;
	}
	for (int k = 0; back && k < SELECT_KINDS; k++)
		c->all[k] = true;
	c->all[kind] = all;
	vec_free(&c->ranges[kind]);
	c->ranges[kind] = ranges;
}

static void parts_free(part_vec *parts)
{
	vec_for_each(p, parts) {
		vec_free(&p->experiments);
		vec_free(&p->ranges);
	}
	vec_free(parts);
}

int selection_parse(struct selection *sel, const struct session *s, enum select_kind kind,
		    const char *text, struct diag *d)
{
	struct reader r = { text, text, s, d };
	part_vec parts = { 0 };
	int rc = read_parts(&r, &parts);

	while (!rc && sel->experiments.len < s->experiments.len)
		vec_push(&sel->experiments,
			 (struct chosen){ .all = { true, true, true, true } });
	for (size_t i = 0; !rc && i < s->experiments.len; i++)
		choose(&sel->experiments.data[i], kind, &parts, i + 1);
	parts_free(&parts);
	return rc;
}

static int64_t (*const getters[SELECT_KINDS])(const struct hit *h) = {
	[SELECT_SAMPLE] = hit_sample, [SELECT_THREAD] = hit_thrid, [SELECT_LWP] = hit_lwpid,
	[SELECT_CPU] = hit_cpu,
};

bool selection_match(const struct selection *sel, const struct hit *h)
{
	const struct chosen *c;

	if (h->e->id > sel->experiments.len)
		return true;
	c = &sel->experiments.data[h->e->id - 1];
	for (int k = 0; !c->off && k < SELECT_KINDS; k++) {
		if (!c->all[k] && !in_ranges(&c->ranges[k], getters[k](h)))
			return false;
	}
	return !c->off;
}

bool selection_has_id(const struct selection *sel, unsigned experiment, enum select_kind kind,
		      int64_t id)
{
	const struct chosen *c;

	if (experiment > sel->experiments.len)
		return true;
	c = &sel->experiments.data[experiment - 1];
	return !c->off && (c->all[kind] || in_ranges(&c->ranges[kind], id));
}

bool selection_has(const struct selection *sel, unsigned experiment)
{
	return experiment > sel->experiments.len || !sel->experiments.data[experiment - 1].off;
}

void selection_print(const struct selection *sel, unsigned experiment, enum select_kind kind,
		     struct buf *b)
{
	const struct chosen *c = experiment <= sel->experiments.len ?
					 &sel->experiments.data[experiment - 1] : NULL;
	const char *comma = "";

	if (!c || c->off || c->all[kind]) {
		buf_puts(b, c && c->off ? "none" : "all");
		return;
	}
	vec_for_each(r, &c->ranges[kind]) {
		buf_printf(b, "%s%" PRId64, comma, r->first);
		if (r->last != r->first)
			buf_printf(b, "-%" PRId64, r->last);
		comma = ",";
	}
}

void selection_free(struct selection *sel)
{
	vec_for_each(c, &sel->experiments) {
		for (int k = 0; k < SELECT_KINDS; k++)
			vec_free(&c->ranges[k]);
	}
	vec_free(&sel->experiments);
}
