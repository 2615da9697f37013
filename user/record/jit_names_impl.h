/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by jit_names.c and jit_scopes.c. */
#ifndef USER_RECORD_JIT_NAMES_IMPL_H
#define USER_RECORD_JIT_NAMES_IMPL_H

#include <linux/types.h>

#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "user/jit/batch.h"
#include "user/jit/file.h"
#include "user/jit/table.h"
#include "user/record/jit_memory.h"
#include "user/record/jit_names.h"
#include "user/record/jit_piece.h"

enum { MET = 1024 }; /* processes whose key is kept; another one may replace it */

/* The generated code of one image. */
struct code {
	struct image *image;
	struct output *output; /* NULL: none in this segment yet */
	uint64_t key;          /* of its jobs */
	struct jit_file file;
	struct jit_memory memory; /* is asked while there is no file */
	struct jit_table table;
	VEC(struct jit_piece) pieces;
	struct map pcs;        /* that stacks in the output mention; the value says: is labelled */
	VEC(uint64_t) sorted;  /* the same, in order unless `unsorted` */
	bool unsorted;
	bool all;              /* too many pcs: every function is written */
	bool reading;
	bool published;        /* its Java VM, for walks in the kernel; */
	bool known;            /* to the unwinder, for walks of copies */
	bool complete;         /* the process had ended before the last look */
	size_t scope_bytes;    /* written in this segment */
	uint64_t looked_ns;
	uint64_t asked_ns;     /* the last question about its memory */
	uint64_t from_ns;      /* what is being read was not there at this time; 0: at no time */
	uint64_t gone_ns;      /* when the last function was removed */
};

/* The key of a process's program at a time. */
struct met {
	uint64_t start_time, time_ns;
	uint32_t tgid, exec_id;
};

struct jit_names {
	struct met met[MET];
	struct recording *recording;
	struct unwind_worker *worker;
	struct unwinder *unwinder;
	struct drops *drops;
	struct map by_image, by_key; /* to struct code * */
	uint64_t keys;
	size_t bytes; /* of all tables */
	bool last; /* the segment is about to end */
	uint64_t nprocesses, nmaps, nread, nwritten, nrefused;
};

/* jit_scopes.c: write the methods and scopes of a piece whose functions are in the table. */
void jit_names_add_scopes(struct jit_names *j, struct code *c, const struct jit_piece *p);

#endif
