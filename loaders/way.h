/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the stack of a wait can be come by on this kernel, and the best of it. */
#ifndef LOADERS_WAY_H
#define LOADERS_WAY_H

#include <stdbool.h>
#include <stddef.h>

#include "loaders/capture.h"

/* WAY_EXIT's: the kernel has a type "btf_trace_…" for each tracepoint (BTF_KIND_TYPEDEF). */
#define WAY_EXIT_TYPE "btf_trace_sched_exit_tp"

/*
 * Does this kernel, do these privileges allow it? WAY_LEAVE and WAY_NONE always.
 * `can_exit`: it has WAY_EXIT_TYPE, which the caller has found out where he looks for others.
 */
bool way_allowed(enum capture_way way, bool can_exit);
/* The way of a capture: what the plan names, or the best; WAY_NONE without states. */
enum capture_way way_choose(const struct capture_plan *plan, bool can_exit);
/* What finish_task_switch is called in this kernel; NULL when it cannot be found. */
const char *way_finish_symbol(char *ret, size_t size);

#endif
