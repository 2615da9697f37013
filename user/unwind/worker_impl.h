/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two sides of worker.h say to each other. */
#ifndef USER_UNWIND_WORKER_IMPL_H
#define USER_UNWIND_WORKER_IMPL_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "user/unwind/table.h"
#include "user/unwind/worker.h"

/*
 * The shared memory has one area a slot. A slot belongs to the worker from its job until
 * its reply, and to us from there until the next job for it.
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
 * What the supervisor's process runs; returns when we are gone. On `control` it gets a byte
 * when the worker has been silent for too long.
 */
void worker_supervise(int sock, int control, void *areas);

#endif
