/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel_er/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void live_draw(struct live *l, const struct live_state *s)
{
	char bytes[32];

	if (!l->on || s->now_ns - l->drawn_ns < REDRAW_NS)
		return;
	live_format_bytes(s->bytes, bytes, sizeof(bytes));
	/* \033[K: to the end of the line, where an older one was longer */
	fprintf(stderr, "\r%.1f s  %llu samples  %llu lost  %s%s\033[K", s->elapsed_ns / 1e9,
		(unsigned long long)s->samples, (unsigned long long)s->lost, bytes,
		s->paused ? "  paused" : "");
	fflush(stderr);
	l->drawn_ns = s->now_ns;
}

void live_clear(struct live *l)
{
	if (l->on && l->drawn_ns)
		fputs("\r\033[K", stderr);
	l->drawn_ns = 0;
}
