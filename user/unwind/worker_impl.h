/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages between the two sides of worker.h. */
#ifndef USER_UNWIND_WORKER_IMPL_H
#define USER_UNWIND_WORKER_IMPL_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "user/jit/batch.h"
#include "user/jit/jitdump.h"
#include "user/unwind/table.h"
#include "user/unwind/worker.h"

/*
 * The shared memory has one area for each slot. From its job to its reply a slot belongs to the
 * worker; afterwards it belongs to the recorder until the next job.
 */
enum { WORKER_SLOTS = 8 };

enum worker_task { WORKER_TABLE, WORKER_NAMES };

/* Sent with one descriptor, or two. */
struct worker_job {
	uint64_t number;
	uint64_t offset;  /* WORKER_NAMES: where to begin in the file */
	uint32_t slot;
	uint16_t task;    /* enum worker_task */
	uint16_t format;  /* WORKER_NAMES: enum jit_format */
};

/*
 * A job reads at most WORKER_NAMES_BYTES of a file with names, so that tables need not wait for
 * long. The names are at the beginning of the slot's area, and their entries follow. The shortest
 * line of a perf map has 6 bytes.
 */
enum {
	WORKER_NAMES_BYTES = 1 << 20,
	WORKER_NAMES_MAX = WORKER_NAMES_BYTES / 6 + 1,
};

/* A record of a jitdump may be larger than what a job reads; its end is skipped. */
#define WORKER_USED_MAX (WORKER_NAMES_BYTES + JITDUMP_RECORD_MAX)

_Static_assert(WORKER_NAMES_BYTES + WORKER_NAMES_MAX * sizeof(struct jit_entry) <=
	       UNWIND_TABLE_BYTES, "names fit into a slot");

struct worker_reply {
	uint64_t number;  /* of the job; 0: the supervisor says that the worker ended */
	int32_t err;
	uint32_t nwords;  /* of a table; of names: the number of entries */
	uint32_t nnames;  /* bytes of names */
	uint32_t used;    /* bytes of the file whose names are in the reply */
	struct er_unwind_file file;
	struct unwind_counts counts;
	uint64_t cpu_ns;
};

/*
 * Runs in the supervisor's process; returns when the recorder is gone. A byte on `control` says
 * that the worker has been silent for too long.
 */
void worker_supervise(int sock, int control, void *areas);

#endif
