/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of a recording share; nobody else includes this. recording.c makes, flushes
 * and ends the outputs; recording_stacks.c writes their stacks and pseudo functions.
 */
#ifndef USER_RECORD_RECORDING_IMPL_H
#define USER_RECORD_RECORDING_IMPL_H

#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "user/record/recording.h"

struct output {
	struct expwriter *w;
	const struct image *image; /* NULL: of no one process */
	struct map stacks;        /* written: id to uid */
	struct map shown;         /* pcs of pseudo functions that are written */
	struct strtab pseudo;     /* names of this output alone; ids give addresses */
	uint64_t bytes;           /* that the recording has counted */
	bool dirty;
	bool waited;              /* a flush went by while it had little */
};

struct recording {
	struct exp_header header;
	struct output founder;
	struct output *others; /* NULL: not needed so far */
	bool no_others;      /* it could not be made */
	VEC(struct output *) dirty;
	VEC(struct output *) open;
	size_t nsubs, nknown; /* nknown: stacks that outputs know */
	uint32_t last_uid;    /* of stacks: none twice, since packets refer to those of other outputs */
	struct strtab stems;  /* of names in use; ids index `used` */
	VEC(unsigned) used;   /* the highest number */
	uint64_t bytes, limit;
	const counter_list *counters;
	bool clock;           /* there are clock packets at all */
	bool waits;           /* sub-experiments have packets of times off a CPU */
	struct ksymtab *ksyms; /* NULL: nothing is profiled */
	struct map callers;   /* in the kernel, of stacks whose functions are written; no values */
	bool fresh_ksyms;     /* of those the founder has some that are not on disk */
	struct drops *drops;
	int error; /* of a flush that failed */
	void (*relief)(void *ctx); /* NULL: none */
	void *relief_ctx;
	uint64_t relieved_ns;      /* when it was last called */
};

/* The output has something to flush. */
void recording_touch(struct recording *b, struct output *p);

/* --- recording_stacks.c --- */

/* Stacks are written again when they come again: their frames may have other addresses. */
void output_forget_stacks(struct recording *b, struct output *p);

#endif
