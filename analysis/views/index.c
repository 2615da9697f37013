/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists by what a packet belongs to. Each list is a row: how the key is taken
 * from a packet and how it is named. Process and thread ids are the system's
 * own; in a kernel experiment a kernel thread has process id 0 (K-036), and
 * counts as a process of its own.
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/metrics/pass.h"
#include "analysis/model/intern.h"
#include "analysis/views/functions.h"
#include "analysis/model/names.h"

struct key {
	const struct experiment *e; /* the founder, or where it matters the experiment */
	int64_t a, b;
};

struct index_desc {
	const char *name, *title;
	struct key (*key)(const struct hit *h);
	void (*label)(const struct names *n, const struct key *k, struct buf *b);
};

struct index_tally {
	const struct index_desc *desc;
	size_t nmetrics;
	struct intern ids;
	VEC(struct key) keys;
	VEC(int64_t) values; /* keys × nmetrics */
	int64_t *total;
};

static const struct experiment *founder_of(const struct hit *h)
{
	return h->e->founder ? h->e->founder : h->e;
}

static struct key thread_key(const struct hit *h)
{
	return (struct key){ founder_of(h), hit_pid(h), hit_thread(h) };
}

static struct key process_key(const struct hit *h)
{
	int64_t pid = hit_pid(h);

	return (struct key){ founder_of(h), pid, pid ? 0 : hit_thread(h) };
}

static struct key cpu_key(const struct hit *h)
{
	return (struct key){ NULL, hit_cpu(h), 0 };
}

static struct key sample_key(const struct hit *h)
{
	return (struct key){ NULL, hit_sample(h), 0 };
}

static struct key second_key(const struct hit *h)
{
	int64_t second = hit_time(h) / 1000000000;

	return (struct key){ NULL, second - (hit_time(h) < 0), 0 };
}

static struct key experiment_key(const struct hit *h)
{
	return (struct key){ h->e, h->e->id, 0 };
}

static void thread_label(const struct names *n, const struct key *k, struct buf *b)
{
	names_put_thread(n, k->e, k->a, k->b, b);
}

static void process_label(const struct names *n, const struct key *k, struct buf *b)
{
	names_put_process(n, k->e, k->a, k->a ? 0 : k->b, b);
}

static void cpu_label(const struct names *n, const struct key *k, struct buf *b)
{
	if (k->a < 0)
		buf_puts(b, "<Unknown>");
	else
		buf_printf(b, "CPU %" PRId64, k->a);
}

static void sample_label(const struct names *n, const struct key *k, struct buf *b)
{
	if (k->a < 0)
		buf_puts(b, "<Unknown>");
	else
		buf_printf(b, "Sample %" PRId64, k->a);
}

static void second_label(const struct names *n, const struct key *k, struct buf *b)
{
	buf_printf(b, "Second of execution %" PRId64, k->a);
}

static void experiment_label(const struct names *n, const struct key *k, struct buf *b)
{
	buf_printf(b, "%u %s", k->e->id, k->e->path);
	if (k->e->pid)
		buf_printf(b, ", PID %" PRId64, k->e->pid);
	if (*k->e->process)
		buf_printf(b, ", %s", k->e->process);
}

static const struct index_desc descs[] = {
	[INDEX_THREADS] = { "threads", "Threads", thread_key, thread_label },
	[INDEX_PROCESSES] = { "processes", "Processes", process_key, process_label },
	[INDEX_CPUS] = { "cpus", "CPUs", cpu_key, cpu_label },
	[INDEX_SAMPLES] = { "samples", "Samples", sample_key, sample_label },
	[INDEX_SECONDS] = { "seconds", "Seconds", second_key, second_label },
	[INDEX_EXPERIMENTS] = { "experiments", "Experiments", experiment_key, experiment_label },
};

static size_t key_index(struct index_tally *it, const struct key *k)
{
	uint64_t hash = hash64((uintptr_t)k->e ^ hash64(k->a + hash64(k->b)));
	struct intern_probe probe = intern_probe(hash);
	uint32_t id1;

	while ((id1 = intern_next(&it->ids, &probe))) {
		const struct key *have = &it->keys.data[id1 - 1];

		if (have->e == k->e && have->a == k->a && have->b == k->b)
			return id1 - 1;
	}
	vec_push(&it->keys, *k);
	for (size_t i = 0; i < it->nmetrics; i++)
		vec_push(&it->values, 0);
	return intern_add(&it->ids, hash);
}

static void add_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct index_tally *it = ctx;
	struct key k = it->desc->key(h);
	size_t at = key_index(it, &k) * it->nmetrics;

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

static void add_row(struct view_state *v, struct table *t, const char *name, const int64_t *values,
		    const int64_t *total)
{
	columns_fill(table_row(t), &v->imetrics,
		     &(struct values){ .excl = values, .whole = total, .name = name });
}

static void add_rows(struct view_state *v, struct table *t, struct index_tally *it,
		     const struct names *names)
{
	ranked_vec rows = { 0 };
	struct buf label = { 0 };

	for (size_t i = 0; i < it->keys.len; i++) {
		const int64_t *values = &it->values.data[i * it->nmetrics];

		if (!listed(&v->imetrics, values))
			continue;
		buf_clear(&label);
		it->desc->label(names, &it->keys.data[i], &label);
		vec_push(&rows, (struct ranked){
			.excl = values, .incl = values, .attr = values,
			.name = arena_strdup(&t->arena, label.data),
			.order = it->keys.data[i].a ? it->keys.data[i].a : it->keys.data[i].b,
			.by_order = true, .sort = &v->isort });
	}
	vec_sort(&rows, ranked_cmp);
	add_row(v, t, "<Total>", it->total, it->total);
	for (size_t i = 0; i < rows.len && (!v->limit || i + 1 < v->limit); i++)
		add_row(v, t, rows.data[i].name, rows.data[i].excl, it->total);
	vec_free(&rows);
	buf_free(&label);
}

int view_index(struct view_state *v, enum index_kind kind, struct table *t, struct diag *d)
{
	struct index_tally it = { .desc = &descs[kind], .nmetrics = metric_set_width(v->metric_set) };
	struct names names;
	struct buf title = { 0 };

	t->name = it.desc->name;
	buf_printf(&title, "%s sorted by metric: ", it.desc->title);
	metric_sort_describe(&v->isort, &title);
	t->title = arena_strdup(&t->arena, title.data);
	buf_free(&title);
	columns_add(t, &v->imetrics, &v->isort);
	it.total = xcalloc(it.nmetrics, sizeof(*it.total));
	names_init(&names, v->session);
	pass_run(v->session, v->metric_set, v->filter, add_hit, NULL, &it);
	add_rows(v, t, &it, &names);
	names_free(&names);
	intern_free(&it.ids);
	vec_free(&it.keys);
	vec_free(&it.values);
	free(it.total);
	return 0;
}
