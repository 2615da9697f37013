/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_code.h"

#include <string.h>

#include "analysis/base/diag.h"
#include "analysis/base/interrupt.h"
#include "analysis/base/json.h"
#include "analysis/export/export.h"
#include "analysis/export/page_pack.h"
#include "analysis/export/page_table.h"
#include "analysis/export/page_tree.h"
#include "analysis/model/source.h"
#include "analysis/views/annotate.h"
#include "analysis/views/functions.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

/* The page has the code of so many functions, the first of er_print's list, as far as it fits. */
enum { FUNCS_MAX = 40, BYTES_MAX = 8 << 20 };

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
	struct buf reports, funcs; /* elements of two arrays */
	size_t nreports, nfuncs;
	VEC(struct source_shown) sources;
};

/* Append a report. Returns its index; -1: it cannot be made, or there is no room. */
static int put_code_report(struct coding *c, make_fn *make, const char *command,
			   const struct func *f)
{
	struct diag kept = { 0 };
	struct table t = { 0 };
	struct buf b = { 0 };
	int ret = -1;

	if (!make(c->x->view, f, NULL, &t, &kept)) {
		put_table_json(&b, command, &t);
		if (c->reports.len + b.len <= BYTES_MAX) {
			buf_puts(&c->reports, c->nreports ? "," : "");
			buf_add(&c->reports, b.data, b.len);
			ret = (int)c->nreports++;
		}
	}
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
	new.report = put_code_report(c, view_source, "source", f);
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
	ret = put_code_report(c, view_disasm, "disasm", f);
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
	for (size_t i = 1; i < funcs.len && i <= FUNCS_MAX && !interrupt_pending(); i++) {
		const struct func *f = v->session->funcs.data[funcs.data[i].func->id];

		if (!(f->flags & FUNC_PSEUDO))
			put_func(c, f);
	}
	v->annotation.may_show = NULL;
	vec_free(&funcs);
}

bool make_code(const struct export *x, const struct page_tree *tree, struct pack *ret)
{
	struct coding c = { .x = x, .tree = tree };

	if (x->redact || x->no_source)
		return false;
	put_hottest(&c);
	pack_begin(ret, "json");
	buf_printf(&ret->bytes, "{\"funcs\":[%s],\"reports\":[",
		   c.funcs.data ? c.funcs.data : "");
	buf_add(&ret->bytes, c.reports.data ? c.reports.data : "", c.reports.len);
	buf_puts(&ret->bytes, "]}");
	pack_end(ret);
	buf_free(&c.reports);
	buf_free(&c.funcs);
	vec_free(&c.sources);
	return true;
}
