/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * describe: what expressions can use, and which of the loaded data has it. First the properties,
 * then fields that only the packets' descriptions define, then sets and functions, then object
 * types.
 */
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/metrics/property.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

/* The word for a kind of data: "clock", … */
static const char *kind_word(enum er_packet kind)
{
	const struct packet_desc *d = packet_desc(kind);

	return d ? d->word : "other";
}

static void add(struct table *t, const char *name, const char *data, const char *label)
{
	struct row *r = table_row(t);

	put_text(r, 0, arena_strdup(&t->arena, name));
	put_text(r, 1, arena_strdup(&t->arena, data));
	put_text(r, 2, arena_strdup(&t->arena, label));
}

static bool stream_has(const struct exp_stream *st, const struct property *p, const char *field)
{
	return p ? property_in_stream(p, st) : stream_field(st, field).offset != 0;
}

/* Whether any packet has this text. Threads have names only if the recorder wrote them. */
static bool text_known(const struct session *s, const struct property *p)
{
	bool comm = !strcmp(p->name, "COMM");

	vec_for_each(e, &s->experiments) {
		if (comm && (*(*e)->process || (*e)->names.len))
			return true;
		vec_for_each(th, &(*e)->threads) {
			if (*(comm ? th->comm : th->cgroup))
				return true;
		}
	}
	return false;
}

typedef VEC(const char *) name_vec;

static bool has_name(const name_vec *v, const char *name)
{
	vec_for_each(n, v) {
		if (!strcmp(*n, name))
			return true;
	}
	return false;
}

/* The kinds of data that have this value: "clock, I/O", "all", or "not recorded". */
static const char *data_with(const struct session *s, const struct property *p, const char *field,
			     struct buf *b)
{
	name_vec seen = { 0 };

	buf_clear(b);
	if (p && !p->fields)
		return !p->text || text_known(s, p) ? "all" : "not recorded";
	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams) {
			const char *word = kind_word(st->kind);

			if (has_name(&seen, word) || !stream_has(st, p, field))
				continue;
			vec_push(&seen, word);
			buf_printf(b, "%s%s", b->len ? ", " : "", word);
		}
	}
	vec_free(&seen);
	return b->len ? b->data : "not recorded";
}

static void add_properties(struct table *t, const struct session *s)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < nproperties; i++) {
		const struct property *p = &properties[i];

		add(t, p->name, data_with(s, p, NULL, &b), p->label);
		if (p->values)
			add(t, "", "", p->values->names);
	}
	buf_free(&b);
}

/* Add the packets' fields that are not properties. */
static void add_fields(struct table *t, const struct session *s)
{
	name_vec done = { 0 };
	struct buf b = { 0 };

	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams) {
			vec_for_each(f, &st->fields) {
				if (property_find(f->name) || has_name(&done, f->name) ||
				    !strcmp(f->name, "FRINFO"))
					continue;
				vec_push(&done, f->name);
				add(t, f->name, data_with(s, NULL, f->name, &b), f->uname);
			}
		}
	}
	vec_free(&done);
	buf_free(&b);
}

static void add_words(struct table *t)
{
	static const char *const words[][2] = {
		{ "STACK", "functions of the call stack, leaf first" },
		{ "FNAME(\"regexp\")", "functions whose whole name matches" },
		{ "LNAME(\"regexp\")", "functions of load objects whose whole name matches" },
		{ "HAS_PROP(name)", "whether the packet has the property" },
		{ "x IN (a, b)", "all of x is in the set" },
		{ "x SOME IN y", "at least one of x is in the set" },
		{ "x ORDERED IN y", "all of x is in the set, in that order" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		add(t, words[i][0], "all", words[i][1]);
}

int view_describe(struct view_state *v, struct table *t, struct diag *d)
{
	t->name = "describe";
	text_column(t, "Name");
	text_column(t, "Data");
	text_column(t, "Meaning");
	add_properties(t, v->session);
	add_fields(t, v->session);
	add_words(t);
	vec_for_each(o, &v->types.all)
		add(t, o->name, o->kind == OBJ_MEMORY ? "memory object" : "index object", o->text);
	return 0;
}
