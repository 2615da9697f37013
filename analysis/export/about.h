/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a reader should know about exported data, for formats with room for comments: the lines of
 * er_print's short header (command, host, time, losses, costs), the filter, and whether waits were
 * sampled.
 */
#ifndef EXPORT_ABOUT_H
#define EXPORT_ABOUT_H

#include <stdbool.h>

#include "analysis/views/table.h"

struct export;
struct session;

/* The lines, as the first cell of each row; free the table with table_free. */
void about(const struct export *x, struct table *ret);

/* Whether every wait in all recordings has a packet (er_kernel -s all). */
bool waits_are_complete(const struct session *s);

#endif
