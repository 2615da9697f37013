/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/rawwalk.h"

#include <string.h>

#include "loaders/targets.h"
#include "loaders/unwind.h"
#include "user/space/space.h"
#include "user/unwind/vmmemory.h"
#include "user/unwind/walk.h"

struct raw_walk {
	const struct walk_source *src;
	const struct er_raw *raw;
	const struct mapping *mapping; /* the last one found */
	bool untabled;
	bool beyond;                   /* the walk needed memory that was not copied, */
	bool unread;                   /* or that describes the VM and cannot be read */
	bool generated;
	enum er_end lacks;             /* why the first missing table was missing, */
	const struct mapping *lacking; /* and whose */
};

static const struct mapping *mapping_of(struct raw_walk *w, uint64_t pc)
{
	if (w->mapping && pc - w->mapping->start < w->mapping->len)
		return w->mapping;
	return w->mapping = space_at(w->src->space, pc, w->src->time_ns);
}

static bool read_code(struct raw_walk *w, uint64_t at, uint64_t *value)
{
	const struct mapping *m = mapping_of(w, at);

	return m && m->file && w->src->code &&
	       w->src->code(w->src->ctx, m->file, m->pgoff + (at - m->start), value);
}

static bool in_code(const struct er_raw *raw, uint64_t at)
{
	return raw->code_at && at - raw->code_at <= sizeof(raw->code) - sizeof(uint64_t);
}

static bool is_generated(void *ctx, uint64_t pc)
{
	struct raw_walk *w = ctx;

	bool yes = !mapping_of(w, pc) && space_generated(w->src->space, pc);

	w->generated |= yes;
	return yes;
}

static bool is_uncopied(void *ctx, uint64_t at)
{
	const struct raw_walk *w = ctx;

	return !in_code(w->raw, at) && is_generated(ctx, at);
}

static bool read_copy(void *ctx, uint64_t at, uint64_t *value)
{
	struct raw_walk *w = ctx;
	uint64_t sp = w->raw->regs[ER_DWARF_RSP], off = at - sp;

	if (at >= sp && off + sizeof(*value) <= w->raw->nbytes) {
		memcpy(value, (const char *)w->raw->bytes + off, sizeof(*value));
		return true;
	}
	if (in_code(w->raw, at)) {
		memcpy(value, w->raw->code + (at - w->raw->code_at), sizeof(*value));
		return true;
	}
	if (read_code(w, at, value))
		return true;
	if (w->src->vm && vm_memory_has(w->src->vm, at)) {
		if (vm_memory_read(w->src->vm, at, value))
			return true;
		w->unread = true;
	}
	w->beyond |= at >= sp && !is_uncopied(ctx, at);
	return false;
}

static const uint32_t *table_words(void *ctx, uint32_t at, uint32_t n)
{
	const struct raw_walk *w = ctx;

	return unwind_maps_word(w->src->maps, at & ~(n - 1));
}

static bool leaf_reg(void *ctx, unsigned reg, uint64_t *value)
{
	const struct raw_walk *w = ctx;

	if (reg >= ER_DWARF_COUNT)
		return false;
	*value = w->raw->regs[reg];
	return true;
}

static enum er_end end_of_state(uint32_t state)
{
	if (state <= ER_FILE_PENDING)
		return ER_END_NO_TABLE;
	return state == ER_FILE_EVICTED ? ER_END_EVICTED : ER_END_NOT;
}

static enum er_end find_place(void *ctx, uint64_t pc, uint64_t ip, struct unwind_place *ret)
{
	struct raw_walk *w = ctx;
	const struct mapping *m = mapping_of(w, pc);
	const struct er_unwind_file *f;
	enum er_end end;

	if (!m)
		return is_generated(w, pc) ? ER_END_NOT : ER_END_NO_MAPPING;
	if (!m->file)
		return ER_END_NOT;
	ret->frame = er_frame(m->file, m->pgoff + (ip - m->start));
	ret->offset = m->pgoff + (pc - m->start);
	f = &unwind_maps_files(w->src->maps)[m->file];
	ret->file = f->state == ER_FILE_READY ? f : NULL;
	end = end_of_state(f->state);
	if (end && !w->lacks) {
		w->lacks = end;
		w->lacking = m;
	}
	return w->untabled ? ER_END_NOT : end;
}

void walk_raw(const struct walk_source *src, const struct er_raw *raw, bool untabled,
	      struct walk *ret)
{
	struct raw_walk w = { .src = src, .raw = raw, .untabled = untabled };
	const struct unwind_source source = { .read = read_copy, .find = find_place,
					      .words = table_words, .reg = leaf_reg,
					      .generated = is_generated, .uncopied = is_uncopied,
					      .hotspot = src->vm ? vm_memory_vm(src->vm) : NULL,
					      .ctx = &w };
	const struct unwind_leaf leaf = { .ip = raw->regs[ER_DWARF_RIP], .sp = raw->regs[ER_DWARF_RSP],
					  .bp = raw->regs[ER_DWARF_RBP] };
	struct unwind_walked walked = unwind_walk(&source, &leaf, ret->frames, user_stack_limit());

	ret->n = walked.n;
	ret->guessed = walked.guessed || w.unread;
	ret->wants_vm = w.generated;
	ret->lacking = w.lacking;
	ret->end = w.lacks ? w.lacks : walked.end;
	if (ret->end == ER_END_FAULT && w.beyond)
		ret->end = ER_END_SHORT;
}
