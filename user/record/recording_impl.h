/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the parts of a recording only. recording.c makes, flushes and ends the outputs;
 * recording_stacks.c writes their stacks and pseudo functions.
 */
#ifndef USER_RECORD_RECORDING_IMPL_H
#define USER_RECORD_RECORDING_IMPL_H

#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "user/record/recording.h"

struct output {
	struct expwriter *w;
	const struct image *image; /* NULL: covers many processes */
	struct map stacks;        /* those written: id to uid */
	struct map shown;         /* pcs of the pseudo functions that are written */
	struct strtab pseudo;     /* pseudo functions of this output; the id gives the address */
	uint64_t bytes;           /* included in the recording's bytes */
	bool dirty;
	bool waited;              /* the last flush skipped it: too little data */
};

struct recording {
	struct exp_header header;
	struct output founder;
	struct output *others; /* NULL: not made yet */
	bool no_others;      /* making `others` failed */
	VEC(struct output *) dirty;
	VEC(struct output *) open;
	size_t nsubs, nknown; /* nknown: stacks in the maps of all outputs */
	uint32_t last_uid;    /* of a stack; unique among all outputs: packets refer across */
	struct strtab stems;  /* of sub-experiments' names; ids index `used` */
	VEC(unsigned) used;   /* the highest number used with the stem */
	uint64_t bytes, limit;
	struct ksymtab *ksyms; /* NULL: nothing is profiled */
	struct map callers;   /* kernel pcs of callers whose functions are written; no values */
	bool fresh_ksyms;     /* the founder has kernel symbols that are not on disk yet */
	struct drops *drops;
	int error; /* -errno of a flush that failed */
	void (*relief)(void *ctx); /* NULL: none */
	void *relief_ctx;
	uint64_t relieved_ns;      /* when it was last called */
};

/* Mark the output as having data to flush. */
void recording_touch(struct recording *b, struct output *p);

/* --- recording_stacks.c --- */

/* Forget which stacks are written: their frames may have new addresses, so they are rewritten. */
void output_forget_stacks(struct recording *b, struct output *p);

#endif
