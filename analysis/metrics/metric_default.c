/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Default metrics and sort of lists. Entries of .er.rc files come first. The built-in
 * defaults are a specification of the same form, so an entry of a file, even a hidden
 * one, replaces the built-in entry of that metric.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/metrics/metric_impl.h"

/*
 * For clock data of er_kernel: all CPU time, so that kernel and user functions are in
 * one order, and the kernel's part of it, inclusive because that is more useful for
 * callers. With chosen threads (-T) also their time in the kernel without a CPU. For
 * other recordings: user CPU time, or all CPU time if there is no user time. Of
 * counters (events_default), cycles are a time and others are counts; of ratios only
 * the exclusive one tells something about the function.
 */
static const char *clock_default(const struct metric_set *ms)
{
	if (ms->targets && metric_find(ms, "kthr"))
		return "ei.%cpu:i.kcpu:ei.kthr";
	if (metric_find(ms, "cpu") && metric_find(ms, "kcpu"))
		return "ei.%cpu:i.kcpu";
	return metric_find(ms, "user") ? "ei.%user" : metric_find(ms, "totalcpu") ? "ei.%totalcpu" : "";
}

static const char events_default[] =
	"i.heapleakbytes:i.heapleakcnt:"
	"e.IPC:e.CPI:e.K_IPC:e.K_CPI:ei.hwc:"
	"i.sync:i.syncn:e.lockcnt:"
	"i.ioreadtime:i.iowritetime:i.ioothertime:i.ioerrortime";

/* Index and data lists show one flavor of a metric, whatever the function list shows. */
static void in_flavor_of(enum list_kind kind, struct metric_list *l)
{
	struct metric_list ret = { 0 };

	vec_for_each(c, &l->cols) {
		struct metric_col col = *c;

		if (kind == LIST_DATA && c->metric && !metric_has_addresses(c->metric))
			continue;
		if (col.flavor != FLAVOR_STATIC)
			col.flavor = kind == LIST_DATA ? FLAVOR_DATA : FLAVOR_EXCL;
		metric_list_add(&ret, col);
	}
	metric_list_free(l);
	*l = ret;
}

/* Add the columns of a spec that the list lacks; metrics that were not recorded are skipped. */
static void add_missing(const struct metric_set *ms, const char *spec, struct metric_list *l)
{
	__cleanup(freep) char *copy = xstrdup(spec);
	struct metric_list more = { 0 };
	size_t have = l->cols.len;
	char *rest = copy, *word;

	while ((word = strsep(&rest, ":")))
		metric_list_add_word(ms, LIST_FUNCS, word, NULL, &more);
	vec_for_each(c, &more.cols) {
		bool found = false;

		for (size_t i = 0; i < have; i++)
			found |= same_col(&l->cols.data[i], c);
		if (!found)
			vec_push(&l->cols, *c);
	}
	metric_list_free(&more);
}

static void drop_hidden(struct metric_list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->cols.len; i++) {
		if (!(l->cols.data[i].vis & VIS_HIDDEN))
			l->cols.data[n++] = l->cols.data[i];
	}
	l->cols.len = n;
}

void metric_list_default(const struct metric_set *ms, enum list_kind kind, struct metric_list *ret)
{
	struct metric_list l = { 0 };

	if (ms->dmetrics)
		add_missing(ms, ms->dmetrics, &l);
	add_missing(ms, clock_default(ms), &l);
	add_missing(ms, events_default, &l);
	drop_hidden(&l);
	metric_list_add(&l, (struct metric_col){ .flavor = FLAVOR_STATIC, .stat = STATIC_NAME,
						 .vis = VIS_VALUE });
	if (kind == LIST_CALLERS) {
		metric_list_callers(&l, ret);
		metric_list_free(&l);
		return;
	}
	if (kind != LIST_FUNCS)
		in_flavor_of(kind, &l);
	*ret = l;
}

/* Sort by the first keyword that matches a column; false: none does. */
static bool sort_by(const struct metric_set *ms, const struct metric_list *l, enum list_kind kind,
		    const char *spec, struct metric_sort *ret)
{
	__cleanup(freep) char *copy = xstrdup(spec);
	char *rest = copy, *word;

	while ((word = strsep(&rest, ":"))) {
		if (*word && metric_sort_word(ms, l, kind, word, ret))
			return true;
	}
	return false;
}

void metric_sort_default(const struct metric_set *ms, const struct metric_list *l,
			 enum list_kind kind, struct metric_sort *ret)
{
	if (ms->dsort && sort_by(ms, l, kind, ms->dsort, ret))
		return;
	if (sort_by(ms, l, kind, "aeid.any", ret))
		return;
	*ret = (struct metric_sort){ .col = { .flavor = FLAVOR_STATIC, .stat = STATIC_NAME,
					      .vis = VIS_VALUE } };
}
