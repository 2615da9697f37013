/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the state of the recording: one line while it runs, a summary when it is over. */
#ifndef USER_RECORD_LIVE_H
#define USER_RECORD_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "user/record/status.h"

struct buf;

struct live {
	bool on;           /* standard error is a terminal */
	bool no_line;      /* the terminal is the program's */
	uint64_t drawn_ns; /* when the line was last drawn; 0: it is not on the screen */
};

/* `line`: draw a line while the recording runs. */
void live_init(struct live *l, bool line);
/* Draw the line, unless it was drawn a moment ago. */
void live_draw(struct live *l, const struct status *s);
/* Erase the line. */
void live_clear(struct live *l);
/* The text of the line: "1.2 s  1 sample  2 waits  0 lost  12.3 MB". */
void live_format(const struct status *s, char *ret, unsigned size);
/*
 * Append what was recorded and the command to type next: "wrote a.er: 1.2 s, 3 samples, 0 lost,
 * 2 processes, 12.3 MB; next: er_print functions a.er". The path is quoted for a shell if needed.
 * nexperiments: how many were written (--roll); the path is that of the last, the figures are of all. `group` is the
 * group file that lists them (then it is the one to read), or NULL.
 */
void live_format_end(const char *path, const char *group, size_t nexperiments, const struct status *s,
		     size_t nprocesses, struct buf *ret);

#endif
