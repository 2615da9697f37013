/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers pcs: equal pcs get one number, and numbers count from 0. A million stacks have forty
 * million pcs but few different ones, so whatever is known about a pc can be kept in an array.
 */
#ifndef EXPERIMENT_EXP_PCS_H
#define EXPERIMENT_EXP_PCS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/intern.h"
#include "analysis/base/vec.h"

/* A zeroed struct is an empty table. */
struct pc_table {
	VEC(uint64_t) pcs; /* by number */
	struct intern ids;
};

/* Store the numbers of n pcs in `ret`. New pcs are added. */
void pc_table_number(struct pc_table *t, const uint64_t *pcs, size_t n, uint32_t *ret);
void pc_table_free(struct pc_table *t);

#endif
