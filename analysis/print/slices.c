/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To turn a million rows into text takes longer than to find them. Slices of
 * rows become text on several CPUs at once, each in a printer of its own, and are
 * written in their order.
 */
#include <pthread.h>
#include <unistd.h>

#include "analysis/print/printer.h"

enum { SLICE = 4096, SLICES_MAX = 8 };

struct slice {
	struct printer printer;
	const struct table *table;
	size_t from, to;
	pthread_t thread;
	bool started;
};

static void *slice_run(void *ctx)
{
	struct slice *s = ctx;

	s->printer.group = s->table->rows.data[s->from ? s->from - 1 : 0].group;
	for (size_t i = s->from; i < s->to; i++)
		s->printer.ops->row(&s->printer, s->table, &s->table->rows.data[i]);
	return NULL;
}

/* The first of them here. A thread that cannot be had is done without. */
static void round_run(struct slice *slices, size_t n)
{
	for (size_t i = 1; i < n; i++)
		slices[i].started = !pthread_create(&slices[i].thread, NULL, slice_run, &slices[i]);
	slice_run(&slices[0]);
	for (size_t i = 1; i < n; i++) {
		if (slices[i].started)
			pthread_join(slices[i].thread, NULL);
		else
			slice_run(&slices[i]);
	}
}

static void slice_write(struct slice *s, struct printer *p)
{
	buf_add(&p->out, s->printer.out.data, s->printer.out.len);
	buf_clear(&s->printer.out);
	printer_flush(p, 0);
}

void print_slices(struct printer *p, const struct table *t)
{
	long ncpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t most = ncpus < 1 ? 1 : ncpus > SLICES_MAX ? SLICES_MAX : ncpus, at = 0;
	struct slice slices[SLICES_MAX];

	for (size_t i = 0; i < most; i++) {
		slices[i] = (struct slice){ .printer = *p, .table = t };
		slices[i].printer.out = slices[i].printer.cell = (struct buf){ 0 };
	}
	/* Nobody may be reading any more. */
	while (at < t->rows.len && !ferror(p->file)) {
		size_t n = 0;

		for (; n < most && at < t->rows.len; n++) {
			slices[n].from = at;
			at = at + SLICE < t->rows.len ? at + SLICE : t->rows.len;
			slices[n].to = at;
		}
		round_run(slices, n);
		for (size_t i = 0; i < n; i++)
			slice_write(&slices[i], p);
	}
	for (size_t i = 0; i < most; i++) {
		buf_free(&slices[i].printer.out);
		buf_free(&slices[i].printer.cell);
	}
}
