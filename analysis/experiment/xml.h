/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The XML dialect of experiments: elements and attributes, one element a line, no root
 * element. Bytes outside ASCII are written %hh%. Input is not trusted.
 */
#ifndef EXPERIMENT_XML_H
#define EXPERIMENT_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* Append a value, escaped for use between quotes. */
void xml_escape(struct buf *b, const char *s);
/* Append ` name="value"` with the value escaped. */
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

/* The value of an attribute; NULL if there is none. */
const char *xml_get(const struct xml_element *e, const char *name);
/* The attribute as an integer (decimal or 0x…), or `def`. Saturates. */
int64_t xml_get_int(const struct xml_element *e, const char *name, int64_t def);
uint64_t xml_get_hex(const struct xml_element *e, const char *name, uint64_t def);
/* "sec.nnnnnnnnn" in nanoseconds, or `def`. */
int64_t xml_get_time(const struct xml_element *e, const char *name, int64_t def);

/* Strings passed to a handler are valid only during the call. */
struct xml_handler {
	void (*start)(void *ctx, const struct xml_element *e);
	void (*text)(void *ctx, const char *text); /* not called for blank text */
	void (*end)(void *ctx, const char *name);
};

/*
 * Walk the elements in data; NUL and newline padding is skipped. 0: all was read. 1:
 * text outside of any element was skipped. -1: a syntax error; all elements before it
 * were delivered. *line (unless NULL) is the line of the problem.
 */
int xml_parse(const void *data, size_t size, const struct xml_handler *h, void *ctx, size_t *line);

#endif
