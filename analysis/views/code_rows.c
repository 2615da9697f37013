/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/code_rows.h"

static void meet_key(struct code_rows *r, enum code_part part, uint32_t key)
{
	if (key >= r->nkeys[part])
		r->nkeys[part] = key + 1;
}

void code_rows_ask(struct code_rows *r, enum code_part part, uint32_t base, code_key key, void *ctx)
{
	for (size_t i = 0; i < r->nframes; i++) {
		uint32_t found;

		if (!r->frames[i].func)
			continue;
		found = key(ctx, &r->frames[i], NULL);
		if (found == CODE_KEY_NONE)
			continue;
		vec_push(&r->places[part], (struct code_place){ i, base + found });
		meet_key(r, part, base + found);
	}
}

void code_rows_show(struct code_rows *r, size_t row, enum code_part part, uint32_t key)
{
	vec_push(&r->rows, (struct code_row){ row, part, key });
	meet_key(r, part, key);
}

void code_rows_free(struct code_rows *r)
{
	for (int i = 0; i < CODE_PARTS; i++)
		vec_free(&r->places[i]);
	vec_free(&r->rows);
	*r = (struct code_rows){ 0 };
}
