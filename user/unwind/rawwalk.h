/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks raw stacks in user space: the copy that BPF sent because a table or a mapping was not
 * known at that moment (struct er_raw). The step from frame to frame is the one that BPF takes,
 * bpf/unwind_step.h.
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

/* What a walk reads; all of it is borrowed. */
struct walk_source {
	const struct unwind_maps *maps; /* the tables */
	const struct space *space;      /* of the process */
	uint64_t time_ns;               /* when the stack was copied */
	/* 8 bytes of code of a mapped file at an offset; false: cannot be read. NULL likewise. */
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
 * Walk. Ends at the first file without a table, unless `untabled`: then it goes on by frame
 * pointers, and the end is still that. `raw` has its nbytes bytes.
 */
void walk_raw(const struct walk_source *src, const struct er_raw *raw, bool untabled,
	      struct walk *ret);

#endif
