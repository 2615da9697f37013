/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load objects: whether they show their functions, their metrics, and the messages about them. */
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/wrap.h"
#include "analysis/metrics/tally.h"
#include "analysis/symbols/symtab.h"
#include "analysis/views/functions.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

static const char *const show_words[] = {
	[SHOW_ALL] = "show", [SHOW_HIDE] = "hide", [SHOW_API] = "API only"
};

static bool is_total(const struct session *s, const struct loadobj *o)
{
	return o == s->total->obj;
}

int view_object_list(struct view_state *v, struct table *t, struct diag *d)
{
	t->name = "object_list";
	text_column(t, "Sel");
	text_column(t, "Load Object");
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT, .title = { "Index" } });
	text_column(t, "Path");
	session_load_objects(v->session);
	vec_for_each(op, &v->session->objects) {
		const struct loadobj *o = *op;
		struct row *r;

		if (is_total(v->session, o))
			continue;
		r = table_row(t);
		put_text(r, 0, show_words[o->show]);
		put_text(r, 1, o->name);
		r->cells[2] = (struct cell){ .kind = CELL_COUNT, .i = o->id };
		put_text(r, 3, o->path);
	}
	return 0;
}

/*
 * Exclusive values are sums over the object's functions. For inclusive values a stack counts once
 * for each object in it.
 */
struct object_sums {
	int64_t *excl, *incl;
};

static void sum_objects(const struct view_state *v, const struct tally *t, struct object_sums *ret)
{
	const struct session *s = v->session;
	size_t nm = t->nmetrics;
	uint32_t *last_seen = xcalloc(s->objects.len, sizeof(*last_seen));
	func_ids path = { 0 };

	ret->excl = xcalloc(s->objects.len * nm, sizeof(int64_t));
	ret->incl = xcalloc(s->objects.len * nm, sizeof(int64_t));
	for (uint32_t id = 0; id < t->nstacks; id++) {
		size_t n = tally_path(t, id, &path);

		for (size_t i = 0; i < n; i++) {
			uint32_t o = s->funcs.data[path.data[i]]->obj->id;

			if (i == 0)
				tally_add(t, &ret->excl[o * nm], tally_stack(t, id));
			if (last_seen[o] != id + 1)
				tally_add(t, &ret->incl[o * nm], tally_stack(t, id));
			last_seen[o] = id + 1;
		}
	}
	vec_free(&path);
	free(last_seen);
}

static void add_messages(struct table *t, const struct loadobj *o)
{
	for (size_t i = 0; i < o->diag.nmsgs; i++)
		vec_push(&t->notes, arena_strdup(&t->arena, o->diag.msgs[i].text));
}

static const char *object_label(const struct loadobj *o, struct table *t)
{
	const char *source = o->symtab ? symtab_source(o->symtab) : NULL;
	char *label = xasprintf("%s (%s)%s%s%s", o->name, o->path, source ? ", names from " : "",
				source ? source : "",
				o->opened_as && !strcmp(o->opened_as, "archive") ? " in the archive" : "");
	const char *ret = arena_strdup(&t->arena, label);

	free(label);
	return ret;
}

int view_objects(struct view_state *v, struct table *t, struct diag *d)
{
	const struct tally *tally = view_tally(v);
	size_t nm = tally->nmetrics, n = 0;
	struct object_sums sums;
	ranked_vec rows = { 0 };

	t->name = "objects";
	columns_add(t, &v->metrics, &v->sort);
	session_load_objects(v->session);
	sum_objects(v, tally, &sums);
	vec_for_each(op, &v->session->objects) {
		const struct loadobj *o = *op;

		add_messages(t, o);
		if (!is_total(v->session, o))
			vec_push(&rows, (struct ranked){
				.excl = &sums.excl[o->id * nm], .incl = &sums.incl[o->id * nm],
				.name = object_label(o, t), .order = o->id });
	}
	ranked_sort(rows.data, rows.len, &v->sort);
	vec_for_each(r, &rows) {
		if (v->limit && ++n > v->limit)
			break;
		columns_fill(table_row(t), &v->metrics,
			     &(struct values){ .excl = r->excl, .incl = r->incl,
					       .whole = tally->total, .name = r->name });
	}
	vec_free(&rows);
	free(sums.excl);
	free(sums.incl);
	return 0;
}
