/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/status.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/base/buf.h"

void status_bytes(uint64_t bytes, char *ret, unsigned size)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
	double v = bytes;
	unsigned i = 0;

	while (v >= 1024 && i < sizeof(units) / sizeof(units[0]) - 1) {
		v /= 1024;
		i++;
	}
	snprintf(ret, size, v == (uint64_t)v ? "%.0f %s" : "%.1f %s", v, units[i]);
}

/* "1 sample", "2 samples" */
static void put_count(struct buf *b, uint64_t n, const struct ring_desc *ring)
{
	buf_printf(b, "%" PRIu64 " %s", n, n == 1 ? ring->one : ring->many);
}

void status_counts(const struct record_counts *n, const char *gap, struct buf *ret)
{
	uint64_t lost = 0;

	for (int kind = 0; kind < ER_KIND_COUNT; kind++) {
		const struct kind_count *c = &n->of[kind];

		if (!c->wanted)
			continue;
		put_count(ret, c->recorded, data_kind(kind)->ring);
		buf_puts(ret, gap);
		lost += c->lost;
	}
	buf_printf(ret, "%" PRIu64 " lost", lost);
}

static void put_flight(const struct status_flight *f, struct buf *ret)
{
	char bytes[32], limit[32];

	status_bytes(f->bytes, bytes, sizeof(bytes));
	status_bytes(f->limit, limit, sizeof(limit));
	buf_printf(ret, "in memory:   the last %.3f s (%g s wanted), %s of %s", f->covered_ns / 1e9,
		   f->wanted_ns / 1e9, bytes, limit);
	if (f->ncrowded)
		buf_printf(ret, "; %zu segment%s dropped early for lack of memory", f->ncrowded,
			   f->ncrowded == 1 ? "" : "s");
	buf_printf(ret, "\ndumps:       %zu", f->ndumps);
	if (f->nfailed)
		buf_printf(ret, ", and %zu failed", f->nfailed);
	if (f->nignored)
		buf_printf(ret, "; ignored %zu time%s that pressure was high (cooldown or pause)",
			   f->nignored, f->nignored == 1 ? "" : "s");
	if (f->last) {
		buf_puts(ret, "; the last is ");
		buf_put_printable(ret, f->last);
	}
	buf_puts(ret, "\n");
}

void status_text(const struct status *s, struct buf *ret)
{
	char bytes[32];

	buf_printf(ret, "recorder:    %d\nname:        ", s->pid);
	buf_put_printable(ret, s->name);
	buf_puts(ret, s->experiment ? "\nexperiment:  " : "\ndumps go to: ");
	buf_put_printable(ret, s->experiment ? s->experiment : s->flight.dumps);
	buf_printf(ret, "\nstate:       %s\n", s->paused ? "paused" : "recording");
	buf_printf(ret, "elapsed:     %.3f s", s->elapsed_ns / 1e9);
	if (s->paused_ns)
		buf_printf(ret, ", %.3f s of it paused", s->paused_ns / 1e9);
	buf_puts(ret, "\nrecorded:    ");
	status_counts(&s->counts, ", ", ret);
	status_bytes(s->bytes, bytes, sizeof(bytes));
	buf_printf(ret, "\nleft out:    %s\n", s->left_out);
	buf_printf(ret, "own CPU:     %.3f s\n", s->cpu_ns / 1e9);
	buf_printf(ret, "written:     %s\nprocesses:   %zu\n", bytes, s->nprocesses);
	if (s->flight.wanted_ns)
		put_flight(&s->flight, ret);
}
