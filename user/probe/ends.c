/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/ends.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/symbols/symtab.h"
#include "user/probe/rawsyms.h"
#include "user/unwind/insn.h"

enum { RANGES_MAX = 8, CODE_MAX = 1 << 20, ENDS_MAX = 64 };

/* gcc and clang put what an unwinder has to do in a function into this section: C++, Rust, Ada, D. */
bool ends_unwound(const struct image_file *im)
{
	const char *name;
	size_t names;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(im->elf, &names))
		return true;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(im->elf, s));) {
		name = gelf_getshdr(s, &sh) ? elf_strptr(im->elf, names, sh.sh_name) : NULL;
		if (name && !strncmp(name, ".gcc_except_table", 17))
			return true;
	}
	return false;
}

/* Of libc, boost and PHP, Ruby, libcoro, libco. */
bool ends_switched(const struct image_file *im)
{
	static const char *const switches[] = {
		"makecontext", "*jump_fcontext", "coroutine_transfer", "coro_transfer", "co_switch", NULL
	};

	return rawsyms_any(im->elf, switches);
}

/* A part of the function. */
struct range {
	uint64_t start, end;
	bool other;      /* perhaps a function of its own */
	uint8_t *code;
	uint8_t *begins; /* for each byte: an instruction begins there */
};

struct search {
	const struct image_file *im;
	const struct symtab *t;
	struct range ranges[RANGES_MAX];
	size_t n;
	VEC(uint64_t) targets; /* of jumps within the function */
	bool table;            /* an indirect jump has to be told from one within */
	probe_ends *ends;
};

static const struct range *range_of(const struct search *f, uint64_t addr)
{
	for (size_t i = 0; i < f->n; i++)
		if (addr >= f->ranges[i].start && addr < f->ranges[i].end)
			return &f->ranges[i];
	return NULL;
}

static bool add_range(struct search *f, uint64_t start, uint64_t end, bool other)
{
	uint64_t offset = image_offset(f->im, start, true);
	size_t n = end - start;
	struct range *r = &f->ranges[f->n];

	if (f->n == RANGES_MAX || end <= start || n > CODE_MAX || offset == (uint64_t)-1)
		return false;
	*r = (struct range){ .start = start, .end = end, .other = other, .code = xcalloc(n, 1),
			     .begins = xcalloc(n, 1) };
	f->n++;
	return pread(f->im->binary->fd, r->code, n, offset) == (ssize_t)n;
}

static bool add_end(struct search *f, const struct range *r, uint64_t at, const struct insn *in)
{
	uint64_t offset = image_offset(f->im, at, true);
	struct probe_end end = { .offset = offset, .vaddr = at, .tail = in->kind != INSN_RETURN,
				 .target = in->kind == INSN_JUMP ? in->target : 0, .other = r->other,
				 .jump = in->place };

	/* A breakpoint for both the begin and the end: their order is not known. */
	if (at == f->ranges[0].start || offset == (uint64_t)-1 || f->ends->len == ENDS_MAX)
		return false;
	f->table |= in->place.kind != ER_PLACE_NONE;
	vec_push(f->ends, end);
	return true;
}

/* A jump out of the known parts: to another one, or by a tail call. False: not certain. */
static bool leave(struct search *f, const struct range *r, uint64_t at, const struct insn *in)
{
	const struct sym *sym = symtab_find(f->t, in->target);
	uint64_t start, end;
	bool known;

	if (sym && strstr(sym->name, ".cold"))
		return add_range(f, sym->addr, sym->addr + sym->size, false);
	if (sym)
		return in->kind == INSN_JUMP && sym->addr == in->target && add_end(f, r, at, in);
	/* Only a part of this function is entered elsewhere than at its begin. */
	return symtab_gap(f->t, in->target, &start, &end, &known) && known && add_range(f, start, end, true);
}

static bool take(struct search *f, const struct range *r, uint64_t at, const struct insn *in)
{
	switch (in->kind) {
	case INSN_OTHER:
	case INSN_TABLE:
		return true;
	case INSN_RETURN:
	case INSN_INDIRECT:
		return add_end(f, r, at, in);
	default:
		break;
	}
	if (!range_of(f, in->target) && !leave(f, r, at, in))
		return false;
	if (range_of(f, in->target))
		vec_push(&f->targets, in->target);
	return true;
}

/* From its begin to its end, one instruction after the other. */
static bool decode(struct search *f, size_t i)
{
	struct range r = f->ranges[i];
	struct insn in;

	for (uint64_t at = r.start; at < r.end; at += in.length) {
		if (insn_decode(r.code + (at - r.start), r.end - at, at, &in))
			return false;
		r.begins[at - r.start] = 1;
		if (!take(f, &r, at, &in))
			return false;
	}
	return true;
}

/* All jumps meet instructions, so the decoder was never out of step. */
static bool is_consistent(const struct search *f)
{
	vec_for_each (target, &f->targets) {
		const struct range *r = range_of(f, *target);

		if (!r->begins[*target - r->start])
			return false;
	}
	return true;
}

/* What an indirect jump may reach without leaving the function. */
static bool set_bounds(struct search *f)
{
	if (f->table && f->n > ER_SPAN_PARTS)
		return false;
	vec_for_each (end, f->ends) {
		for (size_t i = 0; i < f->n && i < ER_SPAN_PARTS; i++) {
			end->low[i] = f->ranges[i].start - end->vaddr;
			end->high[i] = f->ranges[i].end - end->vaddr;
		}
	}
	return true;
}

int ends_find(const struct image_file *im, const struct symtab *t, const struct sym *function,
	      probe_ends *ret)
{
	struct search f = { .im = im, .t = t, .ends = ret };
	bool ok = add_range(&f, function->addr, function->addr + function->size, false);

	for (size_t i = 0; ok && i < f.n; i++)
		ok = decode(&f, i);
	ok = ok && ret->len && is_consistent(&f) && set_bounds(&f);
	if (!ok)
		vec_free(ret);
	for (size_t i = 0; i < f.n; i++) {
		free(f.ranges[i].code);
		free(f.ranges[i].begins);
	}
	vec_free(&f.targets);
	return ok ? 0 : -1;
}
