/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks raw stacks in user space. BPF sends a copy of the stack (struct er_raw) if a table or a
 * mapping is not known at that moment. The steps are those of BPF's walk, bpf/unwind_step.h.
 */
#ifndef USER_UNWIND_RAWWALK_H
#define USER_UNWIND_RAWWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/er_event.h"
#include "user/space/procmap.h"

struct unwind_maps;
struct vm_memory;

/* The data that a walk reads. All of it is borrowed. */
struct walk_source {
	const struct unwind_maps *maps; /* the tables */
	const struct space *space;      /* of the process */
	uint64_t time_ns;               /* when the stack was copied */
	/*
	 * Read 8 bytes of code of a mapped file at an offset. False, or a NULL function: not
	 * readable.
	 */
	bool (*code)(void *ctx, uint32_t file, uint64_t offset, uint64_t *ret);
	void *ctx;
	struct vm_memory *vm; /* the process's Java VM; NULL: it has none, or it is not known */
};

struct walk {
	uint64_t frames[ER_MAX_USER_FRAMES]; /* as in struct er_stack */
	uint32_t n;
	uint32_t end;                   /* enum er_end */
	bool guessed;                   /* as ER_STACK_GUESSED says */
	bool wants_vm;                  /* some frame is generated code */
	const struct mapping *lacking;  /* NO_TABLE, EVICTED: where the code lies */
};

/*
 * Walks the stack. What describes the Java VM's code is read as it is now: a method that a stack has stays
 * where it is. The walk ends at the first file without a table. With `untabled` it continues by
 * frame pointers, but reports the same end. `raw` must have its nbytes bytes.
 */
void walk_raw(const struct walk_source *src, const struct er_raw *raw, bool untabled,
	      struct walk *ret);

#endif
