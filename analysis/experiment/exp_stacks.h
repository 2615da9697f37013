/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call stack of an experiment (data.frameinfo); each is there once. */
#ifndef EXPERIMENT_EXP_STACKS_H
#define EXPERIMENT_EXP_STACKS_H

#include <stdint.h>

#include "analysis/experiment/experiment.h"

struct exp_stack {
	uint64_t uid;
	uint32_t first; /* index into stack_pcs, which has numbers of pcs */
	uint32_t npcs;  /* pcs are leaf first; the last may be a marker ER_PC_… */
};

/* The i-th pc of a stack, from the leaf. */
static inline uint64_t experiment_pc(const struct experiment *e, const struct exp_stack *s, uint32_t i)
{
	return e->pcs.data[e->stack_pcs.data[s->first + i]];
}

/* Copy the first n pcs of a stack, from the leaf. */
static inline void experiment_pcs(const struct experiment *e, const struct exp_stack *s, uint64_t *ret,
				  uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ret[i] = experiment_pc(e, s, i);
}

#endif
