/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of a million pcs is larger than the CPU's cache. Therefore pcs are handled in steps: each
 * step begins to load what the next one needs.
 */
#include "analysis/experiment/exp_pcs.h"

#include "analysis/base/map.h"

enum { STEP = 64 };

static uint32_t number_of(struct pc_table *t, uint64_t pc, uint64_t hash)
{
	struct intern_probe probe = intern_probe(hash);
	uint32_t id1;

	while ((id1 = intern_next(&t->ids, &probe))) {
		if (t->pcs.data[id1 - 1] == pc)
			return id1 - 1;
	}
	vec_push(&t->pcs, pc);
	return intern_add(&t->ids, hash);
}

void pc_table_number(struct pc_table *t, const uint64_t *pcs, size_t n, uint32_t *ret)
{
	uint64_t hashes[STEP];
	size_t step;

	for (; n; n -= step, pcs += step, ret += step) {
		step = n < STEP ? n : STEP;
		for (size_t i = 0; i < step; i++) {
			hashes[i] = hash64(pcs[i]);
			intern_prefetch(&t->ids, hashes[i]);
		}
		for (size_t i = 0; i < step; i++) {
			struct intern_probe probe = intern_probe(hashes[i]);
			uint32_t id1 = intern_next(&t->ids, &probe);

			if (id1)
				__builtin_prefetch(&t->pcs.data[id1 - 1]);
		}
		for (size_t i = 0; i < step; i++)
			ret[i] = number_of(t, pcs[i], hashes[i]);
	}
}

void pc_table_free(struct pc_table *t)
{
	vec_free(&t->pcs);
	intern_free(&t->ids);
}
