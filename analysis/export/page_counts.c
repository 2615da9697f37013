/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/json.h"
#include "analysis/export/page_events.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/metric.h"
#include "analysis/metrics/pass.h"
#include "analysis/views/view_state.h"

/* Times by state are sums of the page's other events. Ratios are made of sums. */
static bool is_counted(const struct metric *m)
{
	return m->kind != ER_PKT_CLOCK && m->unit != UNIT_RATIO;
}

bool counts_possible(const struct metric_set *ms)
{
	vec_for_each (m, &ms->all) {
		if (is_counted(m))
			return true;
	}
	return false;
}

static uint32_t class_index(struct page_counts *c, const struct count_class *wanted)
{
	for (size_t i = 0; i < c->classes.len; i++) {
		const struct count_class *k = &c->classes.data[i];

		if (k->nadds == wanted->nadds && k->heap == wanted->heap &&
		    !memcmp(k->adds, wanted->adds, wanted->nadds * sizeof(*k->adds)))
			return i;
	}
	vec_push(&c->classes, *wanted);
	return c->classes.len - 1;
}

static void push(struct page_counts *c, struct page_event *ev, struct count_class *adds)
{
	ev->event_class = class_index(c, adds);
	c->classes.data[ev->event_class].n++;
	vec_push(&c->all, *ev);
	ev->weight = ev->length = 0;
	adds->nadds = 0;
}

/* Where the event has this value, which is not 0; it is put into an empty member. -1: there is no
 * room. */
static int from_of(struct page_event *ev, int64_t value)
{
	if (value == 1)
		return COUNT_ONE;
	if (!ev->weight)
		ev->weight = value;
	if (ev->weight == value)
		return COUNT_WEIGHT;
	if (!ev->length)
		ev->length = value;
	return ev->length == value ? COUNT_LENGTH : -1;
}

void page_counts_add(struct page_counts *c, const struct metric_set *ms, const struct hit *h,
		     struct page_event ev, const struct amount *amounts, size_t n)
{
	struct count_class adds = { .heap = h->stream->kind == ER_PKT_HEAP };

	if (adds.heap)
		ev.heap = page_heap_add(&c->heap, ms->leaks, h);
	else
		ev.subject = n ? subject_of(&c->subjects, h) : 0;
	for (size_t i = 0; i < n; i++) {
		const struct amount *a = &amounts[i];
		int from;

		if (a->metric >= ms->all.len || !is_counted(&ms->all.data[a->metric]) || !a->value)
			continue;
		from = adds.nadds < COUNT_ADDS ? from_of(&ev, a->value) : -1;
		if (from < 0) {
			push(c, &ev, &adds);
			from = from_of(&ev, a->value);
		}
		adds.adds[adds.nadds++] = (struct count_add){ a->metric, from };
	}
	if (adds.nadds || adds.heap)
		push(c, &ev, &adds);
}

void page_counts_sort(struct page_counts *c)
{
	page_heap_sort(&c->heap);
	vec_for_each (ev, &c->all) {
		if (c->classes.data[ev->event_class].heap)
			ev->heap = c->heap.rank[ev->heap - 1];
	}
	vec_sort(&c->all, page_event_by_end);
}

/* --- writing --- */

static const char *unit_name(const struct metric *m)
{
	return m->unit == UNIT_TIME ? "time" : m->unit == UNIT_BYTES ? "bytes" : "count";
}

static bool is_listed(const struct metric_list *l, const struct metric *m)
{
	vec_for_each (c, &l->cols) {
		if (c->metric && c->metric->id == m->id)
			return true;
	}
	return false;
}

/* `listed`: er_print's list of its kind of objects has it. */
static void put_metric(const struct view_state *v, const struct metric *m, struct buf *b)
{
	bool data = m->kind == ER_PKT_MHWC;

	buf_printf(b,
		   "{\"unit\":\"%s\",\"mhz\":%" PRId64 ",\"ps\":%" PRId64
		   ",\"kind\":%d,\"counter\":%d,\"listed\":%d,\"id\":",
		   unit_name(m), m->mhz, m->ps, m->kind, m->tag >= 0,
		   is_listed(data ? &v->dmetrics : &v->imetrics, m));
	json_put_string(b, m->name);
	buf_puts(b, ",\"name\":");
	json_put_string(b, m->uname);
	buf_puts(b, "}");
}

static void put_classes(const struct page_counts *c, const uint32_t *metrics, struct buf *b)
{
	size_t n = 0;

	buf_puts(b, "],\"classes\":[");
	for (size_t i = 0; i < c->classes.len; i++) {
		const struct count_class *k = &c->classes.data[i];

		buf_puts(b, i ? ",[" : "[");
		for (uint32_t a = 0; a < k->nadds; a++)
			buf_printf(b, "%s%" PRIu32 ",%" PRIu32, a ? "," : "",
				   metrics[k->adds[a].metric], k->adds[a].from);
		buf_puts(b, "]");
	}
	buf_puts(b, "],\"heap\":[");
	for (size_t i = 0; i < c->classes.len; i++) {
		if (c->classes.data[i].heap)
			buf_printf(b, "%s%zu", n++ ? "," : "", i);
	}
	buf_puts(b, "]}");
}

/* Ratios of two metrics, such as instructions per cycle. */
static void put_ratios(const struct metric_set *ms, struct buf *b)
{
	size_t n = 0;

	buf_puts(b, "],\"ratios\":[");
	vec_for_each (m, &ms->all) {
		if (m->unit != UNIT_RATIO)
			continue;
		buf_puts(b, n++ ? ",{\"id\":" : "{\"id\":");
		json_put_string(b, m->name);
		buf_puts(b, ",\"name\":");
		json_put_string(b, m->uname);
		buf_puts(b, ",\"num\":");
		json_put_string(b, ms->all.data[m->num].name);
		buf_puts(b, ",\"den\":");
		json_put_string(b, ms->all.data[m->den].name);
		buf_puts(b, "}");
	}
}

void put_counts(const struct page_counts *c, const struct view_state *v, struct buf *b)
{
	const struct metric_set *ms = v->metric_set;
	uint32_t *index = xcalloc(ms->all.len + 1, sizeof(*index)), n = 0;

	if (c->all.len && !c->left_out) {
		buf_printf(b, ",\"counts\":{\"n\":%zu,\"metrics\":[", c->all.len);
		vec_for_each (m, &ms->all) {
			if (!is_counted(m))
				continue;
			buf_puts(b, n ? "," : "");
			put_metric(v, m, b);
			index[m->id] = n++;
		}
		put_ratios(ms, b);
		put_classes(c, index, b);
	}
	free(index);
}

void page_counts_free(struct page_counts *c)
{
	vec_free(&c->all);
	vec_free(&c->classes);
	subjects_free(&c->subjects);
	page_heap_free(&c->heap);
}
