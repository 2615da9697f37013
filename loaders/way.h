/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the stack of a wait can be come by on this kernel, and the best of it. */
#ifndef LOADERS_WAY_H
#define LOADERS_WAY_H

#include <stdbool.h>
#include <stddef.h>

#include "loaders/capture.h"

struct bpf_program;

/*
 * Does this kernel, do these privileges allow it? WAY_LEAVE and WAY_NONE always.
 * `back` is the program of WAY_EXIT, of an object that is not loaded yet: it
 * is asked because its object keeps the kernel's BTF, and to read that takes 10 ms.
 */
bool way_allowed(enum capture_way way, struct bpf_program *back);
/* The way of a capture: what the plan names, or the best; WAY_NONE without states. */
enum capture_way way_choose(const struct capture_plan *plan, struct bpf_program *back);
/* What finish_task_switch is called in this kernel; NULL when it cannot be found. */
const char *way_finish_symbol(char *ret, size_t size);

#endif
