/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"

#define REDRAW_NS 500000000ULL

void live_init(struct live *l, bool line)
{
	const char *term = getenv("TERM");

	*l = (struct live){ .on = isatty(STDERR_FILENO) && term && strcmp(term, "dumb"),
			    .no_line = !line };
}

void live_format(const struct status *s, char *ret, unsigned size)
{
	struct buf b = { 0 };
	char bytes[32];

	status_counts(&s->counts, "  ", &b);
	status_bytes(s->bytes, bytes, sizeof(bytes));
	snprintf(ret, size, "%.1f s  %s  %s%s", s->elapsed_ns / 1e9, b.data, bytes,
		 s->paused ? "  paused" : "");
	buf_free(&b);
}

void live_draw(struct live *l, const struct status *s)
{
	char line[256];

	if (!l->on || l->no_line || s->now_ns - l->drawn_ns < REDRAW_NS)
		return;
	live_format(s, line, sizeof(line));
	/* \033[K erases to the end of the line: the last text may have been longer */
	fprintf(stderr, "\r%s\033[K", line);
	fflush(stderr);
	l->drawn_ns = s->now_ns;
}

/* Append a path as one word of a shell's command line. */
static void put_word(struct buf *b, const char *path)
{
	bool plain = !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789_./+:@%,-")];

	if (plain) {
		buf_puts(b, path);
		return;
	}
	buf_puts(b, "'");
	for (const char *p = path; *p; p++)
		buf_printf(b, *p == '\'' ? "'\\''" : "%c", *p);
	buf_puts(b, "'");
}

void live_format_end(const char *path, const char *group, size_t nexperiments, const struct status *s,
		     size_t nprocesses, struct buf *ret)
{
	char size[32];

	buf_puts(ret, "wrote ");
	if (nexperiments > 1)
		buf_printf(ret, "%zu experiments, the last is ", nexperiments);
	put_word(ret, path);
	buf_printf(ret, ": %.1f s, ", s->elapsed_ns / 1e9);
	status_counts(&s->counts, ", ", ret);
	status_bytes(s->bytes, size, sizeof(size));
	buf_printf(ret, ", %zu process%s, %s; next: er_print functions ", nprocesses,
		   nprocesses == 1 ? "" : "es", size);
	put_word(ret, group && nexperiments > 1 ? group : path);
}

void live_clear(struct live *l)
{
	if (l->on && l->drawn_ns)
		fputs("\r\033[K", stderr);
	l->drawn_ns = 0;
}
