/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pprof profile (github.com/google/pprof, proto/profile.proto). A sample is a stack of one thread
 * in one state on one CPU. It has three values: recorded samples, time on a CPU, and time off it.
 * Addresses are file addresses, so a function that processes map at different places is one
 * function. Therefore each load object has a single mapping that spans all addresses; pprof then
 * takes addresses as already adjusted.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/base/buf.h"
#include "analysis/base/wrap.h"
#include "analysis/base/map.h"
#include "analysis/export/about.h"
#include "analysis/export/export.h"
#include "analysis/export/gather.h"
#include "analysis/export/outfile.h"
#include "analysis/export/protobuf.h"
#include "analysis/export/rootname.h"
#include "analysis/metrics/tally.h"
#include "analysis/model/names.h"
#include "analysis/model/source.h"
#include "analysis/symbols/symtab.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"

/* Field numbers, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_MAPPING = 3, PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5, PROFILE_STRING = 6, PROFILE_TIME_NANOS = 9, PROFILE_DURATION_NANOS = 10,
	PROFILE_COMMENT = 13, PROFILE_DEFAULT_TYPE = 14,
	VALUE_TYPE = 1, VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3,
	LABEL_KEY = 1, LABEL_STR = 2,
	MAPPING_ID = 1, MAPPING_LIMIT = 3, MAPPING_FILE = 5, MAPPING_BUILD_ID = 6,
	MAPPING_FUNCTIONS = 7, MAPPING_FILENAMES = 8, MAPPING_LINES = 9, MAPPING_INLINED = 10,
	LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4,
	LINE_FUNCTION = 1, LINE_LINE = 2,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4,
};

struct pprof {
	const struct export *x;
	struct session *session;
	struct outfile *out;
	struct strtab strings;
	struct map functions; /* func id, to 1 + index of the file's name */
	struct map mappings;  /* object id, to enum has */
	struct map locations; /* innermost frame id, or MERGED | func id, to the location's id */
	struct buf message, inner, text;
	VEC(uint32_t) funcs, frames; /* of the present stack */
	VEC(uint64_t) ids;           /* its locations */
	uint32_t located;            /* 1 + the stack whose locations are in `ids`; 0: none yet */
};

/* Which details the locations of a mapping have. */
enum has { HAS_SEEN = 1, HAS_LINES = 2, HAS_INLINED = 4 };

static const uint64_t MERGED = (uint64_t)1 << 32;

/* The number of a text, which is made printable. */
static uint64_t string_id(struct pprof *p, const char *s)
{
	buf_clear(&p->text);
	buf_put_printable(&p->text, s ? s : "");
	return strtab_id(&p->strings, p->text.data ? p->text.data : "");
}

/* Write the message under construction as a field of the profile. */
static void put_message(struct pprof *p, unsigned field)
{
	pb_message(&p->out->buf, field, &p->message);
	outfile_flush(p->out, 1 << 16);
}

/* --- locations, functions, mappings --- */

/* A line of the location in p->message. */
static enum has put_line_of(struct pprof *p, const struct func *f, const struct frame *frame)
{
	bool known;
	struct srcline at = { 0 };
	uint64_t *file = map_put(&p->functions, f->id, NULL);

	known = frame && frame_srcline(p->session, frame, &at);
	if (known && *file <= 1)
		*file = 1 + string_id(p, at.file);
	else if (!*file)
		*file = 1 + string_id(p, f->srcfile);
	pb_uint(&p->inner, LINE_FUNCTION, f->id + 1);
	if (known)
		pb_uint(&p->inner, LINE_LINE, at.line);
	pb_message(&p->message, LOCATION_LINE, &p->inner);
	return (known ? HAS_LINES : 0) | (f->flags & FUNC_INLINED ? HAS_INLINED : 0);
}

/*
 * Write one location for the frames from `from` to `to`, and return its id. They are a function and
 * the calls inlined into it at one place; `to` is the frame that has the code.
 */
static uint64_t location(struct pprof *p, size_t from, size_t to)
{
	uint32_t frame_id = p->frames.data[from];
	bool merged = frame_id == SHOWN_MERGED, fresh;
	uint64_t key = merged ? MERGED | p->funcs.data[from] : frame_id;
	uint64_t *id = map_put(&p->locations, key, &fresh), number;
	struct frame code = merged ? (struct frame){ 0 } : frame_at(p->session, frame_id);
	const struct func *f = p->session->funcs.data[p->funcs.data[to]];
	unsigned has = HAS_SEEN;

	if (!fresh)
		return *id;
	number = *id = p->locations.len;
	pb_uint(&p->message, LOCATION_ID, number);
	pb_uint(&p->message, LOCATION_MAPPING, f->obj->id + 1);
	if (!merged && code.offset != FRAME_OUTLINED && !(f->flags & FUNC_PSEUDO))
		pb_uint(&p->message, LOCATION_ADDRESS, code.body->addr + code.offset);
	for (size_t i = from; i <= to; i++) {
		if (!merged)
			code = frame_at(p->session, p->frames.data[i]);
		has |= put_line_of(p, p->session->funcs.data[p->funcs.data[i]],
				   merged ? NULL : &code);
	}
	put_message(p, PROFILE_LOCATION);
	*map_put(&p->mappings, f->obj->id, NULL) |= has;
	return number;
}

/*
 * Put the ids of a stack's locations, leaf first, into p->ids. Later samples with the same stack
 * reuse them.
 */
static void locate(struct pprof *p, uint32_t stack)
{
	uint32_t n = p->session->stacks.data[stack].n;

	if (p->located == stack + 1)
		return;
	p->located = stack + 1;
	vec_reserve(&p->funcs, n);
	vec_reserve(&p->frames, n);
	n = shown_path(p->session, stack, p->funcs.data, p->frames.data);
	p->ids.len = 0;
	for (uint32_t i = 0, to; i < n; i = to + 1) {
		for (to = i; to + 1 < n && p->frames.data[to] != SHOWN_MERGED &&
			     frame_at(p->session, p->frames.data[to]).depth; )
			to++;
		vec_push(&p->ids, location(p, i, to));
	}
}

static void put_functions(struct pprof *p)
{
	map_for_each(slot, &p->functions) {
		const struct func *f = p->session->funcs.data[slot->key];

		pb_uint(&p->message, FUNCTION_ID, f->id + 1);
		pb_uint(&p->message, FUNCTION_NAME, string_id(p, func_name(p->x->view, f)));
		pb_uint(&p->message, FUNCTION_SYSTEM_NAME, string_id(p, f->mangled));
		pb_uint(&p->message, FUNCTION_FILE, slot->value - 1);
		put_message(p, PROFILE_FUNCTION);
	}
}

static void put_mappings(struct pprof *p)
{
	vec_for_each(op, &p->session->objects) {
		const struct loadobj *o = *op;
		const char *id = o->symtab ? symtab_build_id(o->symtab) : NULL;
		const uint64_t *has = map_get(&p->mappings, o->id);

		if (!has)
			continue;
		pb_uint(&p->message, MAPPING_ID, o->id + 1);
		pb_uint(&p->message, MAPPING_LIMIT, UINT64_MAX);
		pb_uint(&p->message, MAPPING_FILE, string_id(p, o->path));
		if (id)
			pb_uint(&p->message, MAPPING_BUILD_ID, string_id(p, id));
		pb_uint(&p->message, MAPPING_FUNCTIONS, 1);
		pb_uint(&p->message, MAPPING_FILENAMES, !!(*has & HAS_LINES));
		pb_uint(&p->message, MAPPING_LINES, !!(*has & HAS_LINES));
		pb_uint(&p->message, MAPPING_INLINED, !!(*has & HAS_INLINED));
		put_message(p, PROFILE_MAPPING);
	}
}

/* --- samples --- */

static void put_label(struct pprof *p, const char *key, const char *text)
{
	pb_uint(&p->inner, LABEL_KEY, string_id(p, key));
	pb_uint(&p->inner, LABEL_STR, string_id(p, text));
	pb_message(&p->message, SAMPLE_LABEL, &p->inner);
}

/* Numbers are written as texts, too, because pprof drops numbers that are 0, such as CPU 0. */
static void put_number(struct pprof *p, const char *key, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, number);
	put_label(p, key, text);
}

static void put_sample(struct pprof *p, const struct bucket *b)
{
	uint64_t values[] = { b->samples, b->on_ns, b->off_ns };

	locate(p, b->key.stack);
	pb_packed(&p->message, SAMPLE_LOCATION, p->ids.data, p->ids.len);
	pb_packed(&p->message, SAMPLE_VALUE, values, sizeof(values) / sizeof(values[0]));
	put_number(p, "pid", b->key.pid);
	put_number(p, "tid", b->key.tid);
	if (b->key.comm)
		put_label(p, "comm", b->key.comm);
	if (b->key.cpu >= 0)
		put_number(p, "cpu", b->key.cpu);
	put_label(p, "state", state_uname(b->key.state));
	put_message(p, PROFILE_SAMPLE);
}

static int by_stack(const void *pa, const void *pb)
{
	const struct bucket *a = pa, *b = pb;

	return (a->key.stack > b->key.stack) - (a->key.stack < b->key.stack);
}

static void put_types(struct pprof *p)
{
	static const char *const types[][2] = {
		{ "samples", "count" }, { "cpu", "nanoseconds" }, { "off_cpu", "nanoseconds" },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		pb_uint(&p->message, VALUE_TYPE, string_id(p, types[i][0]));
		pb_uint(&p->message, VALUE_UNIT, string_id(p, types[i][1]));
		put_message(p, PROFILE_SAMPLE_TYPE);
	}
	pb_uint(&p->out->buf, PROFILE_DEFAULT_TYPE, string_id(p, "cpu"));
}

/* The end of the last open segment of a recording, since its start. */
static int64_t last_ns(const struct session *s, const struct experiment *origin)
{
	int64_t last = origin->end_ns;

	vec_for_each(e, &s->experiments) {
		int64_t end = wrap_plus((*e)->end_ns, experiment_offset_ns(*e));

		if (!(*e)->founder && (*e)->origin == origin && end > last)
			last = end;
	}
	return last;
}

/* Times of the first recording, and comments. */
static void put_about(struct pprof *p)
{
	const struct experiment *e = p->session->experiments.data[0]->origin;
	struct table t;

	pb_uint(&p->out->buf, PROFILE_TIME_NANOS, (uint64_t)e->start_epoch * 1000000000);
	pb_uint(&p->out->buf, PROFILE_DURATION_NANOS, last_ns(p->session, e));
	about(p->x, &t);
	vec_for_each(r, &t.rows) {
		const char *line = r->cells[0].s;

		if (line && *line)
			pb_uint(&p->out->buf, PROFILE_COMMENT, string_id(p, line));
	}
	table_free(&t);
}

/* Written last, because everything else adds texts. Text 0 is empty. */
static void put_strings(struct pprof *p)
{
	for (size_t i = 0; i < p->strings.len; i++) {
		pb_string(&p->out->buf, PROFILE_STRING, p->strings.strings[i]);
		outfile_flush(p->out, 1 << 16);
	}
}

static void pprof_free(struct pprof *p)
{
	strtab_free(&p->strings);
	map_free(&p->functions);
	map_free(&p->mappings);
	map_free(&p->locations);
	buf_free(&p->message);
	buf_free(&p->inner);
	buf_free(&p->text);
	vec_free(&p->funcs);
	vec_free(&p->frames);
	vec_free(&p->ids);
}

static int pprof_write(const struct export *x, struct outfile *out)
{
	struct pprof p = { .x = x, .session = x->view->session, .out = out };
	struct gathered g;

	if (gather(x, BY_STATE | BY_CPU | BY_THREAD, &g))
		return -1;
	strtab_id(&p.strings, "");
	put_types(&p);
	vec_sort(&g.buckets, by_stack);
	vec_for_each(b, &g.buckets) {
		if (b->samples || b->on_ns || b->off_ns)
			put_sample(&p, b);
	}
	put_functions(&p);
	put_mappings(&p);
	put_about(&p);
	put_strings(&p);
	pprof_free(&p);
	gathered_free(&g);
	return 0;
}

const struct exporter pprof_exporter = {
	.name = "pprof", .suffix = ".pb.gz", .gzip = true, .write = pprof_write,
	.help = "profile for pprof: samples, time on and off a CPU",
};
