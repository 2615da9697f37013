/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/diag.h"

#define REDRAW_NS 500000000ULL

void live_init(struct live *l)
{
	const char *term = getenv("TERM");

	*l = (struct live){ .on = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") };
}

void live_format_bytes(uint64_t bytes, char *ret, unsigned size)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
	double v = bytes;
	unsigned i = 0;

	while (v >= 1000 && i < sizeof(units) / sizeof(units[0]) - 1) {
		v /= 1000;
		i++;
	}
	snprintf(ret, size, i ? "%.1f %s" : "%.0f %s", v, units[i]);
}

/* "1 sample", "2 samples" */
static void count(char *ret, unsigned size, uint64_t n, const char *one, const char *many)
{
	snprintf(ret, size, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

/* "3 samples  2 waits  0 lost"; waits and overflows only where they are recorded. */
static void format_counts(const struct record_counts *n, const char *gap, char *ret, unsigned size)
{
	char samples[40], waits[40], overflows[40];

	count(samples, sizeof(samples), n->recorded, "sample", "samples");
	count(waits, sizeof(waits), n->waits, "wait", "waits");
	count(overflows, sizeof(overflows), n->overflows, "overflow", "overflows");
	snprintf(ret, size, "%s%s%s%s%s%s%llu lost", samples, gap, n->states ? waits : "",
		 n->states ? gap : "", n->counters ? overflows : "", n->counters ? gap : "",
		 (unsigned long long)(n->lost + n->waits_lost + n->overflows_lost));
}

void live_format(const struct live_state *s, char *ret, unsigned size)
{
	char counts[128], bytes[32];

	format_counts(&s->counts, "  ", counts, sizeof(counts));
	live_format_bytes(s->bytes, bytes, sizeof(bytes));
	snprintf(ret, size, "%.1f s  %s  %s%s", s->elapsed_ns / 1e9, counts, bytes,
		 s->paused ? "  paused" : "");
}

void live_draw(struct live *l, const struct live_state *s)
{
	char line[256];

	if (!l->on || s->now_ns - l->drawn_ns < REDRAW_NS)
		return;
	live_format(s, line, sizeof(line));
	/* \033[K: to the end of the line, where an older one was longer */
	fprintf(stderr, "\r%s\033[K", line);
	fflush(stderr);
	l->drawn_ns = s->now_ns;
}

void live_losses(const struct record_counts *n, struct diag *d)
{
	char samples[40], waits[40], stacks[40];

	if (n->overflows_lost)
		diag_warn(d, "lost: %llu of %llu overflows of counters: er_print -header says whose; a larger "
			     "interval makes fewer",
			  (unsigned long long)n->overflows_lost,
			  (unsigned long long)(n->overflows + n->overflows_lost));
	if (!n->lost && !n->stacks_lost && !n->waits_lost)
		return;
	count(samples, sizeof(samples), n->produced, "sample", "samples");
	count(waits, sizeof(waits), n->waits + n->waits_lost, "wait", "waits");
	count(stacks, sizeof(stacks), n->stacks_lost, "stack", "stacks");
	diag_warn(d, "lost: %llu of %s, %llu of %s, %s: er_print -header says whose",
		  (unsigned long long)n->lost, samples, (unsigned long long)n->waits_lost, waits,
		  stacks);
}

void live_summary(const char *path, const struct record_counts *n, size_t nprocesses,
		  uint64_t bytes)
{
	char counts[128], processes[40], size[32];

	format_counts(n, ", ", counts, sizeof(counts));
	count(processes, sizeof(processes), nprocesses, "process", "processes");
	live_format_bytes(bytes, size, sizeof(size));
	diag_say(stderr, "er_kernel: %s: %s, %s, %s", path, counts, processes, size);
}

void live_clear(struct live *l)
{
	if (l->on && l->drawn_ns)
		fputs("\r\033[K", stderr);
	l->drawn_ns = 0;
}
