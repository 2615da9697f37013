/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_objects.h"

#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/json.h"
#include "analysis/export/page_events.h"
#include "analysis/export/page_pack.h"
#include "analysis/metrics/filter.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/objtype.h"
#include "analysis/views/index.h"
#include "analysis/views/view_state.h"

static void add_types(struct page_objects *po, struct view_state *v, enum objkind kind)
{
	struct diag quiet = { 0 };

	vec_for_each(t, &v->types.all) {
		struct filter *expr;

		/* The page has built-in index objects of its own. */
		if (t->kind != kind || (kind == OBJ_INDEX && t->builtin))
			continue;
		expr = filter_parse_index(v->session, &v->types, t->text, &quiet);
		if (expr)
			vec_push(&po->types, (struct page_objtype){ .type = t, .expr = expr });
	}
	diag_free(&quiet);
}

void page_objects_init(struct page_objects *po, struct view_state *v)
{
	add_types(po, v, OBJ_INDEX);
	po->nindex = po->types.len;
	if (data_recorded(v->session))
		add_types(po, v, OBJ_MEMORY);
}

static bool is_known(struct page_objtype *t, const struct hit *h)
{
	return filter_is_text(t->expr) ? filter_string(t->expr, h) != NULL : filter_value(t->expr, h).known;
}

static uint32_t value_of(struct page_objtype *t, const struct hit *h)
{
	int64_t value = index_value(t->expr, &t->texts, h);
	bool fresh;
	uint64_t *at = map_put(&t->ids, (uint64_t)value, &fresh);

	if (value == -1 && is_known(t, h))
		t->some_minus = true;
	else if (value == -1)
		t->some_unknown = true;
	if (fresh) {
		vec_push(&t->values, value);
		vec_push(&t->seen_in, h->e);
		*at = t->values.len;
	}
	return *at;
}

/* Types of memory objects list packets with addresses only, but a filter by them would also pass other packets. */
static void look_elsewhere(struct page_objects *po, const struct hit *h)
{
	for (size_t i = po->nindex; i < po->types.len; i++) {
		struct page_objtype *t = &po->types.data[i];

		if (!t->type->builtin && !t->elsewhere)
			t->elsewhere = is_known(t, h);
	}
}

uint32_t page_objects_of(struct page_objects *po, const struct hit *h)
{
	/* Only these packets have addresses of data. */
	size_t napply = h->stream->kind == ER_PKT_MHWC ? po->types.len : po->nindex;
	size_t from = po->tuples.len, width = po->types.len;
	struct intern_probe probe;
	const uint32_t *tuple;
	uint64_t hash;
	uint32_t id1;

	if (napply < width)
		look_elsewhere(po, h);
	if (!napply)
		return 0;
	for (size_t i = 0; i < width; i++)
		vec_push(&po->tuples, i < napply ? value_of(&po->types.data[i], h) : 0);
	tuple = &po->tuples.data[from];
	hash = hash_bytes(tuple, width * sizeof(*tuple));
	probe = intern_probe(hash);
	while ((id1 = intern_next(&po->ids, &probe))) {
		if (!memcmp(&po->tuples.data[(id1 - 1) * width], tuple, width * sizeof(*tuple))) {
			po->tuples.len = from;
			return id1;
		}
	}
	po->ntuples++;
	return 1 + intern_add(&po->ids, hash);
}

/* --- writing --- */

/* An object is <Unknown> if its value is not known, or if it is -1. A filter takes these differently. */
static enum page_objfilter filter_by(const struct page_objtype *t)
{
	if (t->elsewhere || filter_has_spans(t->expr) || (t->some_minus && t->some_unknown))
		return OBJFILTER_NONE;
	return t->some_minus ? OBJFILTER_MINUS : OBJFILTER_UNKNOWN;
}

void put_object_types(const struct page_objects *po, struct buf *b)
{
	if (!po->types.len)
		return;
	buf_puts(b, ",\"objtypes\":[");
	for (size_t i = 0; i < po->types.len; i++) {
		buf_puts(b, i ? ",[" : "[");
		json_put_string(b, po->types.data[i].type->name);
		buf_printf(b, ",%d,%d,%d]", i >= po->nindex, filter_by(&po->types.data[i]),
			   filter_is_text(po->types.data[i].expr));
	}
	buf_puts(b, "]");
}

/* The names of the objects of each type. */
static void put_names(struct page_objects *po, struct buf *b)
{
	struct buf name = { 0 };

	for (size_t i = 0; i < po->types.len; i++) {
		struct page_objtype *t = &po->types.data[i];

		buf_puts(b, i ? ",[" : "[[");
		for (size_t k = 0; k < t->values.len; k++) {
			buf_clear(&name);
			index_put_value(t->expr, t->type, &t->texts, t->seen_in.data[k], t->values.data[k], &name);
			buf_puts(b, k ? "," : "");
			json_put_string(b, name.data);
		}
		buf_puts(b, "]");
	}
	buf_puts(b, po->types.len ? "]" : "[]");
	buf_free(&name);
}

/* The value of each object. A text is its name: here it is 1, or 0 if it is empty. */
static void put_values(struct page_objects *po, struct pack *ret)
{
	pack_begin(ret, "vals");
	vec_for_each(t, &po->types) {
		bool text = filter_is_text(t->expr);

		vec_for_each(value, &t->values)
			pack_int(ret, text && *value >= 0 ? *t->texts.strings[*value] != '\0' : *value);
	}
	pack_end(ret);
}

void put_objects(struct page_objects *po, const struct page_events *events, struct pack *ret)
{
	pack_begin(ret, "json");
	put_names(po, &ret->bytes);
	pack_end(ret);
	put_values(po, ret);
	pack_begin(ret, "tupl");
	vec_for_each(id, &po->tuples)
		pack_uint(ret, *id);
	pack_end(ret);
	pack_begin(ret, "alle");
	vec_for_each(ev, &events->all)
		pack_uint(ret, ev->objects);
	pack_end(ret);
	pack_begin(ret, "cnte");
	vec_for_each(ev, &events->counts.all)
		pack_uint(ret, ev->objects);
	pack_end(ret);
}

void page_objects_free(struct page_objects *po)
{
	vec_for_each(t, &po->types) {
		filter_free(t->expr);
		strtab_free(&t->texts);
		map_free(&t->ids);
		vec_free(&t->values);
		vec_free(&t->seen_in);
	}
	vec_free(&po->types);
	intern_free(&po->ids);
	vec_free(&po->tuples);
}
