/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marks the rows of annotated source and disassembly with high metrics. */
#include "analysis/views/annotate.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"

static double number(const struct cell *c)
{
	return c->kind == CELL_PERCENT			       ? c->d
	       : c->kind == CELL_TIME || c->kind == CELL_COUNT ? (double)c->i
							       : 0;
}

void annotate_mark(struct annotate *a, double threshold)
{
	for (size_t column = 1; column < a->text_column; column++) {
		double max = 0;

		vec_for_each (r, &a->t->rows)
			max = number(&r->cells[column]) > max ? number(&r->cells[column]) : max;
		vec_for_each (r, &a->t->rows) {
			double value = number(&r->cells[column]);

			if (value > 0 && value * 100 >= max * threshold)
				put_text(r, 0, "##");
		}
	}
}
