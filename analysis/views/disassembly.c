/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Annotated disassembly: the instructions of a function with their metrics, between the source
 * lines that they come from. A caller's pc lies inside its call instruction and counts for it.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/metrics/tally.h"
#include "analysis/symbols/demangle.h"
#include "analysis/symbols/disasm.h"
#include "analysis/views/annotate.h"
#include "analysis/views/columns.h"
#include "analysis/views/inlined.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

enum { CODE_MAX = 16 * 1024 * 1024, INLINED_AT = 34, HEX_MAX = 16 };

struct instruction {
	uint64_t offset;
	const char *text;
	size_t size;
};

struct disassembly {
	struct annotate a;
	struct disasm *decoder;
	unsigned classes;
	uint32_t shown;    /* source lines up to this one have been shown */
	/* lines up to this one, before the function's first line, are left out */
	uint32_t skipped;
	struct map before; /* those of them that were shown because code comes from them */

	/* The current function. */
	const struct func *func;
	VEC(struct instruction) insns;
	struct code_tally sums; /* indexed by instruction */
	uint32_t ninsns;        /* instructions of the functions before */
};

static bool name_address(void *ctx, uint64_t addr, struct buf *b)
{
	struct disassembly *dis = ctx;
	uint64_t offset;
	const char *name = func_name_at(dis->a.v->session, dis->func, addr, &offset);
	char *readable = name ? demangle(name, dis->a.v->name == NAME_LONG) : NULL;

	if (name)
		buf_puts(b, readable && dis->a.v->name != NAME_MANGLED ? readable : name);
	if (name && offset)
		buf_printf(b, "+0x%llx", (unsigned long long)offset);
	free(readable);
	return name;
}

static void decode_all(struct disassembly *dis, const unsigned char *code, size_t n)
{
	struct instruction insn = { 0 };

	dis->insns.len = 0;
	while (insn.offset < n) {
		struct buf text = { 0 };

		insn.size = disasm_one(dis->decoder, dis->func->addr + insn.offset,
				       code + insn.offset, n - insn.offset, &text)
				    .size;
		insn.text = arena_strdup(&dis->a.t->arena, text.data);
		buf_free(&text);
		vec_push(&dis->insns, insn);
		insn.offset += insn.size;
	}
}

static int no_code(const struct func *f, struct diag *d)
{
	const struct diag *why = &f->obj->diag;

	if (f->flags & FUNC_PSEUDO)
		return diag_error(d, "disasm '%s': it has no code", f->name);
	if (f->obj->kernel)
		return diag_error(
			d,
			"disasm '%s': the kernel's code is not known: have its vmlinux in "
			"the search path (setpath), or install linux-image-*-dbg%s%s",
			f->name, why->nmsgs ? "; " : "",
			why->nmsgs ? why->msgs[why->nmsgs - 1].text : "");
	if (f->obj->pseudo)
		return diag_error(d, "disasm '%s': it has no file, and its code was not recorded",
				  f->name);
	return diag_error(d,
			  "disasm '%s': the code of %s is not there: the archive holds its symbols "
			  "only, and %s is another file now; record with -A copy",
			  f->name, f->obj->name, f->obj->path);
}

static int decode(struct disassembly *dis, const struct func *f, struct diag *d)
{
	struct session *s = dis->a.v->session;
	const struct machine *m = func_machine(s, f);
	size_t want = f->size < CODE_MAX ? f->size : CODE_MAX, n;
	unsigned char *code;

	dis->func = f;
	if (!m)
		return no_code(f, d);
	if (!dis->decoder && !(dis->decoder = disasm_new(m, name_address, dis, d)))
		return -1;
	code = xmalloc(want + 1);
	n = func_code(s, f, 0, code, want);
	decode_all(dis, code, n);
	free(code);
	return n ? 0 : no_code(f, d);
}

static uint32_t insn_key(void *ctx, const struct frame *frame, const struct func *whole)
{
	struct disassembly *dis = ctx;
	size_t n = vec_upto(&dis->insns, offset, frame->offset);

	if (whole || frame->body != dis->func || frame->offset == FRAME_OUTLINED || !n)
		return CODE_KEY_NONE;
	return n - 1;
}

static void put_bytes(struct buf *b, struct session *s, const struct func *f,
		      const struct instruction *insn)
{
	unsigned char bytes[HEX_MAX];
	size_t n =
		func_code(s, f, insn->offset, bytes, insn->size < HEX_MAX ? insn->size : HEX_MAX);

	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%02x ", bytes[i]);
	buf_printf(b, "%*s", (int)(n < 8 ? (8 - n) * 3 + 1 : 1), "");
}

static void put_insn(struct disassembly *dis, size_t i, uint32_t line)
{
	struct session *s = dis->a.v->session;
	const struct instruction *insn = &dis->insns.data[i];
	struct buf b = { 0 }, inlined = { 0 };
	char number[16] = "?";
	size_t start;

	if (line)
		snprintf(number, sizeof(number), "%u", line);
	buf_printf(&b, "        [%s] %*llx:  ", number, (int)(12 - strlen(number)),
		   (unsigned long long)(dis->func->addr + insn->offset));
	if (dis->classes & REMARK_HEX)
		put_bytes(&b, s, dis->func, insn);
	start = b.len;
	buf_puts(&b, insn->text);
	put_inlined(&inlined, s, dis->func, insn->offset);
	while (inlined.len && b.len - start < INLINED_AT)
		buf_puts(&b, " ");
	if (inlined.len)
		buf_puts(&b, inlined.data);
	annotate_values(&dis->a, annotate_row(&dis->a, b.data), &dis->sums, CODE_INSNS, dis->ninsns, i);
	buf_free(&b);
	buf_free(&inlined);
}

/*
 * Show all source lines up to this one before its first instruction, each line once. Code may
 * come from a line before the function's first, such as the initializer of a C++ member; that
 * line is shown alone.
 */
static void put_lines_to(struct disassembly *dis, uint32_t line)
{
	uint32_t n = annotate_nlines(&dis->a);
	bool fresh = false;

	if (!(dis->classes & (REMARK_SRC | REMARK_ASRC)))
		return;
	if (line && line <= dis->skipped && line <= n)
		map_put(&dis->before, line, &fresh);
	if (fresh)
		annotate_line(&dis->a, line, dis->classes & REMARK_ASRC);
	for (; dis->shown < line && dis->shown < n; dis->shown++)
		annotate_line(&dis->a, dis->shown + 1, dis->classes & REMARK_ASRC);
}

/*
 * The line of an instruction: in the file that is shown, or in the file that the code comes from.
 */
static uint32_t insn_line(struct disassembly *dis, uint64_t offset, bool *here)
{
	struct srcline at;
	uint32_t line;

	*here = annotate_place(&dis->a, dis->func, offset, &line);
	if (*here)
		return line;
	return func_srcline(dis->a.v->session, dis->func, offset, &at) ? at.line : 0;
}

static void put_function(struct disassembly *dis, const struct listed_func *f)
{
	/* Begin with the first line of the function's own source. */
	if (f->first_line > 1 && dis->shown < f->first_line - 1) {
		for (uint32_t line = dis->skipped + 1; line <= dis->shown; line++)
			map_put(&dis->before, line, NULL);
		dis->skipped = f->first_line - 1;
		dis->shown = dis->skipped;
	}
	put_lines_to(dis, f->first_line);
	annotate_index(&dis->a, f, dis->classes, true);
	annotate_sum(&dis->a, CODE_INSNS, dis->ninsns, insn_key, dis, &dis->sums);
	for (size_t i = 0; i < dis->insns.len; i++) {
		bool here;
		uint32_t line = insn_line(dis, dis->insns.data[i].offset, &here);

		if (here)
			put_lines_to(dis, line);
		put_insn(dis, i, line);
	}
	code_tally_free(&dis->sums);
	dis->ninsns += dis->insns.len;
}

/* Whether to show a function: the one that was asked for and its parts, or all of a file. */
static bool wanted(const struct annotate *a, const struct func *f)
{
	return !a->func || func_is_part_of(a->v->session, f, a->func);
}

static int put_functions(struct disassembly *dis, struct diag *d)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < dis->a.funcs.len; i++) {
		const struct listed_func *f = &dis->a.funcs.data[i];

		if (!wanted(&dis->a, f->func))
			continue;
		rc = decode(dis, f->func, d);
		if (!rc)
			put_function(dis, f);
	}
	return rc;
}

int view_disasm(struct view_state *v, const struct func *f, const char *file, struct table *t,
		struct diag *d)
{
	struct disassembly dis = { .classes = v->annotation.dcc };
	int rc = annotate_init(&dis.a, v, f, file, t, d);

	t->name = "disasm";
	if (!rc)
		rc = put_functions(&dis, d);
	if (!rc && dis.a.file && !annotate_nlines(&dis.a) &&
	    dis.classes & (REMARK_SRC | REMARK_ASRC))
		put_note(t, "The source file was not found: %s", annotate_remedy(&dis.a));
	if (!rc)
		annotate_mark(&dis.a, v->annotation.dthresh);
	disasm_free(dis.decoder);
	vec_free(&dis.insns);
	map_free(&dis.before);
	annotate_free(&dis.a);
	return rc;
}
