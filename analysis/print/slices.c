/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formatting a million rows takes longer than computing them. So slices of rows are formatted
 * on several CPUs at once, each by a copy of the printer, and then written in order.
 */
#include <string.h>

#include "analysis/base/interrupt.h"
#include "analysis/base/parallel.h"
#include "analysis/print/printer.h"
#include "analysis/views/table.h"

enum { SLICE = 4 * ROWS_MOST, PIECE = 4096 };

struct slice {
	struct printer printer;
	struct row_window window;
	size_t from, to;
};

static void slice_run(void *ctx, size_t n)
{
	struct slice *s = (struct slice *)ctx + n;

	s->printer.group = rows_at(&s->window, s->from ? s->from - 1 : 0, 1)->group;
	for (size_t at = s->from; at < s->to; at += ROWS_MOST) {
		size_t some = s->to - at < ROWS_MOST ? s->to - at : ROWS_MOST;
		const struct row *rows = rows_at(&s->window, at, some);

		for (size_t i = 0; i < some; i++)
			s->printer.ops->row(&s->printer, s->window.table, &rows[i]);
	}
}

/* Write pieces of whole lines, and check for an interrupt between them. */
static void write_slice(struct printer *p)
{
	size_t at = 0;

	while (at < p->out.len && !interrupt_pending()) {
		const char *from = p->out.data + at, *end;
		size_t left = p->out.len - at, n = left < PIECE ? left : PIECE;

		end = memchr(from + n - 1, '\n', left - (n - 1));
		n = end ? (size_t)(end + 1 - from) : left;
		fwrite(from, 1, n, p->file);
		at += n;
	}
	buf_clear(&p->out);
}

void print_slices(struct printer *p, const struct table *t)
{
	size_t most = parallel_parts(), at = 0, nrows = table_nrows(t);
	struct slice slices[PARALLEL_MAX];

	printer_flush(p, 0);
	for (size_t i = 0; i < most; i++) {
		slices[i] = (struct slice){ .printer = *p, .window.table = t };
		slices[i].printer.out = slices[i].printer.cell = (struct buf){ 0 };
	}
	/* After a write error the reader may be gone: stop. */
	while (at < nrows && !ferror(p->file) && !interrupt_pending()) {
		size_t n = 0;

		for (; n < most && at < nrows; n++) {
			slices[n].from = at;
			at = at + SLICE < nrows ? at + SLICE : nrows;
			slices[n].to = at;
		}
		parallel_run(slice_run, slices, n);
		for (size_t i = 0; i < n; i++)
			write_slice(&slices[i].printer);
	}
	for (size_t i = 0; i < most; i++) {
		row_window_free(&slices[i].window);
		buf_free(&slices[i].printer.out);
		buf_free(&slices[i].printer.cell);
	}
}
