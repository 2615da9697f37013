/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/index.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/experiment.h"
#include "analysis/model/session.h"

static void cpu_label(int64_t i, struct buf *b)
{
	buf_printf(b, "CPU %" PRId64, i);
}

static void sample_label(int64_t i, struct buf *b)
{
	buf_printf(b, "Sample %" PRId64, i);
}

static const char *end_label(const struct exp_event *ev)
{
	return *ev->label ? ev->label : "(none)";
}

static void put_sample_of(const struct experiment *e, int64_t number, struct buf *b)
{
	double offset = (double)experiment_offset_ns(e);
	const struct exp_event *from = NULL;

	vec_for_each(ev, &e->events) {
		if (strcmp(ev->kind, "sample"))
			continue;
		if (from && e->first_sample + ev->id == number)
			buf_printf(b, ", %.3f to %.3f sec., %s to %s", ((double)from->time_ns + offset) / 1e9,
				   ((double)ev->time_ns + offset) / 1e9, end_label(from), end_label(ev));
		from = ev;
	}
}

void index_put_sample(const struct session *s, const struct experiment *origin, int64_t number, struct buf *b)
{
	vec_for_each(e, &s->experiments) {
		if (!(*e)->founder && (*e)->origin == origin)
			put_sample_of(*e, number, b);
	}
}

static void second_label(int64_t i, struct buf *b)
{
	buf_printf(b, "Second of execution %" PRId64, i);
}

struct unit {
	int64_t factor;
	const char *name;
};

/* Append a value in the largest unit that divides it. */
static void put_unit(const struct unit *units, int64_t value, struct buf *b)
{
	while (units->factor > 1 && (value < units->factor || value % units->factor))
		units++;
	buf_printf(b, "%" PRId64 "%s", value / units->factor, units->name);
}

/*
 * Append the bounds of a size class. Classes end at powers of `step`. The last class has no end;
 * its limit is a power plus 1.
 */
static void class_label(const struct unit *units, int64_t first, int64_t step, int64_t limit,
			struct buf *b)
{
	int64_t from = limit > first ? limit / step : 0;

	if (limit % 2 && limit > first) {
		put_unit(units, limit - 1, b);
		buf_puts(b, " < n");
		return;
	}
	put_unit(units, from, b);
	buf_puts(b, " < n <= ");
	put_unit(units, limit, b);
}

static const struct unit sizes[] = {
	{ (int64_t)1 << 50, "PB" }, { (int64_t)1 << 40, "TB" }, { 1 << 30, "GB" },
	{ 1 << 20, "MB" },	    { 1 << 10, "KB" },		{ 1, "" },
};

static void size_label(int64_t i, struct buf *b)
{
	if (i > 1)
		class_label(sizes, 1, 4, i, b);
	else
		buf_printf(b, "%" PRId64, i);
	if (i < 1024)
		buf_puts(b, i == 1 ? " Byte" : " Bytes");
}

static const struct unit times[] = {
	{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "s" },
};

static void duration_label(int64_t i, struct buf *b)
{
	if (i)
		class_label(times, 1000, 10, i, b);
	else
		buf_puts(b, "0s");
}

static const struct {
	const char *type;
	void (*put)(int64_t index, struct buf *b);
} labels[] = {
	{ "CPUs", cpu_label }, { "Samples", sample_label }, { "Seconds", second_label },
	{ "Datasize", size_label }, { "Duration", duration_label },
};

void index_put_label(const struct objtype *type, int64_t index, struct buf *b)
{
	for (size_t i = 0; type->builtin && i < sizeof(labels) / sizeof(labels[0]); i++) {
		if (!strcmp(labels[i].type, type->name)) {
			labels[i].put(index, b);
			return;
		}
	}
	buf_printf(b, "%s 0x%016" PRIx64 " (%" PRId64 ")", type->name, (uint64_t)index, index);
}
