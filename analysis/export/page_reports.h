/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of er_print that the page shows as they are, because it cannot compute them from its
 * events: lists of lines and locks, and what is known of the recording. They follow er_print's
 * filter, not the page's.
 */
#ifndef EXPORT_PAGE_REPORTS_H
#define EXPORT_PAGE_REPORTS_H

#include <stdbool.h>

struct export;
struct outfile;

/* Write the reports as a pack. Returns whether all writes to the file went well so far. */
bool put_reports(const struct export *x, struct outfile *out);

#endif
