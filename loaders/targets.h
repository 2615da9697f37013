/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The er_targets map, which limits a recording to chosen threads, and the limit of frames. All
 * loaders use them.
 */
#ifndef LOADERS_TARGETS_H
#define LOADERS_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_map;
struct capture_plan;

/* Before the load: size er_targets for the plan's targets. */
void targets_size(struct bpf_map *map, const struct capture_plan *plan);
/* After the load: write the plan's targets into the map. Returns 0, or -errno. */
int targets_fill(const struct bpf_map *map, const struct capture_plan *plan);
/* The most kernel frames that the kernel captures of one stack, up to ER_MAX_KERNEL_FRAMES. */
uint32_t stack_limit(void);
/*
 * The most user frames: ER_UNWIND_USUAL, or what the environment variable SP_COLLECTOR_STACKBUFSZ says.
 * user_stack_limit_valid: its value is a number from *least to *most; otherwise it is ignored.
 */
uint32_t user_stack_limit(void);
bool user_stack_limit_valid(int *least, int *most);

#endif
