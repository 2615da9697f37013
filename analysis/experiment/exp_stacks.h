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

/*
 * Number the pcs of all stacks: fills e->pcs and e->stack_pcs, unless that has been done. Not safe for
 * several threads. Opening an experiment does not do it, because it takes long if there are many stacks.
 */
void experiment_number_pcs(struct experiment *e);
/* The i-th pc of a stack, from the leaf. Numbers the pcs if necessary. */
uint64_t experiment_pc(struct experiment *e, const struct exp_stack *s, uint32_t i);
/* Copy the first n pcs of a stack, from the leaf. Numbers the pcs if necessary. */
void experiment_pcs(struct experiment *e, const struct exp_stack *s, uint64_t *ret, uint32_t n);

#endif
