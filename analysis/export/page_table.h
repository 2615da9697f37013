/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of a view as JSON, for the page: numbers keep all their digits. */
#ifndef EXPORT_PAGE_TABLE_H
#define EXPORT_PAGE_TABLE_H

struct buf;
struct table;

/*
 * Append the table as an object with the members command, title, columns, rows and notes;
 * docs/howto-page.md describes them. `command` is what makes er_print show it.
 */
void put_table_json(struct buf *b, const char *command, const struct table *t);
/* Append a comma and the member notes. */
void put_notes_json(struct buf *b, const struct table *t);

#endif
