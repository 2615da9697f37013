/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a parser of names of generated code returns. */
#ifndef JIT_FIXTURE_H
#define JIT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "user/jit/batch.h"

enum { ROOM = 16, NAMES_ROOM = 8192 };

struct parsed {
	struct jit_entry entries[ROOM];
	char names[NAMES_ROOM];
	struct jit_batch b;
	size_t used;
};

static inline void parsed_init(struct parsed *p)
{
	p->b = (struct jit_batch){ .entries = p->entries, .room = ROOM, .names = p->names,
				   .names_room = NAMES_ROOM };
}

static inline void is_function(const struct parsed *p, size_t i, uint64_t start, uint32_t size,
			const char *name)
{
	const struct jit_entry *e = &p->entries[i];

	assert_true(i < p->b.n && jit_entry_is_sound(e, p->b.nnames));
	assert_int_equal(e->start, start);
	assert_int_equal(e->size, size);
	assert_int_equal(e->name_len, strlen(name));
	assert_memory_equal(p->names + e->name, name, e->name_len);
}

#endif
