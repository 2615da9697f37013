/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Annotated source and disassembly of the functions with most time, as er_print shows them. Source
 * is text of files, so the page may give away more than what was recorded: --no-source and --redact
 * leave it out.
 */
#ifndef EXPORT_PAGE_CODE_H
#define EXPORT_PAGE_CODE_H

#include <stdbool.h>
#include <stddef.h>

struct export;
struct pack;
struct page_events;

/*
 * Append the section of the code, and set *nfuncs to the number of functions that it is of. Returns false, and appends
 * nothing, if it is left out.
 */
bool make_code(const struct export *x, const struct page_events *events, size_t *nfuncs, struct pack *ret);

#endif
