/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the loaders of programs that take stacks of chosen threads have in common. */
#ifndef LOADERS_TARGETS_H
#define LOADERS_TARGETS_H

#include <stdint.h>

struct bpf_map;
struct capture_plan;

/* Before the load: room in er_targets for those of the plan. */
void targets_size(struct bpf_map *map, const struct capture_plan *plan);
/* After it: put them in. 0, or -errno. */
int targets_fill(const struct bpf_map *map, const struct capture_plan *plan);
/* How many frames the kernel lets a stack have, up to ER_MAX_KERNEL_FRAMES. */
uint32_t stack_limit(void);

#endif
