/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of the objects that packets belong to: index objects and memory objects. The type's
 * expression gives a packet's object. Threads, processes and experiments need more than one
 * number to be told apart, so their lists have keys of their own. Process and thread ids are the
 * system's. In a kernel experiment a kernel thread has process id 0 and counts as a process of
 * its own. Threads that the recorder folded are one row, and in a list of processes so are processes
 * whose main threads it folded, if it also added up their packets. With a filter each has its own row,
 * so that no row shows a part of a fold under the name of the whole.
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/intern.h"
#include "analysis/metrics/pass.h"
#include "analysis/views/functions.h"
#include "analysis/views/index.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_numbers.h"
#include "analysis/metrics/filter.h"
#include "analysis/metrics/hit.h"
#include "analysis/model/names.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

struct index_tally {
	const struct index_spec *spec;
	struct filter *index;
	const struct exp_fold *(*fold)(const struct hit *h); /* whose members are one row; NULL: none are */
	const struct session *session;
	const struct experiment *ends; /* samples: the origin of their times; NULL: there are several */
	size_t nmetrics;
	struct intern ids;
	struct strtab texts;           /* the texts whose ids are the keys of a text index */
	VEC(struct index_key) keys;
	VEC(struct experiment *) seen_in; /* by key: an experiment that has a packet with it */
	VEC(int64_t) values; /* keys × nmetrics */
	int64_t *total;
};

/* A thread is the same in segments that are compared. */
static const struct experiment *recording_of(const struct hit *h)
{
	const struct experiment *origin = hit_origin(h);

	return origin == h->e->origin ? h->e->recording : origin;
}

static struct index_key thread_key(const struct hit *h)
{
	return (struct index_key){ .e = recording_of(h), .a = hit_pid(h), .b = hit_thread(h),
				   .serial = hit_serial(h) };
}

static struct index_key process_key(const struct hit *h)
{
	int64_t pid = hit_pid(h);

	return (struct index_key){ .e = recording_of(h), .a = pid, .b = pid ? 0 : hit_thread(h),
				   .serial = hit_serial(h) };
}

/* Other times of all processes are one row. */
static struct index_key goroutine_key(const struct hit *h)
{
	int64_t number = hit_goroutine(h);

	if (!number)
		return (struct index_key){ .a = -1 };
	return (struct index_key){ .e = recording_of(h), .a = hit_pid(h), .b = number, .serial = hit_serial(h) };
}

static struct index_key experiment_key(const struct hit *h)
{
	return (struct index_key){ .e = h->e, .a = h->e->id };
}

static void thread_label(const struct names *n, const struct index_key *k, struct buf *b)
{
	if (k->fold)
		fold_put_name(k->fold, b);
	else
		names_put_thread(n, k->e, k->a, k->serial, k->b, b);
}

static void process_label(const struct names *n, const struct index_key *k, struct buf *b)
{
	if (k->fold)
		fold_put_name(k->fold, b);
	else
		names_put_process(n, k->e, k->a, k->serial, k->a ? 0 : k->b, b);
}

static void goroutine_label(const struct names *n, const struct index_key *k, struct buf *b)
{
	if (!k->e) {
		buf_puts(b, "<no goroutine>");
		return;
	}
	buf_printf(b, "goroutine %" PRIu64 ", ", (uint64_t)k->b);
	names_put_process(n, k->e, k->a, k->serial, 0, b);
}

static void experiment_label(const struct names *n, const struct index_key *k, struct buf *b)
{
	buf_printf(b, "%u %s", k->e->id, k->e->path);
	if (k->e->pid)
		buf_printf(b, ", PID %" PRId64, k->e->pid);
	if (*k->e->process)
		buf_printf(b, ", %s", k->e->process);
}

static const struct index_special specials[] = {
	{ "Threads", thread_key, thread_label, hit_fold },
	{ "Processes", process_key, process_label, hit_process_fold },
	{ "Goroutines", goroutine_key, goroutine_label, NULL },
	{ "Experiment_IDs", experiment_key, experiment_label, NULL },
};

static bool lists_threads(const struct index_spec *spec)
{
	return spec->special && spec->special->key == thread_key;
}

static const struct index_special *special_of(const struct objtype *type)
{
	for (size_t i = 0; type->builtin && i < sizeof(specials) / sizeof(specials[0]); i++) {
		if (!strcmp(specials[i].type, type->name))
			return &specials[i];
	}
	return NULL;
}

int64_t index_value(struct filter *index, struct strtab *texts, const struct hit *h)
{
	struct value v;

	if (filter_is_text(index)) {
		const char *text = filter_string(index, h);

		return text ? (int64_t)strtab_id(texts, text) : -1;
	}
	v = filter_value(index, h);
	return v.known ? v.i : -1;
}

void index_put_value(struct filter *index, const struct objtype *type, const struct strtab *texts,
		     struct experiment *seen_in, int64_t value, struct buf *b)
{
	const struct enumeration *values = filter_values(index);
	const char *name = values ? values->name(seen_in, value) : NULL;

	if (name)
		buf_puts(b, name);
	else if (value == -1)
		buf_puts(b, "<Unknown>");
	else if (filter_is_text(index))
		buf_puts(b, *texts->strings[value] ? texts->strings[value] : "<no name>");
	else
		index_put_label(type, value, b);
}

/* Append the number that filters and selections take, if it differs from the system's id. */
static void put_number(struct experiment *e, int64_t tid, struct buf *b)
{
	int64_t n = e->system_wide ? tid : experiment_thread_number(e, tid);

	if (n != tid)
		buf_printf(b, ", thread %" PRId64, n);
}

static void put_label(const struct index_tally *it, const struct names *names, size_t i,
		      struct buf *b)
{
	const struct index_key *k = &it->keys.data[i];

	if (it->spec->special)
		it->spec->special->label(names, k, b);
	else
		index_put_value(it->index, it->spec->type, &it->texts, it->seen_in.data[i], k->a, b);
	if (it->ends && k->a != -1)
		index_put_sample(it->session, it->ends, k->a, b);
	if (lists_threads(it->spec) && !k->fold)
		put_number(it->seen_in.data[i], k->b, b);
}

static size_t key_index(struct index_tally *it, const struct index_key *k,
			struct experiment *e)
{
	uint64_t hash = hash64((uintptr_t)k->e ^ (uintptr_t)k->fold ^
			       hash64(k->a + hash64(k->b + k->serial)));
	struct intern_probe probe = intern_probe(hash);
	uint32_t id1;

	while ((id1 = intern_next(&it->ids, &probe))) {
		const struct index_key *have = &it->keys.data[id1 - 1];

		if (have->e == k->e && have->a == k->a && have->b == k->b &&
		    have->serial == k->serial && have->fold == k->fold)
			return id1 - 1;
	}
	vec_push(&it->keys, *k);
	vec_push(&it->seen_in, e);
	for (size_t i = 0; i < it->nmetrics; i++)
		vec_push(&it->values, 0);
	return intern_add(&it->ids, hash);
}

static struct index_key key_of(struct index_tally *it, const struct hit *h)
{
	const struct exp_fold *fold = it->fold ? it->fold(h) : NULL;

	if (fold)
		return (struct index_key){ .e = h->e->recording,
					   .fold = folded_whole(&session_names(h->session)->folded, fold) };
	if (it->spec->special)
		return it->spec->special->key(h);
	return (struct index_key){ .a = index_value(it->index, &it->texts, h) };
}

static void add_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct index_tally *it = ctx;
	struct index_key k;
	size_t at;

	if (it->spec->only && h->stream->kind != it->spec->only)
		return;
	k = key_of(it, h);
	at = key_index(it, &k, h->e) * it->nmetrics;
	for (size_t i = 0; i < n; i++) {
		add_to(&it->values.data[at + amounts[i].metric], amounts[i].value);
		add_to(&it->total[amounts[i].metric], amounts[i].value);
	}
}

static bool listed(const struct metric_list *l, const int64_t *values)
{
	vec_for_each(c, &l->cols) {
		if (c->metric && values[c->metric->id])
			return true;
	}
	return false;
}

static void add_row(const struct metric_list *l, struct table *t, const char *name,
		    const int64_t *values, const int64_t *total)
{
	columns_fill(table_row(t), l,
		     &(struct values){ .excl = values, .whole = total, .name = name });
}

/* Whether names sort as numbers: second 2 before second 10. */
static bool by_number(const struct index_tally *it, const struct metric_sort *sort)
{
	bool name = sort->col.flavor == FLAVOR_STATIC;

	return !name ||
	       !(it->spec->special || filter_is_text(it->index) || filter_values(it->index));
}

static void add_rows(struct view_state *v, struct table *t, struct index_tally *it,
		     const struct names *names)
{
	const struct metric_list *l = it->spec->metrics;
	const struct metric_sort *sort = it->spec->sort;
	ranked_vec rows = { 0 };
	struct buf label = { 0 };

	for (size_t i = 0; i < it->keys.len; i++) {
		const int64_t *values = &it->values.data[i * it->nmetrics];

		if (!listed(l, values))
			continue;
		buf_clear(&label);
		put_label(it, names, i, &label);
		vec_push(&rows, (struct ranked){
			.excl = values, .incl = values, .attr = values,
			.name = arena_strdup(&t->arena, label.data),
			.order = it->keys.data[i].a ? it->keys.data[i].a : it->keys.data[i].b,
			.by_order = by_number(it, sort) });
	}
	ranked_sort(rows.data, rows.len, sort);
	add_row(l, t, "<Total>", it->total, it->total);
	for (size_t i = 0; i < rows.len && (!v->limit || i + 1 < v->limit); i++)
		add_row(l, t, rows.data[i].name, rows.data[i].excl, it->total);
	vec_free(&rows);
	buf_free(&label);
}

static void put_title(const struct index_spec *spec, struct table *t)
{
	struct buf b = { 0 };

	t->name = spec->type->name;
	buf_printf(&b, "%s sorted by metric: ", spec->title ? spec->title : spec->type->name);
	metric_sort_describe(spec->sort, &b);
	t->title = arena_strdup(&t->arena, b.data);
	buf_free(&b);
}

static void tally_free_index(struct index_tally *it)
{
	filter_free(it->index);
	intern_free(&it->ids);
	strtab_free(&it->texts);
	vec_free(&it->keys);
	vec_free(&it->seen_in);
	vec_free(&it->values);
	free(it->total);
}

bool data_recorded(const struct session *s)
{
	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams) {
			if (st->kind == ER_PKT_MHWC)
				return true;
		}
	}
	return false;
}

/* The origin, if the list is one of samples and only one recording is open. */
static const struct experiment *sample_origin(const struct session *s, const struct objtype *type)
{
	const struct experiment *found = NULL;

	if (!type->builtin || strcmp(type->name, "Samples"))
		return NULL;
	vec_for_each(e, &s->experiments) {
		if (found && (*e)->origin != found)
			return NULL;
		found = (*e)->origin;
	}
	return found;
}

int index_print(struct view_state *v, const struct index_spec *spec, struct table *t,
		struct diag *d)
{
	struct index_tally it = { .spec = spec, .nmetrics = metric_set_width(v->metric_set),
				  .session = v->session };

	it.fold = spec->special && !v->filter ? spec->special->fold : NULL;
	it.ends = sample_origin(v->session, spec->type);
	it.index = filter_parse_index(v->session, &v->types, spec->type->text, d);
	if (!it.index)
		return -1;
	put_title(spec, t);
	columns_add(t, spec->metrics, spec->sort);
	it.total = xcalloc(it.nmetrics, sizeof(*it.total));
	pass_run(v->session, v->metric_set, v->filter, add_hit, NULL, &it);
	add_rows(v, t, &it, session_names(v->session));
	if (v->filter && !it.keys.len)
		put_excluded(t);
	tally_free_index(&it);
	return 0;
}

/* Types that tell kinds of waits apart. */
static bool is_of_waits(const struct objtype *type)
{
	return type->builtin && (!strcmp(type->name, "States") || !strcmp(type->name, "Reasons"));
}

/*
 * The default metrics are CPU time, which says nothing of waits. A list of waits has all time
 * instead, unless the user chose metrics. False: it was not recorded, or the user did.
 */
static bool metrics_of_waits(const struct view_state *v, struct metric_list *ret,
			     struct metric_sort *sort)
{
	struct metric_list funcs = { 0 }, usual = { 0 };
	struct diag quiet = { 0 };
	bool chosen, found;

	metric_list_default(v->metric_set, LIST_FUNCS, &funcs);
	metric_list_index(&funcs, &usual);
	chosen = !metric_list_same(&usual, &v->imetrics);
	found = !chosen && !metric_list_parse(v->metric_set, LIST_INDEX, "e.total:e%total:name",
					      &quiet, ret);
	if (found)
		metric_sort_default(v->metric_set, ret, LIST_INDEX, sort);
	metric_list_free(&funcs);
	metric_list_free(&usual);
	diag_free(&quiet);
	return found;
}

static int list_waits(struct view_state *v, struct index_spec *spec, struct table *t, struct diag *d)
{
	struct metric_list metrics = { 0 };
	struct metric_sort sort = { 0 };
	int ret;

	if (metrics_of_waits(v, &metrics, &sort)) {
		spec->metrics = &metrics;
		spec->sort = &sort;
	}
	ret = index_print(v, spec, t, d);
	metric_list_free(&metrics);
	return ret;
}

int view_index(struct view_state *v, const struct objtype *type, struct table *t, struct diag *d)
{
	struct index_spec spec = { .type = type, .special = special_of(type),
				   .metrics = &v->imetrics, .sort = &v->isort };

	if (is_of_waits(type))
		return list_waits(v, &spec, t, d);

	if (type->kind == OBJ_MEMORY) {
		spec.metrics = &v->dmetrics;
		spec.sort = &v->dsort;
		spec.only = ER_PKT_MHWC; /* packets of other kinds have no data address */
		if (!data_recorded(v->session))
			return diag_error(d, "%s: no counter was recorded with data addresses",
					  type->name);
	}
	return index_print(v, &spec, t, d);
}

static int list_types(const struct view_state *v, enum objkind kind, struct table *t)
{
	text_column(t, "Name");
	text_column(t, "Index expression");
	vec_for_each(o, &v->types.all) {
		struct row *r;

		if (o->kind != kind)
			continue;
		r = table_row(t);
		put_text(r, 0, o->name);
		put_text(r, 1, o->text);
	}
	return 0;
}

int view_indxobj_list(struct view_state *v, struct table *t, struct diag *d)
{
	t->name = "indxobj_list";
	return list_types(v, OBJ_INDEX, t);
}

int view_mobj_list(struct view_state *v, struct table *t, struct diag *d)
{
	t->name = "mobj_list";
	return list_types(v, OBJ_MEMORY, t);
}
