/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks raw stacks in user space: the copy that BPF sent because a table or a mapping was not
 * known at that moment (struct er_raw). The step from frame to frame is the one that BPF
 * takes, bpf/unwind_step.h.
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

/* The data that a walk reads; all borrowed. */
struct walk_source {
	const struct unwind_maps *maps; /* the tables */
	const struct space *space;      /* of the process */
	uint64_t time_ns;               /* when the stack was copied */
	/* 8 bytes of code of a mapped file at an offset; false, or NULL: cannot be read. */
	bool (*code)(void *ctx, uint32_t file, uint64_t offset, uint64_t *ret);
	void *ctx;
};

struct walk {
	uint64_t frames[ER_MAX_USER_FRAMES]; /* as in struct er_stack */
	uint32_t n;
	uint32_t end;                   /* enum er_end */
	const struct mapping *lacking;  /* NO_TABLE, EVICTED: where the code lies */
};

/*
 * Walks the stack. Ends at the first file without a table. With `untabled` it continues by frame
 * pointers, but reports the same end. `raw` has its nbytes bytes.
 */
void walk_raw(const struct walk_source *src, const struct er_raw *raw, bool untabled,
	      struct walk *ret);

#endif
