/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call frame information. The first byte of the input chooses the section's form, the rest is
 * the section. Everything that the iterator returns must lie inside it.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>

#include "analysis/symbols/ehframe.h"

enum { DEBUG_FRAME = 1, SWAP = 2, NARROW = 4, DATA_BASE = 8 };

static volatile uint64_t sink;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	return 0;
}

static void check_inside(const struct ehframe_section *s, const struct ehframe_bytes *b)
{
	if (b->p < s->data || b->size > s->size || b->p + b->size > s->data + s->size)
		abort();
}

static void read_entries(const struct ehframe_section *s)
{
	struct ehframe_fde f;
	struct ehframe e;
	size_t n = 0;

	for (ehframe_begin(&e, s); ehframe_next(&e, &f); n++) {
		check_inside(s, &f.instructions);
		check_inside(s, &f.cie->instructions);
		if (f.pc_begin >= f.pc_end)
			abort();
	}
	if (n + e.nbad > s->size / 4)
		abort();
}

static void read_header(const struct ehframe_section *s)
{
	struct ehframe_hdr h;
	struct ehframe_fde f;
	struct ehframe e;
	uint64_t pc, fde;

	if (!ehframe_hdr_read(s, &h))
		return;
	ehframe_begin(&e, s);
	for (size_t i = 0; i < h.nfdes; i++) {
		ehframe_hdr_row(s, &h, i, &pc, &fde);
		if (ehframe_at(&e, fde - s->addr, &f))
			check_inside(s, &f.instructions);
		sink += pc;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ehframe_section s = { .addr = 0x4000 };

	if (!size)
		return 0;
	s.data = data + 1;
	s.size = size - 1;
	s.debug_frame = *data & DEBUG_FRAME;
	s.swap = *data & SWAP;
	s.addr_size = *data & NARROW ? 4 : 8;
	s.data_base = *data & DATA_BASE ? 0x9000 : 0;
	read_entries(&s);
	read_header(&s);
	return 0;
}
