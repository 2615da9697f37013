/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Annotated source: the lines of a file with the metrics of their code. Metrics are blank for
 * lines without code and zero for lines that have code but no samples.
 */
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/views/annotate.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

enum { INLINED_MAX = 64 };

/* Where a function was inlined, shown like a compiler's remark. */
struct remark_at {
	uint32_t line;
	const char *name, *from;
};

static int remark_cmp(const void *pa, const void *pb)
{
	const struct remark_at *a = pa, *b = pb;
	int by;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	by = strcmp(a->name, b->name);
	return by ? by : strcmp(a->from, b->from);
}

struct remarks {
	VEC(struct remark_at) at; /* indexed by line */
	size_t next;
};

static void gather_inlined(struct annotate *a, const struct func *f, struct remarks *ret)
{
	struct inlined_at calls[INLINED_MAX];
	struct session *s = a->v->session;
	line_code_vec rows = { 0 };

	func_lines(s, f, &rows);
	for (size_t i = 0; i < rows.len; i++) {
		size_t n = func_inlined(s, f, rows.data[i].offset, calls, INLINED_MAX);
		struct srcline at;

		for (size_t k = 0; k < n && k < INLINED_MAX; k++) {
			if (calls[k].call.file != a->file || !calls[k].name)
				continue;
			if (k + 1 < n)
				at = calls[k + 1].call;
			else if (!func_written(s, f, rows.data[i].offset, &at))
				continue;
			if (at.file)
				vec_push(&ret->at, (struct remark_at){ calls[k].call.line, calls[k].name,
								       base_name(at.file) });
		}
	}
	vec_free(&rows);
}

static void gather_remarks(struct annotate *a, unsigned classes, struct remarks *ret)
{
	size_t n = 0;

	if (!(classes & REMARK_INLINE))
		return;
	vec_for_each (f, &a->funcs)
		gather_inlined(a, f->func, ret);
	vec_sort(&ret->at, remark_cmp);
	for (size_t i = 0; i < ret->at.len; i++) {
		if (!n || remark_cmp(&ret->at.data[i], &ret->at.data[n - 1]))
			ret->at.data[n++] = ret->at.data[i];
	}
	ret->at.len = n;
}

static void put_remarks(struct annotate *a, struct remarks *r, uint32_t line)
{
	for (; r->next < r->at.len && r->at.data[r->next].line <= line; r->next++) {
		char *text =
			xasprintf("        Function %s inlined from source file %s into the code "
				  "for the following line",
				  r->at.data[r->next].name, r->at.data[r->next].from);

		annotate_row(a, text);
		free(text);
	}
}

static void put_version(struct annotate *a, unsigned classes)
{
	const char *producer =
		a->funcs.len ? func_producer(a->v->session, a->funcs.data[0].func) : NULL;
	char *text;

	if (!(classes & REMARK_VERSION) || !producer)
		return;
	text = xasprintf("        Compiled by %s", producer);
	annotate_row(a, text);
	free(text);
}

static int line_cmp(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

/* Lines beyond the end of the file keep their numbers and values. */
static void put_beyond(struct annotate *a)
{
	VEC(uint32_t) lines = { 0 };

	map_for_each (slot, &a->keys) {
		if (slot->key > annotate_nlines(a) && slot->key <= UINT32_MAX)
			vec_push(&lines, slot->key);
	}
	vec_sort(&lines, line_cmp);
	vec_for_each (line, &lines) {
		char *text = xasprintf("%6u. <the file has no such line>", *line);

		annotate_fill(a, annotate_row(a, text), *line);
		free(text);
	}
	if (lines.len)
		put_note(a->t, "The file is not the one that was compiled: it has fewer lines");
	vec_free(&lines);
}

static void put_file(struct annotate *a)
{
	unsigned classes = a->v->annotation.scc;
	uint32_t n = annotate_nlines(a);
	struct remarks remarks = { 0 };
	size_t next = 0;

	gather_remarks(a, classes, &remarks);
	put_version(a, classes);
	for (uint32_t line = 1; line <= n; line++) {
		put_remarks(a, &remarks, line);
		for (; next < a->funcs.len && a->funcs.data[next].first_line <= line; next++)
			annotate_index(a, &a->funcs.data[next], classes, false);
		annotate_line(a, line, true);
	}
	put_beyond(a);
	vec_free(&remarks.at);
}

static int no_lines(const struct view_state *v, const struct func *f, struct diag *d)
{
	if (f->flags & FUNC_PSEUDO)
		return diag_error(d, "source '%s': it has no code", func_name(v, f));
	if (f->obj->kernel)
		return diag_error(
			d,
			"source '%s': the kernel's line numbers are not known: install "
			"linux-image-*-dbg of this kernel, have its vmlinux in the search "
			"path (setpath), or name a server in DEBUGINFOD_URLS",
			func_name(v, f));
	return diag_error(d,
			  "source '%s': %s has no line numbers for it: compile with -g, or install "
			  "its debug package",
			  func_name(v, f), f->obj->name);
}

int view_source(struct view_state *v, const struct func *f, const char *file, struct table *t,
		struct diag *d)
{
	struct annotate a;
	int rc = annotate_init(&a, v, f, file, t, d);

	t->name = "source";
	if (!rc && !a.file)
		rc = no_lines(v, f, d);
	if (!rc && !annotate_nlines(&a))
		rc = diag_error(d,
				"source '%s': not found; %s%s", a.file, annotate_remedy(&a),
				f && f->obj->kernel ? " (Debian has the kernel's source in "
						      "linux-source-*)"
						    : "");
	if (!rc) {
		put_file(&a);
		annotate_mark(&a, v->annotation.sthresh);
	}
	annotate_free(&a);
	return rc;
}
