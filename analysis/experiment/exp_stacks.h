/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call stacks of an experiment (data.frameinfo), each once. */
#ifndef EXPERIMENT_EXP_STACKS_H
#define EXPERIMENT_EXP_STACKS_H

#include <stdint.h>

#include "analysis/experiment/experiment.h"

struct exp_stack {
	uint64_t uid;
	uint32_t first; /* index into stack_pcs */
	uint32_t npcs;  /* pcs are leaf first; the last may be a marker ER_PC_… */
};

/* The index of a stack into e->stacks, or -1. */
static inline int64_t experiment_stack(const struct experiment *e, uint64_t uid)
{
	const uint64_t *index = map_get(&e->stack_by_uid, uid);

	return index ? (int64_t)*index : -1;
}

#endif
