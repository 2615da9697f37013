/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data objects: the variables that contain the recorded data addresses. They are shown as a list,
 * one by one, or with the offsets that were accessed, in blocks of 32 bytes.
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/wrap.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/pass.h"
#include "analysis/metrics/property.h"
#include "analysis/model/dataobj.h"
#include "analysis/views/functions.h"
#include "analysis/views/index.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

enum { BLOCK = 32 };

static struct index_key object_key(const struct hit *h)
{
	uint64_t offset;

	return (struct index_key){ .a = (int64_t)(uintptr_t)hit_data_object(h, &offset) };
}

void data_put_label(const struct dataobj *o, struct buf *b)
{
	buf_printf(b, o->obj ? "%s %s" : "%s", o->name, o->obj ? o->obj->name : "");
}

static void object_label(const struct names *n, const struct index_key *k, struct buf *b)
{
	data_put_label((const struct dataobj *)(uintptr_t)k->a, b);
}

int view_data_objects(struct view_state *v, struct table *t, struct diag *d)
{
	static const struct objtype type = { OBJ_MEMORY, "data_objects", "DNAME", true };
	static const struct index_special objects = { "data_objects", object_key, object_label, NULL };
	struct index_spec spec = { .type = &type,
				   .special = &objects,
				   .title = "Data objects",
				   .only = ER_PKT_MHWC,
				   .metrics = &v->dmetrics,
				   .sort = &v->dsort };

	if (!data_recorded(v->session))
		return diag_error(d, "data_objects: no counter was recorded with data addresses");
	return index_print(v, &spec, t, d);
}

/* The metrics of a data object or of a block in it. */
struct part {
	const struct dataobj *object;
	int64_t offset; /* -1: the whole object */
	int64_t *values;
};

struct parts {
	VEC(struct part) all;
	/* hash of object and offset + 1; maps to an index into `all`, plus 1 */
	struct map by_place;
	size_t nmetrics;
	int64_t *total;
};

static struct part *part_of(struct parts *p, const struct dataobj *o, int64_t offset)
{
	uint64_t place = hash64((uint64_t)o->id << 40 ^ hash64(offset + 1));
	uint64_t *at = map_put(&p->by_place, place, NULL);

	if (!*at) {
		vec_push(&p->all,
			 (struct part){ o, offset, xcalloc(p->nmetrics, sizeof(int64_t)) });
		*at = p->all.len;
	}
	return &p->all.data[*at - 1];
}

static void add_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct parts *p = ctx;
	uint64_t offset;
	const struct dataobj *o;

	if (h->stream->kind != ER_PKT_MHWC)
		return;
	o = hit_data_object(h, &offset);
	for (size_t i = 0; o && i < n; i++) {
		add_to(&p->total[amounts[i].metric], amounts[i].value);
		add_to(&part_of(p, o, -1)->values[amounts[i].metric], amounts[i].value);
		if (o->obj)
			add_to(&part_of(p, o, offset)->values[amounts[i].metric], amounts[i].value);
	}
}

static void parts_init(struct parts *p, const struct view_state *v)
{
	*p = (struct parts){ .nmetrics = metric_set_width(v->metric_set) };
	p->total = xcalloc(p->nmetrics, sizeof(*p->total));
	pass_run(v->session, v->metric_set, v->filter, add_hit, NULL, p);
}

static void parts_free(struct parts *p)
{
	vec_for_each(part, &p->all)
		free(part->values);
	vec_free(&p->all);
	map_free(&p->by_place);
	free(p->total);
}

static void put_part(struct view_state *v, struct table *t, const struct parts *p,
		     const struct part *part, int group)
{
	struct row *r = table_row(t);
	size_t name = t->columns.len - 1;

	r->group = group;
	columns_fill(r, &v->dmetrics, &(struct values){ .excl = part->values, .whole = p->total });
	if (part->offset < 0)
		put_textf(t, r, name, "%s%s%s", part->object->name, part->object->obj ? " " : "",
			  part->object->obj ? part->object->obj->name : "");
	else
		put_textf(t, r, name, "  +0x%04" PRIx64 " (block %" PRId64 ", +%" PRId64 ")",
			  (uint64_t)part->offset, part->offset / BLOCK, part->offset % BLOCK);
}

static int by_object(const void *a, const void *b)
{
	const struct part *pa = a, *pb = b;

	if (pa->object->id != pb->object->id)
		return pa->object->id < pb->object->id ? -1 : 1;
	return (pa->offset > pb->offset) - (pa->offset < pb->offset);
}

/* Objects are in the order of the list, and the blocks of each in order of offset. */
int view_data_layout(struct view_state *v, struct table *t, struct diag *d)
{
	ranked_vec objects = { 0 };
	struct parts p;
	int group = 1;

	if (!data_recorded(v->session))
		return diag_error(d, "data_layout: no counter was recorded with data addresses");
	t->name = "data_layout";
	t->title = "Data objects and the offsets in them that were used, in blocks of 32 bytes";
	columns_add(t, &v->dmetrics, &v->dsort);
	parts_init(&p, v);
	vec_sort(&p.all, by_object);
	vec_for_each(part, &p.all) {
		if (part->offset < 0)
			vec_push(&objects, (struct ranked){ .excl = part->values,
							    .incl = part->values,
							    .name = part->object->name,
							    .order = part->object->id,
							    .index = part - p.all.data });
	}
	ranked_sort(objects.data, objects.len, &v->dsort);
	columns_fill(table_row(t), &v->dmetrics,
		     &(struct values){ .excl = p.total, .whole = p.total, .name = "<Total>" });
	for (size_t i = 0; i < objects.len && (!v->limit || i + 1 < v->limit); i++, group++) {
		const struct part *end = p.all.data + p.all.len,
				  *part = &p.all.data[objects.data[i].index];
		const struct dataobj *o = part->object;

		for (; part < end && part->object == o; part++)
			put_part(v, t, &p, part, group);
	}
	vec_free(&objects);
	parts_free(&p);
	return 0;
}

static void put_summary(struct view_state *v, struct table *t, const struct parts *p,
			const struct part *part)
{
	const struct dataobj *o = part->object;

	put_textf(t, table_row(t), 0, "%s", o->name);
	vec_for_each(m, &v->metric_set->all) {
		if (metric_has_addresses(m))
			put_textf(t, table_row(t), 0, "  Data %s: %" PRId64 " (%.2f%%)", m->uname,
				  part->values[m->id],
				  percent_of(part->values[m->id], p->total[m->id]));
	}
	if (!o->obj)
		return;
	put_textf(t, table_row(t), 0, "  Size: %" PRIu64, o->size);
	put_textf(t, table_row(t), 0, "  Address: 0x%08" PRIx64, o->addr);
	put_textf(t, table_row(t), 0, "  Load Object: %s", o->obj->path);
}

/* The nth object of this name; with n 0 the name must be unique. NULL after reporting. */
static const struct part *choose_part(const struct parts *p, const char *name, size_t nth,
				      struct diag *d)
{
	const struct part *found = NULL;
	size_t n = 0;

	vec_for_each(part, &p->all) {
		if (part->offset >= 0 || strcmp(part->object->name, name))
			continue;
		n++;
		if (n == 1 || n == nth)
			found = part;
	}
	if (!n)
		diag_error(d,
			   "data object '%s': was not used; data_objects lists the names",
			   name);
	else if (n > 1 && (!nth || nth > n))
		diag_error(d,
			   "data object '%s': %zu have that name; give the number of one after it",
			   name, n);
	else
		return found;
	return NULL;
}

int view_data_single(struct view_state *v, const char *name, size_t nth, struct table *t,
		     struct diag *d)
{
	const struct part *part;
	struct parts p;

	if (!data_recorded(v->session))
		return diag_error(d, "data_single: no counter was recorded with data addresses");
	t->name = "data_single";
	text_column(t, NULL);
	parts_init(&p, v);
	vec_sort(&p.all, by_object);
	part = choose_part(&p, name, nth, d);
	if (part)
		put_summary(v, t, &p, part);
	parts_free(&p);
	return part ? 0 : -1;
}
