/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/annotate.h"

#include <string.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/metrics/tally.h"
#include "analysis/model/search.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

enum { TAB = 8, LINES_MAX = 16 * 1024 * 1024, LINE_MAX_LEN = 4096, INLINED_MAX = 64 };

static bool has_func(const struct annotate *a, const struct func *f)
{
	return map_get(&a->listed, f->id);
}

static uint32_t first_line(struct session *s, const struct func *f, const char *file)
{
	line_code_vec rows = { 0 };
	uint32_t line = 0;

	func_lines(s, f, &rows);
	for (size_t i = 0; !line && i < rows.len; i++) {
		if (rows.data[i].src.file == file)
			line = rows.data[i].src.line;
	}
	vec_free(&rows);
	return line;
}

static void add_func(struct annotate *a, const struct func *f)
{
	map_put(&a->listed, f->id, NULL);
	vec_push(&a->funcs,
		 (struct listed_func){ .func = f,
				       .first_line = a->file ? first_line(a->v->session, f, a->file)
							     : 0 });
}

static bool belongs(struct annotate *a, const struct func *f)
{
	if (f->flags & FUNC_INLINED)
		return session_shows_inlined(a->v->session) && !a->alone && f->srcfile == a->file;
	return a->alone ? func_is_part_of(a->v->session, f, a->func) : func_same_unit(a->v->session, a->func, f);
}

/*
 * Add all functions of the compilation unit of `f`, with or without samples, or those of its name
 * only.
 */
static void add_around(struct annotate *a, const struct func *f)
{
	struct session *s = a->v->session;

	a->func = f;
	object_all_funcs(s, f->obj);
	for (size_t i = 0; i < s->funcs.len; i++) {
		const struct func *other = s->funcs.data[i];

		if (other->obj == f->obj && !(other->flags & FUNC_PSEUDO) && other != f &&
		    belongs(a, other) && !has_func(a, other))
			add_func(a, other);
	}
	if (!has_func(a, f))
		add_func(a, f);
}

static bool touches(struct session *s, const struct func *f, const char *file)
{
	return first_line(s, f, file) != 0;
}

static bool is_hidden(const struct session *s, const struct func *f)
{
	return f->flags & FUNC_INLINED && !session_shows_inlined(s);
}

/*
 * Add the functions of a file that was asked for without a function: those of each unit that the
 * file is the source of or that includes it.
 */
static void add_of_file(struct annotate *a)
{
	struct session *s = a->v->session;
	size_t n = s->funcs.len;

	for (size_t i = 0; i < n; i++) {
		const struct func *f = s->funcs.data[i];

		if (!is_hidden(s, f) && func_source(s, f) == a->file && !has_func(a, f))
			add_around(a, f);
	}
	for (size_t i = 0; !a->funcs.len && i < n; i++) {
		if (touches(s, s->funcs.data[i], a->file))
			add_func(a, s->funcs.data[i]);
	}
	a->func = NULL;
}

static int listed_cmp(const void *pa, const void *pb)
{
	const struct listed_func *a = pa, *b = pb;

	if (a->first_line != b->first_line)
		return a->first_line < b->first_line ? -1 : 1;
	return (a->func->addr > b->func->addr) - (a->func->addr < b->func->addr);
}

bool annotate_place(const struct annotate *a, const struct func *f, uint64_t offset, uint32_t *line)
{
	struct inlined_at calls[INLINED_MAX];
	struct session *s = a->v->session;
	size_t n = func_inlined(s, f, offset, calls, INLINED_MAX);
	struct srcline at;

	for (size_t i = 0; a->file && i < n; i++) {
		if (calls[i].call.file == a->file && calls[i].call.line) {
			*line = calls[i].call.line;
			return true;
		}
	}
	if (!a->file || !func_written(s, f, offset, &at) || at.file != a->file)
		return false;
	*line = at.line;
	return true;
}

/*
 * A key that is no line of the file. Each function has one for code without a line, and each of
 * a->others has one.
 */
static uint64_t no_line_key(const struct func *f)
{
	return 1ULL << 40 | f->id;
}

static uint64_t other_key(size_t n)
{
	return 1ULL << 41 | n;
}

/* The key of calls in outlined code, which no line made. */
static uint64_t outlined_key(const struct func *f)
{
	return 1ULL << 42 | f->id;
}

static uint64_t other_file_key(struct annotate *a, const struct func *f, const char *file)
{
	for (size_t i = 0; i < a->others.len; i++) {
		if (a->others.data[i].func == f && a->others.data[i].file == file)
			return other_key(i);
	}
	vec_push(&a->others, (struct other_file){ f, file });
	return other_key(a->others.len - 1);
}

static uint32_t known_key(struct map *keys, uint64_t what)
{
	bool fresh;
	uint64_t *at = map_put(keys, what, &fresh);

	if (fresh)
		*at = keys->len;
	return *at - 1;
}

/*
 * The key where inlined calls have frames. Each frame then counts for one line: the line of its
 * own function.
 */
static uint32_t frame_key(struct annotate *a, const struct frame *frame)
{
	struct srcline at;

	if (!frame_srcline(a->v->session, frame, &at))
		return known_key(&a->keys, no_line_key(frame->func));
	return known_key(&a->keys, at.file == a->file ? at.line :
				   other_file_key(a, frame->func, at.file));
}

struct keying {
	struct annotate *a;
	unsigned char *listed; /* indexed by function id */
	size_t n;
};

static uint32_t line_key(void *ctx, const struct frame *frame, const struct func *whole)
{
	struct keying *k = ctx;
	struct annotate *a = k->a;
	const struct func *f = frame->func;
	struct srcline at;
	uint32_t line;

	if (whole || f->id >= k->n || !k->listed[f->id])
		return CODE_KEY_NONE;
	if (frame->offset == FRAME_OUTLINED)
		return known_key(&a->keys, outlined_key(f));
	if (session_shows_inlined(a->v->session))
		return frame_key(a, frame);
	if (annotate_place(a, f, frame->offset, &line))
		return known_key(&a->keys, line);
	return known_key(&a->keys, func_written(a->v->session, f, frame->offset, &at) ?
				   other_file_key(a, f, at.file) : no_line_key(f));
}

void annotate_sum(struct annotate *a, enum code_part part, uint32_t base, code_key key, void *ctx,
		  struct code_tally *ret)
{
	struct code_rows *rows = a->v->annotation.rows;

	*ret = (struct code_tally){ 0 };
	if (rows)
		code_rows_ask(rows, part, base, key, ctx);
	else
		code_tally_init(ret, a->v->session, view_tally(a->v), key, ctx);
}

static void sum_lines(struct annotate *a)
{
	struct keying k = { .a = a, .n = a->v->session->funcs.len };

	k.listed = xcalloc(k.n + 1, 1);
	vec_for_each (f, &a->funcs)
		k.listed[f->func->id] = 1;
	annotate_sum(a, CODE_LINES, 0, line_key, &k, &a->sums);
	free(k.listed);
}

/*
 * Give the function an index line for code that comes from another file; the line names that
 * file.
 */
static void add_other_file(struct annotate *a, const struct func *f, uint64_t offset)
{
	struct srcline at;
	uint32_t line;

	if (!annotate_place(a, f, offset, &line) &&
	    func_written(a->v->session, f, offset, &at) && at.file != a->file)
		known_key(&a->keys, other_file_key(a, f, at.file));
}

/* Give lines with code but without samples zeros; lines without code stay blank. */
static void add_code_lines(struct annotate *a)
{
	line_code_vec rows = { 0 };

	vec_for_each (f, &a->funcs) {
		rows.len = 0;
		func_lines(a->v->session, f->func, &rows);
		for (size_t i = 0; i < rows.len; i++) {
			if (rows.data[i].src.file == a->file)
				known_key(&a->keys, rows.data[i].src.line);
			else
				add_other_file(a, f->func, rows.data[i].offset);
		}
	}
	vec_free(&rows);
}

static void read_text(struct annotate *a)
{
	struct session *s = a->v->session;
	struct source_text *x = &a->text;
	int fd = a->file ? search_open(session_search(s), s, a->file, &x->found) : -1;

	if (fd >= 0 && !file_path_fits(fd, a->v->annotation.may_show)) {
		close(fd);
		return;
	}
	if (fd < 0 || file_open_fd(fd, &x->file))
		return;
	vec_push(&x->starts, 0);
	for (size_t i = 0; i < x->file.size && x->starts.len < LINES_MAX; i++) {
		if (x->file.data[i] == '\n' || i + 1 == x->file.size)
			vec_push(&x->starts, i + 1);
	}
}

const char *annotate_remedy(const struct annotate *a)
{
	if (!a->v->session->experiments.len)
		return "run it in the directory of the source, or have that at the recorded path";
	return "setpath and addpath say where to look, pathmap what to replace in its path";
}

uint32_t annotate_nlines(const struct annotate *a)
{
	return a->text.starts.len ? a->text.starts.len - 1 : 0;
}

static void put_source(const struct annotate *a, struct buf *b, uint32_t line)
{
	const char *p = (const char *)a->text.file.data + a->text.starts.data[line - 1];
	const char *end = (const char *)a->text.file.data + a->text.starts.data[line];
	size_t column = 0;

	for (; p < end && *p != '\n' && *p != '\r' && column < LINE_MAX_LEN; p++) {
		if (*p != '\t') {
			buf_add(b, *p ? p : " ", 1);
			column++;
			continue;
		}
		do
			buf_puts(b, " ");
		while (++column % TAB);
	}
}

static void add_columns(struct annotate *a)
{
	text_column(a->t, NULL);
	vec_for_each (c, &a->v->metrics.cols) {
		if (c->metric)
			vec_push(&a->metrics.cols, *c);
	}
	columns_add(a->t, &a->metrics, NULL);
	a->text_column = a->t->columns.len;
	text_column(a->t, NULL);
	a->t->columns.data[a->text_column].verbatim = true;
}

struct row *annotate_row(struct annotate *a, const char *text)
{
	struct row *r = table_row(a->t);

	put_text(r, 0, "");
	put_text(r, a->text_column, arena_strdup(&a->t->arena, text));
	return r;
}

void annotate_values(struct annotate *a, struct row *r, const struct code_tally *sums,
		     enum code_part part, uint32_t base, uint64_t key)
{
	const int64_t *zeros = view_tally(a->v)->zeros;
	bool met = key < sums->nkeys;
	struct values values = { .excl = met ? code_tally_excl(sums, key) : zeros,
				 .incl = met ? code_tally_incl(sums, key) : zeros,
				 .whole = view_tally(a->v)->total };
	struct row shifted = { .cells = r->cells + 1 };

	columns_fill(&shifted, &a->metrics, &values);
	if (a->v->annotation.rows)
		code_rows_show(a->v->annotation.rows, a->t->rows.len - 1, part, base + key);
}

bool annotate_fill(struct annotate *a, struct row *r, uint64_t what)
{
	const uint64_t *key = map_get(&a->keys, what);

	if (key)
		annotate_values(a, r, &a->sums, CODE_LINES, 0, *key - 1);
	return key;
}

void annotate_line(struct annotate *a, uint32_t line, bool values)
{
	struct buf b = { 0 };
	struct row *r;

	buf_printf(&b, "%6u. ", line);
	put_source(a, &b, line);
	r = annotate_row(a, b.data);
	buf_free(&b);
	if (values)
		annotate_fill(a, r, line);
}

static void index_line(struct annotate *a, const struct func *f, const char *what, uint64_t key)
{
	char *text = xasprintf("        <Function: %s%s>", func_label(a->v, f, a->t), what);
	struct row *r = annotate_row(a, text);

	free(text);
	if (key)
		annotate_fill(a, r, key);
}

/*
 * The function's next file in order of name: an index into a->others, or their number if there
 * are no more.
 */
static size_t next_other(const struct annotate *a, const struct func *f, const char *after)
{
	size_t next = a->others.len;

	for (size_t i = 0; i < a->others.len; i++) {
		const struct other_file *o = &a->others.data[i];

		if (o->func == f && strcmp(o->file, after) > 0 &&
		    (next == a->others.len || strcmp(o->file, a->others.data[next].file) < 0))
			next = i;
	}
	return next;
}

/* Add an index line for each other file that code of the function comes from. */
static void index_others(struct annotate *a, const struct func *f)
{
	const char *file = "";
	size_t n;

	while ((n = next_other(a, f, file)) < a->others.len) {
		const char *slash;
		char *what;

		file = a->others.data[n].file;
		slash = strrchr(file, '/');
		what = xasprintf(", instructions from source file %s", slash ? slash + 1 : file);
		index_line(a, f, what, other_key(n));
		free(what);
	}
}

static bool has_others(const struct annotate *a, const struct func *f)
{
	vec_for_each (o, &a->others) {
		if (o->func == f)
			return true;
	}
	return false;
}

void annotate_index(struct annotate *a, const struct listed_func *f, unsigned classes,
		    bool always)
{
	uint64_t none = no_line_key(f->func);

	if (classes & REMARK_BASIC && (always || f->first_line || has_others(a, f->func) ||
				       map_get(&a->keys, none)))
		index_line(a, f->func, "", 0);
	if (map_get(&a->keys, outlined_key(f->func)))
		annotate_fill(a,
			      annotate_row(a, "        <inclusive metrics for outlined functions>"),
			      outlined_key(f->func));
	index_others(a, f->func);
	if (map_get(&a->keys, none))
		index_line(a, f->func, ", instructions without line numbers", none);
}

static void put_object(struct buf *b, const char *label, const struct loadobj *o)
{
	buf_printf(b, "\n%s %s", label, o->path);
	if (o->opened_as && strcmp(o->opened_as, o->path))
		buf_printf(b, " (found in %s)", o->opened_as);
}

/* Set the table's title: "Source file: …", "Object file: …", "Load Object: …". */
static void annotate_title(struct annotate *a)
{
	const struct func *f = a->func ? a->func : a->funcs.len ? a->funcs.data[0].func : NULL;
	struct buf b = { 0 };

	buf_printf(&b, "Source file: %s", a->file ? a->file : "(unknown)");
	if (a->text.found && strcmp(a->text.found, a->file))
		buf_printf(&b, " (found as %s)", a->text.found);
	if (f) {
		put_object(&b, "Object file:", f->obj);
		put_object(&b, "Load Object:", f->obj);
	}
	a->t->title = arena_strdup(&a->t->arena, b.data);
	buf_free(&b);
}

const char *annotate_file(struct session *s, const struct func *f)
{
	const char *file = func_source(s, f);
	struct srcline at;

	if (file && touches(s, f, file))
		return file;
	return func_srcline(s, f, 0, &at) ? at.file : file;
}

/* The file whose path ends in this name, among the files that the function has lines of. */
static const char *file_of_func(struct session *s, const struct func *f, const char *name)
{
	struct inlined_at calls[INLINED_MAX];
	line_code_vec rows = { 0 };
	const char *found = NULL;

	func_lines(s, f, &rows);
	for (size_t i = 0; !found && i < rows.len; i++) {
		size_t n = func_inlined(s, f, rows.data[i].offset, calls, INLINED_MAX);

		if (path_is_named(rows.data[i].src.file, name))
			found = rows.data[i].src.file;
		for (size_t k = 0; !found && k < n; k++) {
			if (calls[k].call.file && path_is_named(calls[k].call.file, name))
				found = calls[k].call.file;
		}
	}
	vec_free(&rows);
	return found;
}

int annotate_init(struct annotate *a, struct view_state *v, const struct func *f, const char *file,
		  struct table *t, struct diag *d)
{
	*a = (struct annotate){ .v = v, .t = t, .func = f, .alone = f && file };
	if (f && !file)
		a->file = annotate_file(v->session, f);
	else
		a->file = f ? file_of_func(v->session, f, file) : file;
	if (a->alone && !a->file)
		return diag_error(d, "'%s': no code of function '%s' comes from such a file", file,
				  func_name(v, f));
	if (f && !(f->flags & FUNC_INLINED))
		add_around(a, f);
	else
		add_of_file(a);
	vec_sort(&a->funcs, listed_cmp);
	sum_lines(a);
	if (a->file)
		add_code_lines(a);
	read_text(a);
	add_columns(a);
	annotate_title(a);
	return 0;
}

void annotate_free(struct annotate *a)
{
	vec_free(&a->funcs);
	map_free(&a->listed);
	code_tally_free(&a->sums);
	map_free(&a->keys);
	vec_free(&a->others);
	metric_list_free(&a->metrics);
	vec_free(&a->text.starts);
	file_close(&a->text.file);
	free(a->text.found);
}
