/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walk a user stack in user space, by the same steps as BPF (bpf/unwind_step.h):
 * for stacks that were captured as registers and a piece of memory because their
 * files had no tables yet, and for tests.
 */
#ifndef USER_UNWIND_WALK_H
#define USER_UNWIND_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/unwind.h"

/* Where a pc lies: the table of the file, and the offset in the file. */
struct unwind_place {
	const struct er_unwind_file *file; /* NULL: the file has no unwind information */
	uint64_t offset;
	uint64_t frame; /* what the walk writes; unless set it is the pc */
};

/* What a walk asks for. All get `ctx`. */
struct unwind_source {
	/* 8 bytes of memory; false: not captured, or not readable. */
	bool (*read)(void *ctx, uint64_t at, uint64_t *value);
	/*
	 * ER_END_NOT and the place of `pc`, or why the walk ends there. `ip` is the frame's: pc,
	 * or the return address behind it. A return address of which it says ER_END_NO_MAPPING
	 * is none, and not written.
	 */
	enum er_end (*find)(void *ctx, uint64_t pc, uint64_t ip, struct unwind_place *ret);
	/* `n` words of the last place's table; NULL: it has no such words. */
	const uint32_t *(*words)(void *ctx, uint32_t at, uint32_t n);
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
	size_t n;         /* frames */
	enum er_end end;
	bool frame_pointers; /* some frame was found by a frame pointer */
};

/*
 * Write the stack's frames, the leaf's first, at most `max` of them: callers as return addresses,
 * what a signal interrupted as the exact pc.
 */
struct unwind_walked unwind_walk(const struct unwind_source *s, const struct unwind_leaf *leaf,
				 uint64_t *frames, size_t max);

#endif
