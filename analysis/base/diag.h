/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sink for errors, warnings and notes. A tool owns one that prints, an experiment one that
 * keeps its messages. Libraries report into the sink they are given; they never print or exit.
 * Messages read "subject 'name': what failed: why: remedy", in lower case, without a full stop.
 * A NULL sink ignores them.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum diag_level { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };

struct diag_msg {
	enum diag_level level;
	char *text;
};

/* A zeroed struct diag keeps its messages; with `prefix` set it prints "prefix: text" to stderr. */
struct diag {
	const char *prefix;
	bool journal; /* stderr is systemd's journal: a message begins with its level, "<4>" */
	struct diag_msg *msgs;
	size_t nmsgs, cap;
	size_t nerrors, nwarnings;
	size_t dropped; /* messages beyond DIAG_MAX: hostile files could cause millions */
};

enum { DIAG_MAX = 1000 };

/* Whether stderr is systemd's journal, by the environment that systemd gives to a service. */
bool diag_in_journal(void);

/*
 * Report, and return the value that the caller passes on: -1, or -err for diag_errno (err > 0),
 * which appends strerror(err).
 */
__attribute__((format(printf, 2, 3))) int diag_error(struct diag *d, const char *fmt, ...);
__attribute__((format(printf, 3, 4))) int diag_errno(struct diag *d, int err, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void diag_warn(struct diag *d, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void diag_note(struct diag *d, const char *fmt, ...);

/*
 * Print a line that is no diagnostic to f (stdout, stderr), and a newline. Names in it are made
 * printable, as in all messages.
 */
__attribute__((format(printf, 2, 3))) void diag_say(FILE *f, const char *fmt, ...);

void diag_free(struct diag *d);

#endif
