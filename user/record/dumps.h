/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the dumps of a flight recorder. A dump is a directory STEM.N. It has copies of the
 * segments that were in memory, STEM.1.er and so on, and a group file STEM.erg that names them.
 * Its name appears when it is complete. A dump that fails leaves nothing.
 */
#ifndef USER_RECORD_DUMPS_H
#define USER_RECORD_DUMPS_H

#include <stddef.h>
#include <stdint.h>

#include "user/record/expname.h"

struct diag;
struct dumps;

/*
 * `place` has the directory and the stem; it is borrowed. keep: bytes that all dumps together may
 * take; 0: unlimited. Removes what dumps of killed recorders of the same user left there. A dump
 * that is being written is locked (flock), so recorders in other PID namespaces leave it alone.
 */
struct dumps *dumps_new(const struct expname *place, uint64_t keep);
void dumps_free(struct dumps *u); /* NULL: nothing */

/* What to write. Everything is borrowed. */
struct dump {
	int from;                  /* the directory of the segments */
	const char *const *names;  /* of segments there, the oldest first */
	size_t n;
	const char *note;          /* a line for the notes of each segment */
	void (*relief)(void *ctx); /* called often meanwhile */
	void *ctx;
};

/*
 * Write a dump, then remove the oldest dumps beyond `keep`; the new one stays, with a warning the first time that it
 * takes more. Returns the path of
 * its group file, which the caller frees, or NULL after reporting.
 */
char *dumps_write(struct dumps *u, const struct dump *what, struct diag *d);

#endif
