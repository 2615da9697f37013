/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each FDE becomes a span of the file with its rows. The spans are sorted by their start. Overlaps
 * are cut off. Then the rows are written in order, without rows that equal the row before them.
 */
#include "user/unwind/table.h"

#include <errno.h>
#include <string.h>

#include "analysis/base/vec.h"
#include "user/unwind/asmcode.h"
#include "user/unwind/cfi.h"
#include "user/unwind/debugframe.h"
#include "user/unwind/elftext.h"
#include "user/unwind/goframes.h"
#include "user/unwind/knowncode.h"
#include "user/unwind/padding.h"
#include "user/unwind/rules.h"

enum {
	ROWS_MAX = 1 << 24, /* twice as many as the largest table can have */
	PADDING_MAX = 64, /* longest padding between functions */
	ALIGNMENT = 16, /* of functions */
};

/* A function's code: file offsets [begin, end), and its rows. */
struct span {
	uint64_t begin, end;
	uint32_t row, nrows;
	uint32_t order; /* with equal starts, the earlier one in the section wins */
};

struct row {
	uint32_t off; /* from the beginning of its span */
	uint16_t rule;
};

struct builder {
	const struct elftext *elf;
	struct cfi cfi;
	struct knowncode known;
	bool needs_bx; /* a frame is found by rbx */
	struct rules rules;
	VEC(struct span) spans;
	VEC(struct row) rows;
	struct span *span;      /* the span that is being read, */
	uint64_t addr;          /* and the address of its beginning */
	struct unwind_counts *counts;
	bool full;
};

static void add_row(void *ctx, uint64_t pc, const struct er_unwind_rule *rule)
{
	struct builder *b = ctx;

	if (b->rows.len >= ROWS_MAX) {
		b->full = true;
		return;
	}
	b->counts->cfi_rows++;
	b->counts->bad_rows += rule->cfa == ER_CFA_BAD;
	b->needs_bx |= rule->cfa == ER_CFA_REG && (rule->reg & 15) == ER_DWARF_RBX;
	vec_push(&b->rows, (struct row){ .off = pc - b->addr, .rule = rules_number(&b->rules, rule) });
}

/* Whether an FDE's code lies in one executable segment; where it lies in the file. */
static bool place(const struct builder *b, const struct ehframe_fde *f, struct span *ret)
{
	uint64_t last;

	if (!elftext_offset(b->elf, f->pc_begin, &ret->begin) ||
	    !elftext_offset(b->elf, f->pc_end - 1, &last))
		return false;
	ret->end = last + 1;
	return ret->end - ret->begin == f->pc_end - f->pc_begin &&
	       ret->end - ret->begin <= UINT32_MAX;
}

static void add_section(struct builder *b, const struct ehframe_section *s)
{
	struct ehframe e;
	struct ehframe_fde f;
	struct span span;

	b->cfi = (struct cfi){ .follow_bx = b->needs_bx };
	ehframe_begin(&e, s);
	while (!b->full && ehframe_next(&e, &f)) {
		if (!place(b, &f, &span)) {
			b->counts->outside++;
			continue;
		}
		b->addr = f.pc_begin;
		span.row = b->rows.len;
		span.order = b->spans.len;
		if (s->debug_frame && knowncode_is_goexit(b->elf, span.begin, span.end))
			add_row(b, b->addr, &knowncode_outermost);
		else
			cfi_run(&b->cfi, s, &f, add_row, b);
		span.nrows = b->rows.len - span.row;
		vec_push(&b->spans, span);
	}
	b->counts->bad_entries += e.nbad + e.cut;
}

/* A Go program's own table. Its rules are those of its .debug_frame, where that is right. */
static void add_go(struct builder *b)
{
	struct go_function f;
	size_t first = b->spans.len;
	struct goframes g;
	struct span span;

	if (!goframes_open(&g, b->elf))
		return;
	while (!b->full && goframes_next(&g, &f)) {
		struct ehframe_fde range = { .pc_begin = f.start, .pc_end = f.end };

		if (!place(b, &range, &span))
			continue;
		b->addr = f.start;
		span.row = b->rows.len;
		span.order = b->spans.len;
		span.end = span.begin + (goframes_rules(&g, &f, add_row, b) - f.start);
		span.nrows = b->rows.len - span.row;
		if (span.nrows)
			vec_push(&b->spans, span);
		else if (b->spans.len > first && b->spans.data[b->spans.len - 1].end == span.begin)
			b->spans.data[b->spans.len - 1].end--; /* knowncode_in needs this byte */
	}
	goframes_close(&g);
}

static bool before(const struct span *a, const struct span *b)
{
	return a->begin != b->begin ? a->begin < b->begin : a->order < b->order;
}

/* Merge the sorted [from, middle) and [middle, to) of `in` to the same place of `out`. */
static void merge(const struct span *in, struct span *out, size_t from, size_t middle, size_t to)
{
	for (size_t i = from, a = from, b = middle; i < to; i++)
		out[i] = b == to || (a < middle && before(&in[a], &in[b])) ? in[a++] : in[b++];
}

/*
 * Sorting is done here: the C library's qsort asks for the size of memory, which the sandbox
 * forbids.
 */
static void sort(struct builder *b)
{
	size_t n = b->spans.len, sorted = 1;
	struct span *in = b->spans.data, *out;

	while (sorted < n && before(&in[sorted - 1], &in[sorted]))
		sorted++;
	if (sorted >= n) /* usual: linkers sort them */
		return;
	out = xmalloc(b->spans.cap * sizeof(*out));
	for (size_t width = 1; width < n; width *= 2) {
		struct span *other = in;

		for (size_t i = 0; i < n; i += 2 * width)
			merge(in, out, i, i + width < n ? i + width : n,
			      i + 2 * width < n ? i + 2 * width : n);
		in = out;
		out = other;
	}
	b->spans.data = in;
	free(out);
}

/* Sort the spans, cut off overlaps, and remove spans that become empty. */
static void arrange(struct builder *b)
{
	size_t n = 0;

	sort(b);
	vec_for_each(s, &b->spans) {
		struct span *last = n ? &b->spans.data[n - 1] : NULL;

		if (last && last->begin == s->begin)
			continue;
		if (last && last->end > s->begin)
			last->end = s->begin;
		b->spans.data[n++] = *s;
	}
	b->spans.len = n;
}

/* Whether one of the first `n` spans, which are arranged, has a part of [begin, end). */
static bool has_entry(const struct builder *b, size_t n, uint64_t begin, uint64_t end)
{
	struct { const struct span *data; size_t len; } first = { b->spans.data, n };
	size_t at = vec_upto(&first, begin, begin);

	return (at && first.data[at - 1].end > begin) || (at < n && first.data[at].begin < end);
}

/*
 * The same for more spans. Also removes overlaps with the first `n` spans, which are arranged
 * already.
 */
static void arrange_rest(struct builder *b, size_t n)
{
	size_t keep = n;

	for (size_t i = n; i < b->spans.len; i++) {
		const struct span s = b->spans.data[i];

		if (!has_entry(b, n, s.begin, s.end))
			b->spans.data[keep++] = s;
	}
	b->spans.len = keep;
	arrange(b);
}

/*
 * Whether [begin, end) pads a function to the next one's alignment. Code without an entry is
 * aligned, too, so a gap from an unaligned address to the next aligned one has none. Most gaps are
 * of this kind. To look at their bytes would bring every page of the code into memory.
 */
static bool pads(const struct builder *b, uint64_t begin, uint64_t end)
{
	if (begin % ALIGNMENT && end % ALIGNMENT == 0 && end - begin < ALIGNMENT)
		return true;
	return end - begin <= PADDING_MAX && is_padding(b->elf->data + begin, end - begin);
}

/* --- the table's words --- */

struct writer {
	__u32 *rows;
	size_t nrows;
	__u32 *index;
	uint64_t first;
	size_t block; /* the first block whose index is not written yet */
	unsigned rule;
};

static void index_to(struct writer *w, size_t block)
{
	while (w->block <= block)
		w->index[w->block++] = w->nrows;
}

static void write_row(struct writer *w, uint64_t off, unsigned rule)
{
	if (rule == w->rule)
		return;
	index_to(w, (off - w->first) / ER_BLOCK_BYTES);
	w->rows[w->nrows++] = (off & 0xffff) | rule << 16;
	w->rule = rule;
}

/* Whether code without an entry follows the span; padding never runs and needs no row. */
static bool gap_after(const struct builder *b, const struct span *s)
{
	return s == b->spans.data + b->spans.len - 1 || !pads(b, s->end, s[1].begin);
}

static void write_span(struct writer *w, const struct builder *b, const struct span *s)
{
	const struct row *rows = b->rows.data + s->row;

	for (uint32_t i = 0; i < s->nrows && s->begin + rows[i].off < s->end; i++)
		write_row(w, s->begin + rows[i].off, rows[i].rule);
}

static int write_table(struct builder *b, struct unwind_table *t)
{
	const struct span *last = b->spans.data + b->spans.len - 1;
	size_t nrules = b->rules.list.len, blocks;
	struct writer w = { .first = b->spans.data[0].begin & ~(uint64_t)(ER_BLOCK_BYTES - 1) };

	if (last->end - w.first > UINT32_MAX)
		return -EFBIG;
	blocks = (last->end - w.first) / ER_BLOCK_BYTES + 1; /* includes the row of the end */
	t->file.first = w.first;
	t->file.blocks = blocks;
	t->file.nrules = nrules;
	t->file.index = nrules * ER_RULE_WORDS;
	t->file.rows = t->file.index + blocks + 1;
	/* Write each row, and a row for the end of each span. */
	t->words = xcalloc(t->file.rows + b->rows.len + b->spans.len, sizeof(*t->words));
	memcpy(t->words, b->rules.list.data, nrules * sizeof(*b->rules.list.data));
	w.index = t->words + t->file.index;
	w.rows = t->words + t->file.rows;
	vec_for_each(s, &b->spans) {
		write_span(&w, b, s);
		if (gap_after(b, s))
			write_row(&w, s->end, ER_RULE_NO_ENTRY);
	}
	index_to(&w, blocks);
	t->file.nrows = w.nrows;
	t->nwords = t->file.rows + w.nrows;
	return 0;
}

/* Rules for code that is known without an entry, in the gaps between the spans. */
static void add_known(void *ctx, uint64_t begin, uint64_t end, const struct er_unwind_rule *rule)
{
	struct builder *b = ctx;
	const struct span span = { .begin = begin, .end = end, .row = b->rows.len, .nrows = 1,
				   .order = b->spans.len };

	vec_push(&b->rows, (struct row){ .off = 0, .rule = rules_number(&b->rules, rule) });
	vec_push(&b->spans, span);
}

static void add_known_in(struct builder *b, const struct elftext_segment *seg)
{
	size_t n = b->spans.len;
	uint64_t at = seg->offset, end = seg->offset + seg->size;

	for (size_t i = 0; i < n; i++) {
		const struct span s = b->spans.data[i];

		/* Nearly all gaps are padding. A search takes much longer than this look. */
		if (s.begin > at && s.begin <= end && !pads(b, at, s.begin))
			knowncode_in(&b->known, at, s.begin, add_known, b);
		if (s.end > at)
			at = s.end;
	}
	if (at < end)
		knowncode_in(&b->known, at, end, add_known, b);
	arrange_rest(b, n);
}

static void add_code_row(void *ctx, uint64_t at, const struct er_unwind_rule *rule)
{
	struct builder *b = ctx;
	unsigned number = rule->cfa == ER_CFA_NO_ENTRY ? ER_RULE_NO_ENTRY : rules_number(&b->rules, rule);

	vec_push(&b->rows, (struct row){ .off = at, .rule = number });
}

/* Functions that have a symbol and no entry. */
static void add_by_code(struct builder *b)
{
	struct elftext_functions it = { 0 };
	struct ehframe_fde range;
	size_t n = b->spans.len;
	uint64_t size;

	while (b->rows.len < ROWS_MAX - ASMCODE_BYTES && elftext_next_function(b->elf, &it, &range.pc_begin, &size)) {
		struct span span = { .row = b->rows.len, .order = b->spans.len };

		range.pc_end = range.pc_begin + size;
		if (size > ASMCODE_BYTES || !place(b, &range, &span) || has_entry(b, n, span.begin, span.end) ||
		    !asmcode_rules(b->elf->data + span.begin, size, add_code_row, b))
			continue;
		span.nrows = b->rows.len - span.row;
		vec_push(&b->spans, span);
	}
	arrange_rest(b, n);
}

static void read_sections(struct builder *b, const struct elftext *debug)
{
	struct ehframe_section s;
	struct debugframe f;
	size_t n;

	if (elftext_ehframe(b->elf, &s))
		add_section(b, &s);
	arrange(b);
	n = b->spans.len;
	add_go(b);
	arrange_rest(b, n);
	n = b->spans.len;
	if (debugframe_open(&f, debug)) {
		add_section(b, &f.section);
		arrange_rest(b, n);
		debugframe_close(&f);
	}
}

static int build(struct builder *b, const struct elftext *debug, struct unwind_table *ret)
{
	read_sections(b, debug);
	if (b->needs_bx) { /* once more, now with rbx */
		ret->counts = (struct unwind_counts){ .text = ret->counts.text };
		b->rows.len = b->spans.len = 0;
		rules_fini(&b->rules);
		rules_init(&b->rules);
		read_sections(b, debug);
	}
	ret->counts.functions = b->spans.len;
	knowncode_init(&b->known, b->elf);
	for (unsigned i = 0; i < b->elf->nsegments; i++)
		add_known_in(b, &b->elf->segments[i]);
	add_by_code(b);
	if (b->full)
		return -EFBIG;
	return b->spans.len ? write_table(b, ret) : -ENODATA;
}

int unwind_table_build(const struct unwind_input *in, struct unwind_table *ret)
{
	struct builder b = { .counts = &ret->counts };
	struct elftext elf, debug;
	int err = elftext_open(&elf, in->elf, in->elf_size);

	*ret = (struct unwind_table){ 0 };
	if (err)
		return err;
	if (!in->debug || elftext_open(&debug, in->debug, in->debug_size))
		debug = elf;
	b.elf = &elf;
	for (unsigned i = 0; i < elf.nsegments; i++)
		ret->counts.text += elf.segments[i].size;
	rules_init(&b.rules);
	err = build(&b, &debug, ret);
	rules_fini(&b.rules);
	vec_free(&b.spans);
	vec_free(&b.rows);
	if (err)
		unwind_table_free(ret);
	return err;
}

bool unwind_table_is_sound(const struct er_unwind_file *f, size_t nwords)
{
	uint64_t words = (uint64_t)f->nrules * ER_RULE_WORDS + f->blocks + 1 + f->nrows;

	return f->nrules && f->nrules <= ER_RULE_MAX && f->index == f->nrules * ER_RULE_WORDS &&
	       !f->rules && f->rows == f->index + f->blocks + 1 && words == nwords &&
	       words <= UNWIND_TABLE_BYTES / sizeof(__u32) && !(f->first % ER_BLOCK_BYTES);
}

void unwind_table_free(struct unwind_table *t)
{
	free(t->words);
	t->words = NULL;
	t->nwords = 0;
}
