/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where errors and warnings go. A tool owns a sink that prints, an experiment
 * owns one that keeps; libraries report into the one they are given and never
 * print or exit. Messages read "subject 'name': what failed: why", in lower
 * case, without a full stop, and say the remedy where there is one.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

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
	struct diag_msg *msgs;
	size_t nmsgs, cap;
	size_t nerrors, nwarnings;
	size_t dropped; /* kept messages end at DIAG_MAX: hostile files could make millions */
};

enum { DIAG_MAX = 1000 };

/* Report and return the value a caller passes on: -1, or -err for the errno form (err > 0). */
__attribute__((format(printf, 2, 3))) int diag_error(struct diag *d, const char *fmt, ...);
__attribute__((format(printf, 3, 4))) int diag_errno(struct diag *d, int err, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void diag_warn(struct diag *d, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void diag_note(struct diag *d, const char *fmt, ...);

/*
 * A line that is no diagnostic, on f (stdout, stderr); a newline is added. Names in it are made
 * printable, as in all of the above.
 */
__attribute__((format(printf, 2, 3))) void diag_say(FILE *f, const char *fmt, ...);

void diag_free(struct diag *d);

#endif
