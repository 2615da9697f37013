/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_code.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/diag.h"
#include "analysis/base/interrupt.h"
#include "analysis/base/json.h"
#include "analysis/export/export.h"
#include "analysis/export/page_events.h"
#include "analysis/export/page_pack.h"
#include "analysis/export/page_table.h"
#include "analysis/model/source.h"
#include "analysis/views/annotate.h"
#include "analysis/views/functions.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

/*
 * The page has the code of functions in the order of er_print's list, so by time, until it has so many
 * bytes before compression. Beside a compiler, 8.4 MB of code took 2.0 MB of the file.
 */
enum { BYTES_MAX = 8 << 20, LEAST_ROOM = 64 << 10 };

/* Bytes of code; the disassembly of more is larger than all that fits. */
enum { CODE_MAX = 256 << 10 };

/*
 * Debug data name the source file, and anybody can write debug data. A page is made to be handed
 * on, so only files whose names say that they are source are read into it: the name in the debug
 * data, and that of the file to which links lead from there.
 */
static const char *const suffixes[] = {
	".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".hxx", ".C", ".H", ".c++", ".inl",
	".s", ".S", ".asm", ".rs", ".go", ".d", ".ada", ".adb", ".ads", ".f", ".F", ".f90", ".F90",
	".pas", ".zig", ".swift", ".nim", ".ml", ".hs", ".cu", ".m", ".mm", ".java", ".kt", ".y",
	".l",
};

static bool is_source(const char *file)
{
	const char *dot = file ? strrchr(base_name(file), '.') : NULL;

	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (!strcmp(dot, suffixes[i]))
			return true;
	}
	return false;
}

typedef int make_fn(struct view_state *v, const struct func *f, const char *file, struct table *t,
		    struct diag *d);

/* A report has the functions of one compile unit. */
struct source_shown {
	const char *file;
	const struct func *func; /* for which it was made */
	int report;
};

struct coding {
	const struct export *x;
	const struct page_tree *tree;
	struct frame *frames; /* of the page's places */
	size_t nframes;
	size_t room; /* bytes that the reports may have */
	struct buf reports, funcs; /* elements of two arrays */
	size_t nreports, nfuncs;
	VEC(struct source_shown) sources;
};

/* The texts of the rows; then for each row the key that it shows + 1, 0: no metrics. */
static void put_rows(struct buf *b, const struct table *t, const struct code_rows *rows)
{
	size_t text = t->columns.len - 1, shown = 0;

	buf_puts(b, "\"text\":[");
	for (size_t i = 0; i < t->rows.len; i++) {
		buf_puts(b, i ? "," : "");
		json_put_string(b, t->rows.data[i].cells[text].s);
	}
	buf_puts(b, "],\"keys\":[");
	for (size_t i = 0; i < t->rows.len; i++) {
		uint32_t key = 0;

		if (shown < rows->rows.len && rows->rows.data[shown].row == i) {
			const struct code_row *r = &rows->rows.data[shown++];

			key = 1 + r->key + (r->part == CODE_INSNS ? rows->nkeys[CODE_LINES] : 0);
		}
		buf_printf(b, i ? ",%u" : "%u", key);
	}
	buf_puts(b, "]");
}

/* For each part the number of keys, then for each place with a key: its index - the one before, and the key. */
static void put_parts(struct buf *b, const struct code_rows *rows)
{
	buf_puts(b, "\"parts\":[");
	for (int part = 0; part < CODE_PARTS; part++) {
		uint32_t before = 0;

		buf_printf(b, "%s[%u", part ? "," : "", rows->nkeys[part]);
		vec_for_each(p, &rows->places[part]) {
			buf_printf(b, ",%u,%u", p->frame - before, p->key);
			before = p->frame;
		}
		buf_puts(b, "]");
	}
	buf_puts(b, "]");
}

static void put_code_json(struct buf *b, const struct table *t, const struct code_rows *rows,
			  double threshold)
{
	buf_printf(b, "{\"threshold\":%.17g,", threshold);
	put_rows(b, t, rows);
	buf_puts(b, ",");
	put_parts(b, rows);
	put_notes_json(b, t);
	buf_puts(b, "}");
}

/* Append a report. Returns its index; -1: it cannot be made, or there is no room. */
static int put_code_report(struct coding *c, make_fn *make, double threshold, const struct func *f)
{
	struct code_rows rows = { .frames = c->frames, .nframes = c->nframes };
	struct diag kept = { 0 };
	struct table t = { 0 };
	struct buf b = { 0 };
	int ret = -1;

	c->x->view->annotation.rows = &rows;
	if (!make(c->x->view, f, NULL, &t, &kept)) {
		put_code_json(&b, &t, &rows, threshold);
		if (c->reports.len + b.len <= c->room) {
			buf_puts(&c->reports, c->nreports ? "," : "");
			buf_add(&c->reports, b.data, b.len);
			ret = (int)c->nreports++;
		}
	}
	c->x->view->annotation.rows = NULL;
	code_rows_free(&rows);
	buf_free(&b);
	table_free(&t);
	diag_free(&kept);
	return ret;
}

/* The report of the function's source file, which functions of its compile unit share. */
static int source_report(struct coding *c, const struct func *f, const char *file)
{
	struct source_shown new = { .file = file, .func = f };

	vec_for_each(s, &c->sources) {
		if (s->file == file && func_same_unit(c->x->view->session, s->func, f))
			return s->report;
	}
	new.report = put_code_report(c, view_source, c->x->view->annotation.sthresh, f);
	vec_push(&c->sources, new);
	return new.report;
}

static int disasm_report(struct coding *c, const struct func *f, bool with_source)
{
	struct annotation *a = &c->x->view->annotation;
	unsigned dcc = a->dcc;
	int ret;

	if (!with_source)
		a->dcc &= ~(unsigned)(REMARK_SRC | REMARK_ASRC);
	ret = put_code_report(c, view_disasm, a->dthresh, f);
	a->dcc = dcc;
	return ret;
}

static void put_func(struct coding *c, const struct func *f)
{
	struct session *s = c->x->view->session;
	uint64_t *index = map_get(&c->tree->by_func, f->id);
	const char *file = annotate_file(s, f);
	int source = -1, disasm = -1;

	if (is_source(file))
		source = source_report(c, f, file);
	if (f->size <= CODE_MAX && func_machine(s, f))
		disasm = disasm_report(c, f, is_source(file));
	if (!index || (source < 0 && disasm < 0))
		return;
	buf_printf(&c->funcs, "%s{\"func\":%llu,\"source\":%d,\"disasm\":%d}",
		   c->nfuncs++ ? "," : "", (unsigned long long)*index - 1, source, disasm);
}

static void put_hottest(struct coding *c)
{
	struct view_state *v = c->x->view;
	ranked_vec funcs = { 0 };

	functions_ranked(v, &funcs);
	v->annotation.may_show = is_source;
	/* The first one is <Total>. */
	for (size_t i = 1; i < funcs.len && c->reports.len + LEAST_ROOM < c->room && !interrupt_pending(); i++) {
		const struct func *f = v->session->funcs.data[funcs.data[i].func->id];

		if (!(f->flags & FUNC_PSEUDO))
			put_func(c, f);
	}
	v->annotation.may_show = NULL;
	vec_free(&funcs);
}

bool make_code(const struct export *x, const struct page_events *events, size_t *nfuncs, struct pack *ret)
{
	struct coding c = { .x = x, .tree = &events->tree, .nframes = events->places.all.len };

	if (x->redact || x->no_source)
		return false;
	/* In a page of the default size, code may have a sixteenth. */
	c.room = x->page_size && x->page_size / 4 < BYTES_MAX ? x->page_size / 4 : BYTES_MAX;
	c.frames = page_places_frames(&events->places, &events->tree, x->view->session);
	put_hottest(&c);
	pack_begin(ret, "json");
	buf_printf(&ret->bytes, "{\"funcs\":[%s],\"reports\":[",
		   c.funcs.data ? c.funcs.data : "");
	buf_add(&ret->bytes, c.reports.data ? c.reports.data : "", c.reports.len);
	buf_puts(&ret->bytes, "]}");
	pack_end(ret);
	*nfuncs = c.nfuncs;
	free(c.frames);
	buf_free(&c.reports);
	buf_free(&c.funcs);
	vec_free(&c.sources);
	return true;
}
