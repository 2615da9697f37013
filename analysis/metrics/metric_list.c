/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The grammar of metric lists: keywords separated by colons. A keyword is flavors (a e
 * i d) and visibility (. % + !), in any order, and a name. A name alone means exclusive
 * and inclusive, as in gprofng.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/metrics/metric_impl.h"

static const char flavor_letters[] = "?eiad"; /* by enum flavor */

static const struct static_row {
	const char *name, *uname;
} static_rows[] = {
	[STATIC_NAME] = { "name", "Name" },
	[STATIC_ADDRESS] = { "address", "PC Address" },
	[STATIC_SIZE] = { "size", "Size" },
};

enum { NSTATICS = sizeof(static_rows) / sizeof(static_rows[0]), FLAVORS_MAX = 8 };

/* A parsed keyword. */
struct keyword {
	enum flavor flavors[FLAVORS_MAX];
	size_t nflavors;
	unsigned vis; /* as written: '.' is time, '+' is value */
	const char *name;
};

static unsigned vis_of(char c)
{
	switch (c) {
	case '.': return VIS_TIME;
	case '%': return VIS_PERCENT;
	case '+': return VIS_VALUE;
	case '!': return VIS_HIDDEN;
	default: return 0;
	}
}

static void add_flavor(struct keyword *k, enum flavor f)
{
	for (size_t i = 0; i < k->nflavors; i++) {
		if (k->flavors[i] == f)
			return;
	}
	k->flavors[k->nflavors++] = f;
}

/* Letters are flavors only together with a visibility: "insts" is a name. */
static void take_apart(const char *word, struct keyword *k)
{
	size_t n = strspn(word, "eiad.%+!");

	*k = (struct keyword){ .name = word };
	while (n > 0 && !vis_of(word[n - 1]))
		n--;
	for (size_t i = 0; i < n; i++) {
		const char *letter = strchr(flavor_letters + 1, word[i]);

		if (letter)
			add_flavor(k, letter - flavor_letters);
		k->vis |= vis_of(word[i]);
	}
	k->name = word + n;
}

/* Apply a visibility to a metric. */
static unsigned vis_for(const struct metric *m, unsigned vis)
{
	unsigned ret = vis & (VIS_PERCENT | VIS_HIDDEN);

	/* A ratio has no percentage and no time. */
	if (m->unit == UNIT_RATIO)
		return vis & VIS_HIDDEN ? VIS_HIDDEN : VIS_VALUE;
	if (vis & VIS_TIME)
		ret |= metric_has_time(m) ? VIS_TIME : VIS_VALUE;
	if (vis & VIS_VALUE)
		ret |= m->unit == UNIT_TIME ? VIS_TIME : VIS_VALUE;
	return ret;
}

bool same_col(const struct metric_col *a, const struct metric_col *b)
{
	return a->flavor == b->flavor && a->metric == b->metric &&
	       (a->metric || a->stat == b->stat);
}

bool metric_list_same(const struct metric_list *a, const struct metric_list *b)
{
	bool same = a->cols.len == b->cols.len;

	for (size_t i = 0; same && i < a->cols.len; i++)
		same = same_col(&a->cols.data[i], &b->cols.data[i]);
	return same;
}

void metric_list_add(struct metric_list *l, struct metric_col col)
{
	vec_for_each(c, &l->cols) {
		if (!same_col(c, &col))
			continue;
		if (!((c->vis | col.vis) & VIS_HIDDEN))
			c->vis |= col.vis;
		return;
	}
	vec_push(&l->cols, col);
}

static bool flavor_allowed(enum list_kind kind, enum flavor f)
{
	switch (f) {
	case FLAVOR_EXCL: return kind != LIST_DATA;
	case FLAVOR_INCL: return kind == LIST_FUNCS || kind == LIST_CALLERS;
	case FLAVOR_ATTR: return kind == LIST_CALLERS;
	case FLAVOR_DATA: return kind == LIST_DATA;
	default: return true;
	}
}

static void default_flavors(enum list_kind kind, struct keyword *k)
{
	static const enum flavor order[] = { FLAVOR_ATTR, FLAVOR_EXCL, FLAVOR_INCL, FLAVOR_DATA };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (flavor_allowed(kind, order[i]))
			add_flavor(k, order[i]);
	}
}

int metric_list_check(const char *spec, struct diag *d)
{
	__cleanup(freep) char *copy = xstrdup(spec);
	char *rest = copy, *word;

	while ((word = strsep(&rest, ":"))) {
		struct keyword k;

		if (!*word && !rest)
			break;
		take_apart(word + (*word == '-'), &k);
		if (!*k.name || k.name[strcspn(k.name, ".%+! \t")])
			return diag_error(d, "metric '%s': not a keyword such as e.user", word);
	}
	return 0;
}

/* In .er.rc files (d is NULL) "!." hides a column and says how it is shown if made visible. */
static int check(enum list_kind kind, struct keyword *k, const char *word, struct diag *d)
{
	if (!d && k->vis & VIS_HIDDEN)
		k->vis = VIS_HIDDEN;
	if ((k->vis & VIS_HIDDEN) && (k->vis & ~VIS_HIDDEN))
		return diag_error(d, "metric '%s': '!' cannot go with '.', '%%' or '+'", word);
	if (!k->vis)
		k->vis = VIS_TIME;
	if (!k->nflavors)
		default_flavors(kind, k);
	for (size_t i = 0; i < k->nflavors; i++) {
		if (!flavor_allowed(kind, k->flavors[i]))
			return diag_error(d, "metric '%s': no '%c' metrics in this list", word,
					  flavor_letters[k->flavors[i]]);
	}
	return 0;
}

static void add_dynamic(struct metric_list *l, const struct keyword *k, const struct metric *m)
{
	for (size_t i = 0; i < k->nflavors; i++)
		metric_list_add(l, (struct metric_col){ .flavor = k->flavors[i], .metric = m,
						 .vis = vis_for(m, k->vis) });
}

static bool add_static(struct metric_list *l, const struct keyword *k)
{
	for (size_t i = 0; i < NSTATICS; i++) {
		if (strcmp(k->name, static_rows[i].name))
			continue;
		metric_list_add(l, (struct metric_col){ .flavor = FLAVOR_STATIC,
							.stat = i,
							.vis = k->vis & VIS_HIDDEN ? VIS_HIDDEN
										   : VIS_VALUE });
		return true;
	}
	return false;
}

int metric_list_add_word(const struct metric_set *ms, enum list_kind kind, const char *word,
			 struct diag *d, struct metric_list *l)
{
	struct keyword k;
	const struct metric *named;
	bool any, hwc, found = false;

	take_apart(word, &k);
	if (!k.nflavors && add_static(l, &k))
		return 0;
	if (check(kind, &k, word, d) < 0)
		return -1;
	any = !strcmp(k.name, "any");
	hwc = !strcmp(k.name, "hwc");
	vec_for_each(m, &ms->all) {
		if ((any || (hwc && m->tag >= 0)) &&
		    (kind != LIST_DATA || metric_has_addresses(m))) {
			add_dynamic(l, &k, m);
			found = true;
		}
	}
	if (found)
		return 0;
	named = metric_find(ms, k.name);
	if (!named)
		return diag_error(d, "metric '%s': no data of that name was recorded; metric_list lists what was",
				  word);
	if (kind == LIST_DATA && !metric_has_addresses(named))
		return diag_error(d, "metric '%s': was recorded without data addresses", word);
	add_dynamic(l, &k, named);
	return 0;
}

static void end_with_name(struct metric_list *l)
{
	metric_list_add(l, (struct metric_col){ .flavor = FLAVOR_STATIC, .stat = STATIC_NAME,
					 .vis = VIS_VALUE });
}

int metric_list_parse(const struct metric_set *ms, enum list_kind kind, const char *spec,
		      struct diag *d, struct metric_list *ret)
{
	__cleanup(freep) char *copy = xstrdup(spec);
	struct metric_list l = { 0 };
	char *rest = copy, *word;

	if (!strcmp(spec, "default")) {
		metric_list_default(ms, kind, &l);
	} else {
		while ((word = strsep(&rest, ":"))) {
			if (metric_list_add_word(ms, kind, word, d, &l) < 0) {
				metric_list_free(&l);
				return -1;
			}
		}
		end_with_name(&l);
	}
	metric_list_free(ret);
	*ret = l;
	return 0;
}

void metric_list_callers(const struct metric_list *funcs, struct metric_list *ret)
{
	*ret = (struct metric_list){ 0 };
	vec_for_each(c, &funcs->cols) {
		struct metric_col attr = *c;

		if (c->flavor != FLAVOR_STATIC) {
			attr.flavor = FLAVOR_ATTR;
			attr.vis = 0;
			vec_for_each(o, &funcs->cols)
				attr.vis |= o->metric == c->metric && !(o->vis & VIS_HIDDEN) ?
						    o->vis : 0;
			attr.vis = attr.vis ? attr.vis : VIS_HIDDEN;
			metric_list_add(ret, attr);
		}
		metric_list_add(ret, *c);
	}
	end_with_name(ret);
}

/* Derive a list: the metrics in one flavor, and the name. */
static void follow(const struct metric_list *funcs, enum flavor flavor, struct metric_list *ret)
{
	*ret = (struct metric_list){ 0 };
	vec_for_each(c, &funcs->cols) {
		struct metric_col col = *c;

		if (c->flavor == FLAVOR_STATIC && c->stat != STATIC_NAME)
			continue;
		if (flavor == FLAVOR_DATA && c->metric && !metric_has_addresses(c->metric))
			continue;
		if (c->flavor != FLAVOR_STATIC)
			col.flavor = flavor;
		metric_list_add(ret, col);
	}
	end_with_name(ret);
}

void metric_list_index(const struct metric_list *funcs, struct metric_list *ret)
{
	follow(funcs, FLAVOR_EXCL, ret);
}

void metric_list_data(const struct metric_list *funcs, struct metric_list *ret)
{
	follow(funcs, FLAVOR_DATA, ret);
}

bool metric_has_addresses(const struct metric *m)
{
	return m->kind == ER_PKT_MHWC;
}

static void print_col(const struct metric_col *c, char vis, struct buf *b)
{
	if (c->flavor == FLAVOR_STATIC) {
		buf_printf(b, "%s%s", c->vis & VIS_HIDDEN ? "!" : "", static_rows[c->stat].name);
		return;
	}
	buf_printf(b, "%c%c%s", flavor_letters[c->flavor], vis, c->metric->name);
}

static void col_print(const struct metric_col *c, struct buf *b)
{
	static const struct {
		unsigned bit;
		char letter;
	} order[] = { { VIS_TIME, '.' }, { VIS_VALUE, '+' }, { VIS_PERCENT, '%' },
		      { VIS_HIDDEN, '!' } };
	const char *sep = "";

	if (c->flavor == FLAVOR_STATIC) {
		print_col(c, 0, b);
		return;
	}
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (!(c->vis & order[i].bit))
			continue;
		buf_puts(b, sep);
		print_col(c, order[i].letter, b);
		sep = ":";
	}
}

void metric_list_print(const struct metric_list *l, struct buf *b)
{
	const char *sep = "";

	vec_for_each(c, &l->cols) {
		buf_puts(b, sep);
		col_print(c, b);
		sep = ":";
	}
}

void metric_list_free(struct metric_list *l)
{
	vec_free(&l->cols);
}

/* --- sorting --- */

/* Callers and callees are sorted by attributed values. */
static bool sorts(enum list_kind kind, enum flavor f)
{
	return flavor_allowed(kind, f) &&
	       (kind != LIST_CALLERS || f == FLAVOR_ATTR || f == FLAVOR_STATIC);
}

/* Find the column that a keyword means; hidden ones only with "!". */
static bool sort_match(const struct metric_set *ms, const struct metric_list *l,
		       enum list_kind kind, const struct keyword *k, struct metric_sort *ret)
{
	const struct metric *m = metric_find(ms, k->name);
	struct keyword all = *k;
	struct metric_list wanted = { 0 };
	bool found = false;

	if (!k->nflavors)
		default_flavors(kind, &all);
	if (!k->nflavors && add_static(&wanted, k))
		; /* handled below */
	else if (m)
		add_dynamic(&wanted, &all, m);
	vec_for_each(w, &wanted.cols) {
		if (found || !sorts(kind, w->flavor))
			continue;
		ret->col = *w;
		found = k->vis & VIS_HIDDEN;
		vec_for_each(c, &l->cols) {
			if (!same_col(c, w) || (c->vis & VIS_HIDDEN && !(k->vis & VIS_HIDDEN)))
				continue;
			ret->col = *c;
			found = true;
		}
	}
	metric_list_free(&wanted);
	return found;
}

/* `any` and `hwc`: the first shown column of the first flavor that has one. */
static bool sort_any(const struct metric_list *l, enum list_kind kind, const struct keyword *k,
		     struct metric_sort *ret)
{
	bool hwc = !strcmp(k->name, "hwc");

	for (size_t i = 0; i < k->nflavors; i++) {
		vec_for_each(c, &l->cols) {
			if (!c->metric || c->flavor != k->flavors[i] || !sorts(kind, c->flavor) ||
			    (hwc && c->metric->tag < 0) ||
			    (c->vis & VIS_HIDDEN && !(k->vis & VIS_HIDDEN)))
				continue;
			ret->col = *c;
			return true;
		}
	}
	return false;
}

bool metric_sort_word(const struct metric_set *ms, const struct metric_list *l, enum list_kind kind,
		      const char *word, struct metric_sort *ret)
{
	struct metric_sort found = { .reverse = word[0] == '-' };
	struct keyword k;
	bool ok;

	take_apart(word + found.reverse, &k);
	if (strcmp(k.name, "any") && strcmp(k.name, "hwc")) {
		ok = sort_match(ms, l, kind, &k, &found);
	} else {
		if (!k.nflavors)
			default_flavors(kind, &k);
		ok = sort_any(l, kind, &k, &found);
	}
	if (ok)
		*ret = found;
	return ok;
}

int metric_sort_parse(const struct metric_set *ms, const struct metric_list *l, enum list_kind kind,
		      const char *spec, struct diag *d, struct metric_sort *ret)
{
	bool reverse = spec[0] == '-';
	__cleanup(freep) char *copy = xstrdup(spec + reverse);
	char *rest = copy, *word;

	if (!strcmp(copy, "default")) {
		metric_sort_default(ms, l, kind, ret);
		ret->reverse ^= reverse;
		return 0;
	}
	while ((word = strsep(&rest, ":"))) {
		if (metric_sort_word(ms, l, kind, word, ret)) {
			ret->reverse ^= reverse;
			return 0;
		}
	}
	diag_warn(d, "sort '%s': no such metric is shown, metrics chooses them; the order stays as "
		     "it was", spec);
	return -1;
}

void metric_sort_callers(const struct metric_sort *funcs, struct metric_sort *ret)
{
	*ret = *funcs;
	if (ret->col.flavor != FLAVOR_STATIC)
		ret->col.flavor = FLAVOR_ATTR;
}

void metric_sort_print(const struct metric_sort *s, struct buf *b)
{
	if (s->reverse)
		buf_puts(b, "-");
	col_print(&s->col, b);
}

void metric_sort_describe(const struct metric_sort *s, struct buf *b)
{
	static const char *const words[] = { "", "Exclusive ", "Inclusive ", "Attributed ",
					     "Data " };

	buf_printf(b, "%s%s%s", s->reverse ? "-" : "", words[s->col.flavor],
		   s->col.flavor == FLAVOR_STATIC ? static_rows[s->col.stat].uname :
						    s->col.metric->uname);
}
