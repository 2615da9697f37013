/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks a user stack in user space, by the same steps as BPF (bpf/unwind_step.h): for stacks
 * that were captured as registers and a piece of memory because their files had no tables yet,
 * and for tests.
 */
#ifndef USER_UNWIND_WALK_H
#define USER_UNWIND_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/unwind/table.h"

/* Where a pc lies: the table of the file, and the offset in the file. */
struct unwind_place {
	const struct unwind_table *table; /* NULL: the file has no unwind information */
	uint64_t offset;
};

/* Functions that a walk calls. All get `ctx`. */
struct unwind_source {
	/* 8 bytes of memory; false: not captured, or not readable. */
	bool (*read)(void *ctx, uint64_t at, uint64_t *value);
	/* Returns ER_END_NOT and the place of a pc, or why the walk ends there. */
	enum er_end (*find)(void *ctx, uint64_t pc, struct unwind_place *ret);
	/* A register of the leaf by its DWARF number; false: not captured. NULL: none is. */
	bool (*reg)(void *ctx, unsigned reg, uint64_t *value);
	/* Whether pc lies in code that belongs to no file. NULL: none does. */
	bool (*generated)(void *ctx, uint64_t pc);
	void *ctx;
};

struct unwind_leaf {
	uint64_t ip, sp, bp;
};

struct unwind_walked {
	size_t n;         /* frames, at least one: the leaf's ip */
	enum er_end end;
	bool frame_pointers; /* some frame was found by a frame pointer */
};

/*
 * Write the stack's pcs, the leaf's first, at most `max` (> 0) of them: callers as
 * return addresses, what a signal interrupted as the exact pc.
 */
struct unwind_walked unwind_walk(const struct unwind_source *s, const struct unwind_leaf *leaf,
				 uint64_t *pcs, size_t max);

#endif
