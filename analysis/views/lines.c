/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of lines and of pcs. Code without a line is one entry for each function. Code of an
 * object that does not show its functions is one entry for each object. Inlined code counts at
 * the line of the outermost call; where inlined calls have frames, it counts at the lines of
 * these. A pc always belongs to the function that contains its code.
 */
#include "analysis/metrics/code_tally.h"

#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/metrics/tally.h"
#include "analysis/model/source.h"
#include "analysis/views/functions.h"
#include "analysis/views/inlined.h"
#include "analysis/views/places.h"
#include "analysis/views/summary.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

enum { INLINED_AT = 40 }; /* column of the inlined calls at a pc */

struct entry {
	const struct func *func;
	bool whole;	    /* the entry covers the whole function or object */
	bool outlined;	    /* calls of the function's outlined code, which no instruction made */
	uint64_t offset;    /* of the pc */
	struct srcline src; /* line 0: none */
};

struct listing {
	struct view_state *v;
	struct table *t;
	enum place_kind kind;
	VEC(struct entry) entries; /* indexed by key */
	struct map keys;	   /* of lines and of functions: key + 1 */
};

static uint32_t known_key(struct listing *l, uint64_t hash, struct entry e)
{
	uint64_t *at = map_put(&l->keys, hash, NULL);

	if (!*at) {
		vec_push(&l->entries, e);
		*at = l->entries.len;
	}
	return *at - 1;
}

static uint32_t whole_key(struct listing *l, const struct func *f)
{
	return known_key(l, f->id + 1, (struct entry){ .func = f, .whole = true });
}

static uint32_t outlined_entry(struct listing *l, const struct func *f)
{
	struct entry e = { .func = f, .outlined = true };

	return known_key(l, 1ULL << 32 | f->id, e);
}

static uint32_t line_key(void *ctx, const struct frame *frame, const struct func *whole)
{
	struct listing *l = ctx;
	struct entry e = { .func = frame->func };
	uint64_t hash;

	if (!whole && frame->offset == FRAME_OUTLINED)
		return outlined_entry(l, e.func);
	if (whole || !frame_srcline(l->v->session, frame, &e.src))
		return whole_key(l, whole ? whole : e.func);
	hash = hash64((uintptr_t)e.src.file ^ hash64((uint64_t)e.func->id << 32 | e.src.line));
	return known_key(l, hash, e);
}

static uint32_t pc_key(void *ctx, const struct frame *frame, const struct func *whole)
{
	struct listing *l = ctx;
	struct entry e = { .func = frame->body, .offset = frame->offset };
	uint64_t hash = hash64(e.offset ^ hash64(2ULL << 32 | e.func->id));

	if (whole || e.func->flags & FUNC_PSEUDO)
		return whole_key(l, whole ? whole : e.func);
	if (frame->offset == FRAME_OUTLINED)
		return outlined_entry(l, e.func);
	if (!map_get(&l->keys, hash))
		func_srcline(l->v->session, e.func, e.offset, &e.src);
	return known_key(l, hash, e);
}

static void put_line_name(struct listing *l, struct buf *b, const struct entry *e)
{
	const char *label = func_label(l->v, e->func, l->t);

	if (e->src.line)
		buf_printf(b, "%s, line %u in \"%s\"", label, e->src.line,
			   base_name(e->src.file));
	else if (e->whole && e->func->obj->show != SHOW_ALL)
		buf_puts(b, label);
	else
		buf_printf(b, "<Function: %s, instructions without line numbers>", label);
}

static void put_pc_name(struct listing *l, struct buf *b, const struct entry *e)
{
	struct buf inlined = { 0 };

	buf_puts(b, func_label(l->v, e->func, l->t));
	if (e->whole)
		return;
	buf_printf(b, " + 0x%08llX", (unsigned long long)e->offset);
	if (e->src.line)
		buf_printf(b, ", line %u in \"%s\"", e->src.line, base_name(e->src.file));
	put_inlined(&inlined, l->v->session, e->func, e->offset);
	if (inlined.len) {
		while (b->len + 1 < INLINED_AT)
			buf_puts(b, " ");
		buf_puts(b, inlined.data);
	}
	buf_free(&inlined);
}

static const char *entry_name(struct listing *l, const struct entry *e)
{
	struct buf b = { 0 };
	const char *name;

	if (e->outlined)
		buf_printf(&b, "<Function: %s, inclusive metrics for outlined functions>",
			   func_label(l->v, e->func, l->t));
	else if (l->kind == PLACES_PCS)
		put_pc_name(l, &b, e);
	else
		put_line_name(l, &b, e);
	name = arena_strdup(&l->t->arena, b.data);
	buf_free(&b);
	return name;
}

/* Ranges of the line table that belong to the line: where the first begins, and bytes of all. */
static void line_extent(struct session *s, const struct entry *e, uint64_t *first, uint64_t *bytes)
{
	line_code_vec rows = { 0 };
	struct srcline at;

	*first = UINT64_MAX;
	*bytes = 0;
	func_lines(s, e->func, &rows);
	for (size_t i = 0; i < rows.len; i++) {
		uint64_t offset = rows.data[i].offset;
		uint64_t end = i + 1 < rows.len ? rows.data[i + 1].offset : e->func->size;

		if (end <= offset || !func_srcline(s, e->func, offset, &at) ||
		    at.file != e->src.file || at.line != e->src.line)
			continue;
		*bytes += end - offset;
		*first = offset < *first ? offset : *first;
	}
	vec_free(&rows);
	if (*first == UINT64_MAX)
		*first = 0;
}

/* A function with the extent of the entry, for the columns of size and address. */
static const struct func *entry_extent(struct listing *l, const struct entry *e)
{
	struct func *f = arena_alloc(&l->t->arena, sizeof(*f));
	uint64_t first = e->offset;

	*f = (struct func){ .obj = e->func->obj, .addr = e->func->addr, .name = "", .mangled = "" };
	if (e->func->flags & FUNC_PSEUDO)
		return f;
	if (l->kind == PLACES_LINES && e->src.line)
		line_extent(l->v->session, e, &first, &f->size);
	f->addr += first;
	return f;
}

static bool shows_extent(const struct view_state *v)
{
	vec_for_each (c, &v->metrics.cols) {
		if (!c->metric && c->stat != STATIC_NAME)
			return true;
	}
	return !v->sort.col.metric;
}

static struct ranked rank_entry(struct listing *l, const struct code_tally *p, size_t key, bool extent)
{
	const struct entry *e = &l->entries.data[key];

	return (struct ranked){ .func = extent ? entry_extent(l, e) : e->func,
				.excl = code_tally_excl(p, key),
				.incl = code_tally_incl(p, key),
				.name = entry_name(l, e),
				.order = key,
				.index = key };
}

/* List <Total>, then the entries that are not zero, in order, up to the limit. */
static void rank_all(struct listing *l, const struct code_tally *p, bool extent, ranked_vec *ret)
{
	const struct tally *tally = view_tally(l->v);
	const struct func *total = l->v->session->total;
	ranked_vec found = { 0 };

	for (size_t key = 0; key < p->nkeys; key++) {
		if (values_listed(&l->v->metrics, code_tally_incl(p, key)))
			vec_push(&found, rank_entry(l, p, key, extent));
	}
	ranked_sort(found.data, found.len, &l->v->sort);
	vec_push(ret, (struct ranked){ .func = total,
				       .excl = tally->total,
				       .incl = tally->total,
				       .name = func_label(l->v, total, l->t),
				       .index = SIZE_MAX });
	for (size_t i = 0; i < found.len && (!l->v->limit || ret->len < l->v->limit); i++)
		vec_push(ret, found.data[i]);
	vec_free(&found);
}

static void list_places(struct listing *l, struct code_tally *p, bool extent, ranked_vec *ret)
{
	code_tally_init(p, l->v->session, view_tally(l->v), l->kind == PLACES_PCS ? pc_key : line_key,
		    l);
	rank_all(l, p, extent, ret);
}

static void listing_free(struct listing *l, struct code_tally *p, ranked_vec *rows)
{
	code_tally_free(p);
	vec_free(rows);
	vec_free(&l->entries);
	map_free(&l->keys);
}

int view_places(struct view_state *v, enum place_kind kind, struct table *t, struct diag *d)
{
	struct listing l = { .v = v, .t = t, .kind = kind };
	struct buf title = { 0 };
	ranked_vec rows = { 0 };
	struct code_tally p;

	t->name = kind == PLACES_PCS ? "pcs" : "lines";
	buf_printf(&title, "%s sorted by metric: ", kind == PLACES_PCS ? "PCs" : "Lines");
	metric_sort_describe(&v->sort, &title);
	t->title = arena_strdup(&t->arena, title.data);
	buf_free(&title);
	columns_add(t, &v->metrics, &v->sort);
	list_places(&l, &p, shows_extent(v), &rows);
	vec_for_each (r, &rows) {
		struct values values = { .excl = r->excl,
					 .incl = r->incl,
					 .whole = view_tally(v)->total,
					 .func = r->func,
					 .name = r->name };

		columns_fill(table_row(t), &v->metrics, &values);
	}
	listing_free(&l, &p, &rows);
	return 0;
}

int view_places_summary(struct view_state *v, enum place_kind kind, struct table *t, struct diag *d)
{
	struct listing l = { .v = v, .t = t, .kind = kind };
	ranked_vec rows = { 0 };
	struct code_tally p;
	int group = 0;

	summary_columns(t);
	t->name = kind == PLACES_PCS ? "psummary" : "lsummary";
	list_places(&l, &p, true, &rows);
	vec_for_each (r, &rows) {
		const struct entry *e = r->index < l.entries.len ? &l.entries.data[r->index] : NULL;

		summary_put(v, t, group++,
			    &(struct summary_item){ .label = r->name,
						    .excl = r->excl,
						    .incl = r->incl,
						    .func = r->func,
						    .source = e && e->src.line ? e->src.file
										 : NULL });
	}
	listing_free(&l, &p, &rows);
	return 0;
}

/* --- entries without values --- */

struct place_list {
	struct listing l;
	struct table t; /* has the memory of names */
};

struct place_list *place_list_new(struct view_state *v, enum place_kind kind)
{
	struct place_list *ret = xcalloc(1, sizeof(*ret));

	ret->l = (struct listing){ .v = v, .t = &ret->t, .kind = kind };
	return ret;
}

uint32_t place_list_key(struct place_list *p, const struct frame *frame, const struct func *whole)
{
	return (p->l.kind == PLACES_PCS ? pc_key : line_key)(&p->l, frame, whole);
}

size_t place_list_len(const struct place_list *p)
{
	return p->l.entries.len;
}

const char *place_list_name(struct place_list *p, uint32_t key)
{
	return entry_name(&p->l, &p->l.entries.data[key]);
}

void place_list_free(struct place_list *p)
{
	vec_free(&p->l.entries);
	map_free(&p->l.keys);
	table_free(&p->t);
	free(p);
}
