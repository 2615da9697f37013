/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/columns.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/metrics/tally.h"
#include "analysis/model/builds.h"
#include "analysis/model/outline.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

static const char *const short_flavors[] = { NULL, "Excl.", "Incl.", "Attr.", "Data" };
static const char *const full_flavors[] = { NULL, "Exclusive", "Inclusive", "Attributed",
					    "Data Derived" };

/* The order of a metric's visibilities from left to right. */
static const struct shape {
	unsigned vis;
	enum cell_kind kind;
	const char *unit;
} shapes[] = {
	{ VIS_TIME, CELL_TIME, "sec." },
	{ VIS_VALUE, CELL_COUNT, NULL },
	{ VIS_PERCENT, CELL_PERCENT, "%" },
};

enum { NSHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void add_static(struct table *t, const struct metric_col *c, bool sorted)
{
	static const struct column columns[] = {
		[STATIC_NAME] = { .kind = CELL_TEXT, .title = { "Name" } },
		[STATIC_ADDRESS] = { .kind = CELL_ADDRESS, .title = { "PC Addr." },
				     .full = { "PC", "Address" } },
		[STATIC_SIZE] = { .kind = CELL_COUNT, .title = { "Size", NULL, "bytes" } },
	};
	struct column column = columns[c->stat];

	column.sorted = sorted;
	vec_push(&t->columns, column);
}

static bool is_sort(const struct metric_col *c, const struct metric_sort *sort)
{
	return sort && c->flavor == sort->col.flavor && c->metric == sort->col.metric &&
	       (c->metric || c->stat == sort->col.stat);
}

static const struct metric *copy_of(const struct metric *m, size_t group)
{
	return m->ngroups ? &m->groups[group] : m;
}

static size_t ncopies(const struct metric *m)
{
	return m->ngroups ? m->ngroups : 1;
}

/* The unit in the heading. It says how a value is compared with that of the first group. */
static const char *unit_of(const struct metric *m, const struct shape *shape)
{
	if (m->group < 2 || shape->kind == CELL_PERCENT || m->compare == COMPARE_ON)
		return shape->unit;
	return m->compare == COMPARE_DELTA ? "delta" : "ratio";
}

static enum cell_kind kind_of(const struct metric *m, const struct shape *shape)
{
	if (m->group > 1 && m->compare == COMPARE_RATIO && shape->kind != CELL_PERCENT)
		return CELL_TIMES;
	return m->unit == UNIT_RATIO ? CELL_RATIO : shape->kind;
}

/* `spare`: where lines would be too long, the columns of the last metric are left out first. */
static void add_shapes(struct table *t, const struct metric_col *c, const struct metric *m,
		       bool sorted, int spare)
{
	for (size_t i = 0; i < NSHAPES; i++) {
		if (!(c->vis & shapes[i].vis))
			continue;
		vec_push(&t->columns, (struct column){
			.kind = kind_of(m, &shapes[i]), .group = m->group_name,
			.title = { short_flavors[c->flavor], m->abbr, unit_of(m, &shapes[i]) },
			.full = { full_flavors[c->flavor], m->uname }, .sorted = sorted,
			.spare = spare });
	}
}

void columns_add(struct table *t, const struct metric_list *l, const struct metric_sort *sort)
{
	vec_for_each(c, &l->cols) {
		int spare = is_sort(c, sort) ? 0 : c - l->cols.data + 1;

		if (c->vis & VIS_HIDDEN)
			continue;
		if (c->flavor == FLAVOR_STATIC) {
			add_static(t, c, is_sort(c, sort));
			continue;
		}
		for (size_t g = 0; g < ncopies(c->metric); g++)
			add_shapes(t, c, copy_of(c->metric, g), !spare && !g, spare);
	}
	if (t->columns.len && t->columns.data[t->columns.len - 1].kind == CELL_TEXT)
		t->columns.data[t->columns.len - 1].wrap = true;
}

double percent_of(int64_t value, int64_t whole)
{
	return whole ? 100.0 * ((double)value / (double)whole) : 0;
}

double metric_percent(const struct metric *m, int64_t value, int64_t whole)
{
	double unit = m->unit == UNIT_TIME ? 1e9 : 1;

	return whole ? 100.0 * ((double)value / unit / ((double)whole / unit)) : 0;
}

static void fill_static(struct cell *cell, const struct metric_col *c, const struct values *v)
{
	switch (c->stat) {
	case STATIC_NAME:
		*cell = (struct cell){ .kind = CELL_TEXT, .s = v->name };
		break;
	case STATIC_ADDRESS:
		if (v->func)
			*cell = (struct cell){ .kind = CELL_ADDRESS, .n = v->func->obj->id,
					       .i = v->func->addr };
		break;
	case STATIC_SIZE:
		if (v->func)
			*cell = (struct cell){ .kind = CELL_COUNT, .i = v->func->size };
		break;
	}
}

static const int64_t *of_flavor(const struct values *v, enum flavor f)
{
	return f == FLAVOR_EXCL || f == FLAVOR_DATA ? v->excl : f == FLAVOR_INCL ? v->incl :
	       f == FLAVOR_ATTR ? v->attr : NULL;
}

static struct cell metric_cell(const struct shape *shape, const struct metric *m, int64_t value,
			       int64_t whole)
{
	struct cell cell = { .kind = shape->kind };

	if (m->unit == UNIT_RATIO)
		cell = (struct cell){ .kind = CELL_RATIO, .d = (double)value / RATIO_UNIT };
	else if (shape->kind == CELL_PERCENT)
		cell.d = metric_percent(m, value, whole);
	else
		cell.i = shape->kind == CELL_TIME ? metric_time_ns(m, value) : value;
	return cell;
}

struct cell metric_plain_cell(const struct metric *m, int64_t value)
{
	static const struct shape time = { .kind = CELL_TIME }, count = { .kind = CELL_COUNT };

	return metric_cell(metric_has_time(m) ? &time : &count, m, value, 0);
}

/* The ratio to the first group's value; 1 if both are zero. */
static double times(int64_t value, int64_t base)
{
	if (!base)
		return value ? INFINITY : 1;
	return (double)value / (double)base;
}

struct cell compared_to(enum compare how, enum cell_kind kind, int64_t value, int64_t first)
{
	if (how == COMPARE_RATIO)
		return (struct cell){ .kind = CELL_TIMES, .d = times(value, first) };
	if (how == COMPARE_DELTA)
		return (struct cell){ .kind = kind, .i = value - first, .n = 1 };
	return (struct cell){ .kind = kind, .i = value };
}

/* The cell of a value that is compared with the first group's. */
static struct cell compared_cell(const struct shape *shape, const struct metric *m, int64_t value,
				 int64_t base)
{
	struct cell cell;

	if (m->compare == COMPARE_RATIO)
		return compared_to(m->compare, shape->kind, value, base);
	cell = metric_cell(shape, m, (int64_t)((uint64_t)value - (uint64_t)base), 0);
	cell.n = 1;
	return cell;
}

/* Fill the cells of a metric for one group. Returns their number. */
static size_t fill_shapes(struct cell *cells, const struct metric_col *c, size_t group,
			  const int64_t *values, const int64_t *whole)
{
	const struct metric *m = copy_of(c->metric, group), *first = copy_of(c->metric, 0);
	bool beside = group && m->compare > COMPARE_ON;
	size_t n = 0;

	for (size_t i = 0; i < NSHAPES; i++) {
		if (!(c->vis & shapes[i].vis))
			continue;
		if (!values || !whole)
			;
		else if (beside && shapes[i].kind != CELL_PERCENT)
			cells[n] = compared_cell(&shapes[i], m, metric_value(m, values),
						 metric_value(first, values));
		else
			cells[n] = metric_cell(&shapes[i], m, metric_value(m, values),
					       metric_value(m, whole));
		n++;
	}
	return n;
}

/* Number of cells that a metric has in a row. */
static size_t ncells(const struct metric_col *c)
{
	unsigned vis = c->vis & (VIS_TIME | VIS_VALUE | VIS_PERCENT);

	return c->flavor == FLAVOR_STATIC ? 1 : __builtin_popcount(vis) * ncopies(c->metric);
}

static void fill_metric(struct cell *cells, const struct metric_col *c, const int64_t *values,
			const int64_t *whole)
{
	for (size_t g = 0; g < ncopies(c->metric); g++)
		cells += fill_shapes(cells, c, g, values, whole);
}

void columns_fill(struct row *r, const struct metric_list *l, const struct values *v)
{
	size_t n = 0;

	vec_for_each(c, &l->cols) {
		if (c->vis & VIS_HIDDEN)
			continue;
		if (c->flavor == FLAVOR_STATIC)
			fill_static(&r->cells[n], c, v);
		else
			fill_metric(&r->cells[n], c, of_flavor(v, c->flavor),
				    c->flavor == FLAVOR_ATTR ? v->attr_whole : v->whole);
		n += ncells(c);
	}
}

void columns_fill_attr(struct row *r, const struct metric_list *l, const int64_t *attr,
		       const int64_t *attr_whole)
{
	size_t n = 0;

	vec_for_each(c, &l->cols) {
		if (c->vis & VIS_HIDDEN)
			continue;
		if (c->flavor == FLAVOR_ATTR)
			fill_metric(&r->cells[n], c, attr, attr_whole);
		n += ncells(c);
	}
}

const char *func_name(const struct view_state *v, const struct func *f)
{
	if (v->name == NAME_MANGLED)
		return f->mangled;
	if (f->outline && session_shows_outlined(v->session))
		return func_outline_name(v->session, f, v->name == NAME_LONG);
	return v->name == NAME_LONG ? f->long_name : f->name;
}

const char *func_label(const struct view_state *v, const struct func *f, struct table *t)
{
	const char *name = func_name(v, f);
	__cleanup(freep) char *with = NULL;

	if (!v->name_object)
		return name;
	with = xasprintf("%s [%s]", name, f->obj->name);
	return arena_strdup(&t->arena, with);
}

void text_column(struct table *t, const char *title)
{
	vec_push(&t->columns, (struct column){ .kind = CELL_TEXT, .title = { title } });
}

void put_text(struct row *r, size_t column, const char *text)
{
	r->cells[column] = (struct cell){ .kind = CELL_TEXT, .s = text };
}

static void vput(struct table *t, struct row *r, size_t column, const char *fmt, va_list ap)
{
	__cleanup(freep) char *text = xvasprintf(fmt, ap);

	put_text(r, column, arena_strdup(&t->arena, text));
}

void put_textf(struct table *t, struct row *r, size_t column, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vput(t, r, column, fmt, ap);
	va_end(ap);
}

void put_line(struct table *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vput(t, table_row(t), 0, fmt, ap);
	va_end(ap);
}

void put_note(struct table *t, const char *fmt, ...)
{
	__cleanup(freep) char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	vec_push(&t->notes, arena_strdup(&t->arena, text));
}

void put_excluded(struct table *t)
{
	put_note(t, "The filter excludes all data; comms, processes and threads, without a filter, "
		 "list the names and numbers.");
}

void put_builds(struct table *t, const struct session *s, const char *how)
{
	struct strtab paths = { 0 };

	session_rebuilt(s, &paths);
	for (size_t i = 0; i < paths.len; i++)
		put_note(t, "Different builds of %s: %s.", paths.strings[i], how);
	strtab_free(&paths);
}

static int compare64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_static(const struct ranked *a, const struct ranked *b, enum static_metric stat)
{
	if (stat == STATIC_NAME || !a->func || !b->func)
		return 0;
	if (stat == STATIC_SIZE)
		return (b->func->size > a->func->size) - (b->func->size < a->func->size);
	if (a->func->obj != b->func->obj)
		return a->func->obj->id < b->func->obj->id ? -1 : 1;
	return (a->func->addr > b->func->addr) - (a->func->addr < b->func->addr);
}

static const int64_t *ranked_values(const struct ranked *r, enum flavor f)
{
	return f == FLAVOR_EXCL || f == FLAVOR_DATA ? r->excl : f == FLAVOR_INCL ? r->incl : r->attr;
}

/* The sort value if differences are compared: the largest difference comes first. */
static int64_t difference(const struct metric *m, const int64_t *values)
{
	int64_t d = metric_value(copy_of(m, m->ngroups - 1), values) -
		    metric_value(copy_of(m, 0), values);

	return d < 0 ? -d : d;
}

static int64_t sort_key(const struct ranked *r, const struct metric_col *c)
{
	const int64_t *values = ranked_values(r, c->flavor);

	if (c->flavor == FLAVOR_STATIC || !values)
		return 0;
	if (c->metric->compare > COMPARE_ON)
		return difference(c->metric, values);
	return metric_value(copy_of(c->metric, 0), values);
}

static int ranked_cmp(const void *pa, const void *pb, void *ctx)
{
	const struct ranked *a = pa, *b = pb;
	const struct metric_sort *sort = ctx;
	int by = compare64(b->key, a->key);

	if (!by && sort->col.flavor == FLAVOR_STATIC)
		by = compare_static(a, b, sort->col.stat);
	if (!by)
		by = a->by_order ? compare64(a->order, b->order) : strcmp(a->name, b->name);
	if (!by)
		by = compare64(a->order, b->order);
	return sort->reverse ? -by : by;
}

void ranked_sort(struct ranked *r, size_t n, const struct metric_sort *sort)
{
	for (size_t i = 0; i < n; i++)
		r[i].key = sort_key(&r[i], &sort->col);
	if (n)
		qsort_r(r, n, sizeof(*r), ranked_cmp, (void *)sort);
}
