/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by procmap.c and image.c only. */
#ifndef USER_SPACE_PROCMAP_IMPL_H
#define USER_SPACE_PROCMAP_IMPL_H

#include "analysis/base/map.h"
#include "user/space/files.h"
#include "user/space/procmap.h"

struct process {
	pid_t pid;
	uint64_t start_time; /* as BPF reports it; 0: no record had it yet */
	uint64_t born_ns;    /* time of its fork event; 0: existed at the scan */
	uint64_t gone_ns;    /* 0: still runs */
	bool alone;          /* as far as known it never had a second thread */
	struct image *image; /* the newest */
	struct process *older; /* an ended process with the same PID */
};

struct procmap {
	struct procmap_hooks hooks;
	struct map by_pid; /* PID to struct process *, the newest */
	size_t nprocesses, nimages, nmappings;
	struct strtab paths, lineages;
	struct files files;
	uint64_t scan_ns;
	VEC(struct image *) ended; /* in the order of their ends */
	struct procmap_counts counts;
};

/* NULL: none is known. */
static inline struct process *newest(const struct procmap *pm, pid_t pid)
{
	uint64_t *p = map_get(&pm->by_pid, pid);

	return p ? (struct process *)(uintptr_t)*p : NULL;
}

/* The process with this PID and start time, which it may not have been told yet; NULL: none is known. */
struct process *process_known(const struct procmap *pm, pid_t pid, uint64_t start_time);
/* What the process ran at that time; NULL if p is NULL. */
struct image *image_at(const struct process *p, uint64_t time_ns);

#endif
