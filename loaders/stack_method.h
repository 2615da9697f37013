/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the stack of a wait can be come by on this kernel, and the best of it. */
#ifndef LOADERS_STACK_METHOD_H
#define LOADERS_STACK_METHOD_H

#include <stdbool.h>
#include <stddef.h>

#include "loaders/capture.h"

/* STACKS_EXIT's: the kernel has a type "btf_trace_…" for each tracepoint (BTF_KIND_TYPEDEF). */
#define STACKS_EXIT_TYPE "btf_trace_sched_exit_tp"

/*
 * Does this kernel, do these privileges allow it? STACKS_LEAVE and STACKS_NONE always.
 * `can_exit`: it has STACKS_EXIT_TYPE, which the caller has found out where he looks for others.
 */
bool stack_method_allowed(enum stack_method method, bool can_exit);
/* The way of a capture: what the plan names, or the best; STACKS_NONE without states. */
enum stack_method stack_method_choose(const struct capture_plan *plan, bool can_exit);
/* What finish_task_switch is called in this kernel; NULL when it cannot be found. */
const char *stack_method_finish_symbol(char *ret, size_t size);

#endif
