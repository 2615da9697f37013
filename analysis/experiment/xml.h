/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The XML dialect of experiments: elements and attributes, one element a line,
 * no root; bytes outside ASCII as %hh%. Written here, and read here from bytes
 * that nobody vouches for.
 */
#ifndef EXPERIMENT_XML_H
#define EXPERIMENT_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* Append a value as it may stand between quotes. */
void xml_escape(struct buf *b, const char *s);
/* Append ` name="value"`, the value escaped. */
void xml_attr(struct buf *b, const char *name, const char *value);

struct xml_attr {
	const char *name, *value;
};

enum { XML_MAX_ATTRS = 64 };

struct xml_element {
	const char *name;
	struct xml_attr attrs[XML_MAX_ATTRS];
	size_t nattrs;
};

/* NULL when there is no such attribute. */
const char *xml_get(const struct xml_element *e, const char *name);
/* The attribute as an integer (decimal or 0x), or `def`; saturates instead of overflowing. */
int64_t xml_get_int(const struct xml_element *e, const char *name, int64_t def);
uint64_t xml_get_hex(const struct xml_element *e, const char *name, uint64_t def);
/* "sec.nnnnnnnnn" as nanoseconds, or `def`. */
int64_t xml_get_time(const struct xml_element *e, const char *name, int64_t def);

/* Strings lent to a handler are valid during the call only. */
struct xml_handler {
	void (*start)(void *ctx, const struct xml_element *e);
	void (*text)(void *ctx, const char *text); /* blank text is left out */
	void (*end)(void *ctx, const char *name);
};

/*
 * Walk the elements in data. NUL and newline padding is passed over. 0; 1 when
 * text that is in no element was passed over, too; or -1 at something that cannot
 * be read, everything before it having been handed out. `*line` says where.
 */
int xml_parse(const void *data, size_t size, const struct xml_handler *h, void *ctx, size_t *line);

#endif
