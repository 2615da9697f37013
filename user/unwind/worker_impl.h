/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages between the two sides of worker.h. */
#ifndef USER_UNWIND_WORKER_IMPL_H
#define USER_UNWIND_WORKER_IMPL_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "user/unwind/table.h"
#include "user/unwind/worker.h"

/*
 * The shared memory has one area for each slot. From its job to its reply a slot belongs to the
 * worker; afterwards it belongs to the recorder until the next job.
 */
enum { WORKER_SLOTS = 2 };

/* Sent with one descriptor, or two. */
struct worker_job {
	uint64_t number;
	uint32_t slot;
	uint32_t pad;
};

struct worker_reply {
	uint64_t number;  /* of the job; 0: the supervisor says that the worker ended */
	int32_t err;
	uint32_t nwords;
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
