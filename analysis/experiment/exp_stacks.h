/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call stack of an experiment (data.frameinfo); each is there once. */
#ifndef EXPERIMENT_EXP_STACKS_H
#define EXPERIMENT_EXP_STACKS_H

#include <stdint.h>

struct exp_stack {
	uint64_t uid;
	uint32_t first; /* index into stack_pcs */
	uint32_t npcs;  /* pcs are leaf first; the last may be a marker ER_PC_… */
};

#endif
