/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file for speedscope (speedscope.app/file-format-schema.json): a profile of all threads, then
 * one of each thread, the largest first. Samples with the same stack are added up, because
 * speedscope gets slow with some hundred thousand samples. The samples are therefore not in order
 * of time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/json.h"
#include "analysis/base/map.h"
#include "analysis/base/wrap.h"
#include "analysis/export/export.h"
#include "analysis/export/gather.h"
#include "analysis/export/outfile.h"
#include "analysis/export/rootname.h"
#include "analysis/metrics/tally.h"
#include "analysis/model/names.h"
#include "analysis/views/columns.h"

struct speedscope {
	const struct export *x;
	struct outfile *out;
	struct map funcs;     /* function id, to 1 + index of its frame */
	struct strtab roots;  /* names of roots */
	VEC(uint32_t) root_frames; /* by id of the name: index of its frame */
	size_t nframes;
	struct buf frames, name;
	VEC(uint32_t) path;
};

/* Buckets of one thread. */
struct part {
	size_t first, n;
	int64_t value;
};

typedef VEC(struct part) part_vec;

/* --- frames --- */

static size_t new_frame(struct speedscope *s, const char *name, const char *file)
{
	buf_puts(&s->frames, s->nframes ? ",\n{\"name\":" : "\n{\"name\":");
	json_put_string(&s->frames, name);
	if (file) {
		buf_puts(&s->frames, ",\"file\":");
		json_put_string(&s->frames, file);
	}
	buf_puts(&s->frames, "}");
	return s->nframes++;
}

/* One frame for each function: speedscope adds up by frames, not by names. */
static size_t function_frame(struct speedscope *s, uint32_t id)
{
	uint64_t *at = map_put(&s->funcs, id, NULL);
	const struct func *f = s->x->view->session->funcs.data[id];

	if (!*at)
		*at = 1 + new_frame(s, func_name(s->x->view, f), f->obj->path);
	return *at - 1;
}

/* The frame for the root of a bucket. False: it has no root. */
static bool root_frame(struct speedscope *s, const struct bucket_key *k, size_t *ret)
{
	uint32_t id;

	buf_clear(&s->name);
	root_put(s->x, k, &s->name);
	if (!s->name.len)
		return false;
	id = strtab_id(&s->roots, s->name.data);
	if (id == s->root_frames.len)
		vec_push(&s->root_frames, new_frame(s, s->name.data, NULL));
	*ret = s->root_frames.data[id];
	return true;
}

/* "[root,…,leaf]" */
static void put_stack(struct speedscope *s, const struct bucket_key *k)
{
	struct session *session = s->x->view->session;
	struct buf *b = &s->out->buf;
	const char *before = "[";
	size_t root;
	uint32_t n;

	vec_reserve(&s->path, session->stacks.data[k->stack].n);
	n = shown_path(session, k->stack, s->path.data, NULL);
	if (root_frame(s, k, &root)) {
		buf_printf(b, "[%zu", root);
		before = ",";
	}
	for (; n > 0; before = ",")
		buf_printf(b, "%s%zu", before, function_frame(s, s->path.data[--n]));
	buf_puts(b, *before == '[' ? "[]" : "]");
}

/* --- profiles --- */

static const char *unit_of(const struct metric *m)
{
	if (m->unit == UNIT_TIME)
		return "nanoseconds";
	return m->unit == UNIT_BYTES ? "bytes" : "none";
}

static void put_profile(struct speedscope *s, const char *name, const struct gathered *g,
			const struct part *part)
{
	struct buf *b = &s->out->buf;
	const struct bucket *buckets = &g->buckets.data[part->first];
	const char *before = "";

	buf_puts(b, "{\"type\":\"sampled\",\"name\":");
	json_put_string(b, name);
	buf_printf(b, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRId64 ",\n\"samples\":[",
		   unit_of(s->x->metric), part->value);
	for (size_t i = 0; i < part->n; i++) {
		if (!buckets[i].value)
			continue;
		buf_puts(b, before);
		put_stack(s, &buckets[i].key);
		outfile_flush(s->out, 1 << 16);
		before = ",";
	}
	buf_puts(b, "],\n\"weights\":[");
	before = "";
	for (size_t i = 0; i < part->n; i++) {
		if (!buckets[i].value)
			continue;
		buf_printf(b, "%s%" PRId64, before, buckets[i].value);
		outfile_flush(s->out, 1 << 16);
		before = ",";
	}
	buf_puts(b, "]}");
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_thread(const void *pa, const void *pb)
{
	const struct bucket *a = pa, *b = pb;
	int by = compare(a->key.origin->id, b->key.origin->id);

	by = by ? by : compare(a->key.pid, b->key.pid);
	by = by ? by : compare(a->key.tid, b->key.tid);
	return by ? by : compare(a->key.stack, b->key.stack);
}

static bool same_thread(const struct bucket_key *a, const struct bucket_key *b)
{
	return a->origin == b->origin && a->pid == b->pid && a->tid == b->tid;
}

static int by_value(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	return compare(a->first, b->first);
}

static void split_threads(struct gathered *g, part_vec *ret)
{
	vec_sort(&g->buckets, by_thread);
	for (size_t i = 0; i < g->buckets.len; i++) {
		const struct bucket *b = &g->buckets.data[i];

		if (!i || !same_thread(&b->key, &b[-1].key))
			vec_push(ret, (struct part){ .first = i });
		ret->data[ret->len - 1].n++;
		add_to(&ret->data[ret->len - 1].value, b->value);
	}
	vec_sort(ret, by_value);
}

static void put_all(struct speedscope *s, const struct gathered *g)
{
	struct part all = { .n = g->buckets.len };

	vec_for_each(b, &g->buckets)
		add_to(&all.value, b->value);
	put_profile(s, "All threads", g, &all);
}

static void put_threads(struct speedscope *s, struct gathered *g)
{
	const struct names *names = session_names(s->x->view->session);
	struct buf name = { 0 };
	part_vec parts = { 0 };

	split_threads(g, &parts);
	vec_for_each(part, &parts) {
		const struct bucket_key *k = &g->buckets.data[part->first].key;

		if (!part->value)
			continue;
		buf_clear(&name);
		names_put_thread(names, k->origin, k->pid, 0, k->tid, &name);
		buf_puts(&s->out->buf, ",\n");
		put_profile(s, name.data, g, part);
	}
	vec_free(&parts);
	buf_free(&name);
}

static void put_file(struct speedscope *s, const struct gathered *all, struct gathered *threads)
{
	struct buf *b = &s->out->buf;

	buf_puts(b, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		    "\"exporter\":\"er_export " ER_VERSION "\",\n\"name\":");
	json_put_string(b, s->x->view->session->experiments.data[0]->name);
	buf_puts(b, ",\n\"activeProfileIndex\":0,\n\"profiles\":[");
	put_all(s, all);
	put_threads(s, threads);
	buf_puts(b, "],\n\"shared\":{\"frames\":[");
	buf_add(b, s->frames.data, s->frames.len);
	buf_puts(b, "]}}\n");
}

static int speedscope_write(const struct export *x, struct outfile *out)
{
	struct speedscope s = { .x = x, .out = out };
	struct gathered all, threads;

	if (gather(x, root_by(x->root), &all))
		return -1;
	if (gather(x, root_by(x->root) | BY_THREAD, &threads)) {
		gathered_free(&all);
		return -1;
	}
	put_file(&s, &all, &threads);
	gathered_free(&all);
	gathered_free(&threads);
	map_free(&s.funcs);
	strtab_free(&s.roots);
	vec_free(&s.root_frames);
	buf_free(&s.frames);
	buf_free(&s.name);
	vec_free(&s.path);
	return 0;
}

const struct exporter speedscope_exporter = {
	.name = "speedscope", .suffix = ".speedscope.json", .weighted = true,
	.write = speedscope_write, .help = "stacks of all threads and of each, for speedscope.app",
};
