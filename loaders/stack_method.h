/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which methods of capturing the stacks of waits this kernel allows, and the best of them. */
#ifndef LOADERS_STACK_METHOD_H
#define LOADERS_STACK_METHOD_H

#include <stdbool.h>
#include <stddef.h>

#include "loaders/capture.h"

/* The kernel has STACKS_EXIT's tracepoint if it has this type (BTF_KIND_TYPEDEF). */
#define STACKS_EXIT_TYPE "btf_trace_sched_exit_tp"

/*
 * Whether the kernel and the privileges allow the method. STACKS_LEAVE and STACKS_NONE always
 * work. `can_exit` says whether the kernel has STACKS_EXIT_TYPE; the caller looks it up
 * together with its other types.
 */
bool stack_method_allowed(enum stack_method method, bool can_exit);
/* The method for a capture: the plan's, or the best allowed one; STACKS_NONE without states. */
enum stack_method stack_method_choose(const struct capture_plan *plan, bool can_exit);
/*
 * The symbol of finish_task_switch in this kernel, copied to `ret`; NULL if there is none or it
 * does not fit.
 */
const char *stack_method_finish_symbol(char *ret, size_t size);

#endif
