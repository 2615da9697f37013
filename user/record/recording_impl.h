/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the parts of a recording only. recording.c makes, flushes and ends the outputs;
 * recording_stacks.c writes their stacks and pseudo functions.
 */
#ifndef USER_RECORD_RECORDING_IMPL_H
#define USER_RECORD_RECORDING_IMPL_H

#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "user/record/codes.h"
#include "user/record/recording.h"

/* A file that processes have mapped; pools.c has their numbers (user/space/files.h). */
enum { POOL_PARTS = 8 }; /* of one file; most have one */

enum { FAILED_MAX = 10000 }; /* processes of a segment that are listed only because they failed */

struct pool_part {
	uint64_t from, to; /* offsets in the file */
};

struct pool_file {
	bool known;
	struct binary *binary; /* NULL: it is not archived */
	char *path;            /* if there is no binary */
	struct pool_part parts[POOL_PARTS];
	unsigned nparts;
	uint64_t extent; /* user/space/extent.h; 0: unknown */
	bool has_extent; /* it was looked for */
};

struct output {
	struct expwriter *w;
	struct image *image; /* NULL: covers many processes */
	struct map stacks;        /* those written: id to uid */
	bool pool;                /* shared by the processes of a program, see pools.h */
	bool program;             /* the founder of a plan with `program`: one process */
	/* pcs of the pseudo functions that are written; in a pool also parts of files */
	struct map shown;
	struct strtab pseudo;     /* pseudo functions of this output; the id gives the address */
	uint64_t bytes;           /* included in the recording's bytes */
	bool dirty;
	bool waited;              /* the last flush skipped it: too little data */
};

/*
 * What belongs to one experiment on disk: its outputs, and what is already written into them.
 * recording_switch replaces all of it.
 */
struct segment {
	struct exp_header header;
	struct output founder;
	struct output *others; /* NULL: not made yet */
	struct map pools;      /* key of a program (pools.c), to struct output * */
	size_t npools;
	bool no_others;      /* making `others` failed */
	VEC(struct output *) dirty;
	VEC(struct output *) open;
	size_t nsubs, max_subs; /* with one process each */
	size_t nprocesses;    /* lines of processes.xml */
	size_t nfailed;       /* of them: those of processes that are listed only because they failed */
	size_t nknown;        /* stacks in the maps of all outputs */
	uint32_t last_uid;    /* of a stack; unique among all outputs: packets refer across */
	struct strtab stems;  /* of sub-experiments' names; ids index `used` */
	VEC(unsigned) used;   /* the highest number used with the stem */
	uint64_t bytes;
	struct map callers;   /* kernel pcs of callers whose functions are written; no values */
	bool fresh_ksyms;     /* the founder has kernel symbols that are not on disk yet */
	int error;            /* -errno of a flush that failed */
};

/* What is known of the system stays here when one segment follows another. */
struct recording {
	const struct plan *plan;
	struct segment *segment; /* in use */
	struct segment *next;    /* made by recording_prepare; NULL: none */
	VEC(struct pool_file) pool_files; /* by number */
	struct ksymtab *ksyms; /* NULL: nothing is profiled */
	struct codes *codes;
	struct drops *drops;
	void (*relief)(void *ctx); /* NULL: none */
	void *relief_ctx;
	uint64_t relieved_ns;      /* when it was last called */
	bool (*on_full)(void *ctx); /* NULL: none */
	void *full_ctx;
	void (*generated)(void *ctx, struct output *p, uint64_t pc); /* NULL: none */
	void *generated_ctx;
};

/*
 * Create a sub-experiment, named by the stem and a number: for the image, or for many processes
 * (NULL). `command` says what it runs. NULL if that fails.
 */
struct output *output_create(struct recording *b, struct image *im, const char *stem,
			     const char *command);
/* Mark the output as having data to flush. */
void recording_touch(struct recording *b, struct output *p);

/* --- recording_stacks.c --- */

/* Forget which stacks are written: their frames may have new addresses, so they are rewritten. */
void output_forget_stacks(struct recording *b, struct output *p);

#endif
