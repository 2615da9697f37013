/* SPDX-License-Identifier: GPL-2.0-or-later */
/* procstats: what reading the experiments has cost so far, and how much data it read. */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "analysis/experiment/exp_packets.h"
#include "analysis/metrics/tally.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

static void put_count(struct table *t, const char *label, uint64_t n)
{
	struct row *r = table_row(t);

	put_text(r, 0, label);
	r->cells[1] = (struct cell){ .kind = CELL_COUNT, .i = n };
}

static void put_time(struct table *t, const char *label, int64_t ns)
{
	struct row *r = table_row(t);

	put_text(r, 0, label);
	r->cells[1] = (struct cell){ .kind = CELL_TIME, .i = ns };
}

static int64_t timeval_ns(struct timeval tv)
{
	return (int64_t)tv.tv_sec * 1000000000 + (int64_t)tv.tv_usec * 1000;
}

/* Bytes of packets and stacks that are mapped. */
static uint64_t bytes_of(const struct experiment *e)
{
	uint64_t sum = e->overview.size;

	vec_for_each(st, &e->streams)
		sum += st->file.size;
	return sum;
}

int view_procstats(struct view_state *v, struct table *t, struct diag *d)
{
	const struct session *s = v->session;
	const struct tally *tally = view_tally(v);
	uint64_t bytes = 0, opened = 0;
	struct rusage u;

	vec_for_each(e, &s->experiments)
		bytes += bytes_of(*e);
	vec_for_each(o, &s->objects)
		opened += (*o)->tried;
	t->name = "procstats";
	text_column(t, NULL);
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT });
	put_count(t, "Experiments:", s->experiments.len);
	put_count(t, "Bytes of packets and usage:", bytes);
	put_count(t, "Packets that pass the filter:", tally->npackets);
	put_count(t, "Distinct call stacks:", s->stacks.len);
	put_count(t, "Frames in them:", s->stack_frames.len);
	put_count(t, "Distinct frames:", s->frames.len);
	put_count(t, "Functions:", s->funcs.len);
	put_count(t, "Load objects:", s->objects.len);
	put_count(t, "Load objects opened:", opened);
	getrusage(RUSAGE_SELF, &u);
	put_time(t, "User CPU time (sec.):", timeval_ns(u.ru_utime));
	put_time(t, "System CPU time (sec.):", timeval_ns(u.ru_stime));
	put_count(t, "Largest resident size (KB):", u.ru_maxrss);
	put_count(t, "Major page faults:", u.ru_majflt);
	return 0;
}
