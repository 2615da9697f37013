/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/experiment/exp_spans.h"

#include <string.h>

#include "analysis/experiment/experiment_impl.h"

struct reading {
	struct experiment *e;
	uint64_t nwrong;
};

static const struct span_row *find(const struct experiment *e, int64_t number)
{
	vec_for_each(row, &e->spans) {
		if (row->number == number)
			return row;
	}
	return NULL;
}

/* A number that is not negative; a fault is counted. */
static uint64_t get(struct reading *r, const struct xml_element *el, const char *name)
{
	int64_t value = xml_get_int(el, name, 0);

	r->nwrong += value < 0;
	return value < 0 ? 0 : value;
}

/* Parse an unsigned number that ends at `end`. False: it does not. */
static bool number_before(const char **p, char end, uint64_t *ret)
{
	const char *begin = *p;

	for (*ret = 0; **p >= '0' && **p <= '9'; ++*p) {
		if (__builtin_mul_overflow(*ret, 10, ret) ||
		    __builtin_add_overflow(*ret, (uint64_t)(**p - '0'), ret))
			return false;
	}
	return *p > begin && *(*p)++ == end;
}

/* The histogram, if it is one of `count` durations. NULL: it is not. */
static const uint64_t *read_hist(struct experiment *e, const char *text, uint64_t count)
{
	uint64_t *hist = arena_alloc(&e->arena, SPAN_BUCKETS * sizeof(*hist));
	uint64_t bucket = 0, sum = 0, step, n;

	memset(hist, 0, SPAN_BUCKETS * sizeof(*hist));
	for (const char *p = text; *p;) {
		if (!number_before(&p, ':', &step) || !number_before(&p, ' ', &n))
			return NULL;
		if (step >= SPAN_BUCKETS - bucket || n > count - sum)
			return NULL;
		bucket += step;
		sum += n;
		hist[bucket] += n;
	}
	return sum == count ? hist : NULL;
}

static void read_times(struct reading *r, const struct xml_element *el, struct span_row *row)
{
	row->count = get(r, el, "count");
	row->dur_ns = get(r, el, "duration");
	row->max_ns = get(r, el, "max");
	row->run_ns = get(r, el, "run");
	row->split = get(r, el, "split");
	for (int i = 0; i < MS_COUNT; i++) {
		if (mstate_descs[i].span)
			row->state_ns[i] = get(r, el, mstate_descs[i].attr);
	}
	row->stolen_ns = get(r, el, "stolen");
	row->waits = get(r, el, "waits");
	row->minflt = get(r, el, "minflt");
	row->majflt = get(r, el, "majflt");
}

static void read_span(void *ctx, const struct xml_element *el)
{
	struct reading *r = ctx;
	int64_t number = xml_get_int(el, "number", 0);
	struct span_row row = { .number = number };
	const char *hist = xml_get(el, "hist");

	if (strcmp(el->name, "span"))
		return;
	if (number < 1 || number > SPAN_NAMES_MAX || find(r->e, number)) {
		r->nwrong++;
		return;
	}
	row.name = exp_attr(r->e, el, "name");
	row.spec = exp_attr(r->e, el, "spec");
	row.sites = get(r, el, "sites");
	row.threshold_ns = get(r, el, "threshold");
	read_times(r, el, &row);
	row.unended = get(r, el, "unended");
	row.nobegin = get(r, el, "nobegin");
	row.noroom = get(r, el, "noroom");
	row.lost = get(r, el, "lost");
	if (hist) {
		row.hist = read_hist(r->e, hist, row.count);
		r->nwrong += !row.hist;
	}
	vec_push(&r->e->spans, row);
}

static void read_text(void *ctx, const struct xml_element *el)
{
	struct reading *r = ctx;
	int64_t number = xml_get_int(el, "number", 0);
	bool fresh;
	uint64_t *at;

	if (strcmp(el->name, "text"))
		return;
	if (number < 1 || number > UINT32_MAX) {
		r->nwrong++;
		return;
	}
	at = map_put(&r->e->span_texts, number, &fresh);
	if (fresh)
		*at = (uintptr_t)exp_attr(r->e, el, "value");
	r->nwrong += !fresh;
}

static void read_one(struct experiment *e, int dirfd, const char *file, const struct xml_handler *h)
{
	struct reading r = { .e = e };
	struct file f;

	if (!exp_text(e, dirfd, file, &f))
		return;
	exp_parse(e, file, &f, h, &r);
	file_close(&f);
	if (r.nwrong)
		diag_warn(&e->diag, "%s: %llu place%s with an impossible number", file,
			  (unsigned long long)r.nwrong, r.nwrong == 1 ? "" : "s");
}

void spans_read(struct experiment *e, int dirfd)
{
	read_one(e, dirfd, SPANS_XML, &(struct xml_handler){ .start = read_span });
	read_one(e, dirfd, SPAN_STRINGS, &(struct xml_handler){ .start = read_text });
}

const struct span_row *experiment_span(const struct experiment *e, int64_t number)
{
	return find(experiment_founder(e), number);
}

const char *experiment_span_text(const struct experiment *e, int64_t number)
{
	const uint64_t *at = map_get(&experiment_founder(e)->span_texts, number);

	return at ? (const char *)(uintptr_t)*at : NULL;
}
