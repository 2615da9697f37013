/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files with names of generated code, in two pieces as a file that grows. The first byte says
 * whether it is a perf map (0) or a jitdump.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/report.h"
#include "user/jit/batch.h"
#include "user/jit/jitdump.h"
#include "user/jit/perfmap.h"

enum { ROOM = 64, NAMES_ROOM = 2048, FULL = 4096 };

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	report_quietly();
	return 0;
}

static size_t parse_map(const char *text, size_t size, struct jit_batch *b)
{
	size_t used = perfmap_parse(text, size, FULL, b);

	/* No whole line is left if there was room for it. */
	if (used > size || (b->n < ROOM && b->nnames + JIT_NAME_MAX <= NAMES_ROOM &&
			    memchr(text + used, '\n', size - used)))
		abort();
	return used;
}

static size_t parse_dump(const char *text, size_t size, struct jit_batch *b)
{
	struct jitdump d = { JITDUMP_HEADER, true };
	size_t used;

	jitdump_header(text, size, &d);
	used = jitdump_parse(&d, text, size, FULL, 0, b);
	return used < size ? used : size;
}

/* Parses a copy of the piece, which ends where its memory ends. Returns the used bytes. */
static size_t parse(bool dump, const uint8_t *data, size_t size)
{
	struct jit_entry *entries = malloc(ROOM * sizeof(*entries));
	char *names = malloc(NAMES_ROOM), *text = malloc(size ? size : 1);
	struct jit_batch b = { .entries = entries, .room = ROOM, .names = names,
			       .names_room = NAMES_ROOM };
	size_t used;

	memcpy(text, data, size);
	used = dump ? parse_dump(text, size, &b) : parse_map(text, size, &b);
	if (b.n > b.room || b.nnames > b.names_room)
		abort();
	for (size_t i = 0; i < b.n; i++) {
		bool note = entries[i].kind == JIT_LINES || entries[i].kind == JIT_ALIAS;

		if (!note && !jit_entry_is_sound(&entries[i], b.nnames))
			abort();
	}
	free(entries);
	free(names);
	free(text);
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool dump = size && *data;
	size_t used;

	if (!size)
		return 0;
	data++;
	size--;
	used = parse(dump, data, size / 2);
	parse(dump, data + used, size - used);
	return 0;
}
