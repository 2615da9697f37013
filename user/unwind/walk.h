/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks a user stack in user space, by the same steps as BPF (bpf/unwind_step.h). Used for stacks
 * that were captured as registers and a piece of memory because their files had no tables yet, and
 * by tests.
 */
#ifndef USER_UNWIND_WALK_H
#define USER_UNWIND_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/hotspot.h"
#include "bpf/unwind.h"

/* Where a pc lies: the table of the file, and the offset in the file. */
struct unwind_place {
	const struct er_unwind_file *file; /* NULL: no unwind information */
	uint64_t offset;
	uint64_t frame; /* the frame that the walk writes; by default the pc */
};

/* The functions that a walk calls. All get `ctx`. */
struct unwind_source {
	/* Read 8 bytes of memory. False: not captured, or not readable. */
	bool (*read)(void *ctx, uint64_t at, uint64_t *value);
	/*
	 * Find the place of `pc`. Returns ER_END_NOT, or why the walk ends there. `ip` is the
	 * frame's own address: pc, or the return address after it. If the result for a return
	 * address is ER_END_NO_MAPPING, it is not a return address and no frame is written.
	 */
	enum er_end (*find)(void *ctx, uint64_t pc, uint64_t ip, struct unwind_place *ret);
	/* `n` words of the last place's table. NULL: it has no such words. */
	const uint32_t *(*words)(void *ctx, uint32_t at, uint32_t n);
	/*
	 * Read a register of the leaf by its DWARF number. False: not captured. NULL: no register
	 * is.
	 */
	bool (*reg)(void *ctx, unsigned reg, uint64_t *value);
	/* The address of the thread's own block (TLS). False, or a NULL function: not known. */
	bool (*thread_block)(void *ctx, uint64_t *value);
	/* Whether pc lies in code that belongs to no file. NULL: never. */
	bool (*generated)(void *ctx, uint64_t pc);
	/* The start and end of such code's mapping. False, or a NULL function: not known. */
	bool (*mapping)(void *ctx, uint64_t pc, uint64_t range[2]);
	/* Whether `at` lies in such code and was not captured. NULL: never. */
	bool (*uncopied)(void *ctx, uint64_t at);
	/* The Java VM of the process, whose memory can be read. NULL: none. */
	const struct er_hotspot *hotspot;
	void *ctx;
};

struct unwind_leaf {
	uint64_t ip, sp, bp;
};

struct unwind_walked {
	size_t n;         /* frames */
	enum er_end end;
	bool frame_pointers; /* some frame was found by a frame pointer */
	bool guessed;        /* as ER_STACK_GUESSED says */
};

/*
 * Write at most `max` frames of the stack, leaf first. Callers are return addresses; code that a
 * signal interrupted is an exact pc.
 */
struct unwind_walked unwind_walk(const struct unwind_source *s, const struct unwind_leaf *leaf,
				 uint64_t *frames, size_t max);

#endif
