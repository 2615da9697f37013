/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scanner that builds no tree: it recognizes tags and keeps no stack, so nesting of
 * any depth costs nothing. The decoded strings of an element share one buffer. They are
 * addressed by offsets until the buffer stops growing.
 */
#include "analysis/experiment/xml.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/buf.h"

static const struct entity {
	char c;
	const char *name;
} entities[] = {
	{ '"', "&quot;" }, { '\'', "&apos;" }, { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" },
};

enum { NENTITIES = sizeof(entities) / sizeof(entities[0]) };

/* '%' is escaped, too: "5%20%" must not be read back as "5 ". */
static bool is_plain(unsigned char c)
{
	return c == '\t' || c == '\n' || (c >= 0x20 && c < 0x7f && c != '%');
}

void xml_escape(struct buf *b, const char *s)
{
	for (; *s; s++) {
		size_t i = 0;

		while (i < NENTITIES && entities[i].c != *s)
			i++;
		if (i < NENTITIES)
			buf_puts(b, entities[i].name);
		else if (is_plain(*s))
			buf_add(b, s, 1);
		else
			buf_printf(b, "%%%02x%%", (unsigned char)*s);
	}
}

void xml_attr(struct buf *b, const char *name, const char *value)
{
	buf_printf(b, " %s=\"", name);
	xml_escape(b, value);
	buf_puts(b, "\"");
}

const char *xml_get(const struct xml_element *e, const char *name)
{
	for (size_t i = 0; i < e->nattrs; i++) {
		if (!strcmp(e->attrs[i].name, name))
			return e->attrs[i].value;
	}
	return NULL;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Parse an unsigned number in base 10 or 16 (0x) at *s; saturates. False: no digit. */
static bool number(const char **s, unsigned base, uint64_t *ret)
{
	const char *begin;

	if ((*s)[0] == '0' && ((*s)[1] | 0x20) == 'x') {
		base = 16;
		*s += 2;
	}
	*ret = 0;
	for (begin = *s; (unsigned)digit(**s) < base; ++*s) {
		if (__builtin_mul_overflow(*ret, base, ret) ||
		    __builtin_add_overflow(*ret, (uint64_t)digit(**s), ret)) {
			*ret = UINT64_MAX;
			return true;
		}
	}
	return *s != begin;
}

static bool sign(const char **s)
{
	bool negative = **s == '-';

	if (negative || **s == '+')
		++*s;
	return negative;
}

static int64_t signed_value(bool negative, uint64_t v)
{
	if (v > INT64_MAX)
		return negative ? INT64_MIN : INT64_MAX;
	return negative ? -(int64_t)v : (int64_t)v;
}

int64_t xml_get_int(const struct xml_element *e, const char *name, int64_t def)
{
	const char *s = xml_get(e, name);
	bool negative;
	uint64_t v;

	if (!s)
		return def;
	negative = sign(&s);
	return number(&s, 10, &v) ? signed_value(negative, v) : def;
}

uint64_t xml_get_hex(const struct xml_element *e, const char *name, uint64_t def)
{
	const char *s = xml_get(e, name);
	uint64_t v;

	return s && number(&s, 16, &v) ? v : def;
}

int64_t xml_get_time(const struct xml_element *e, const char *name, int64_t def)
{
	const char *s = xml_get(e, name);
	uint64_t v, scale = 100000000;
	bool negative;

	if (!s)
		return def;
	negative = sign(&s);
	if (!number(&s, 10, &v))
		return def;
	if (__builtin_mul_overflow(v, (uint64_t)1000000000, &v) || v > INT64_MAX)
		v = INT64_MAX;
	if (*s == '.') {
		for (s++; *s >= '0' && *s <= '9' && scale; s++, scale /= 10)
			v += (*s - '0') * scale;
	}
	return signed_value(negative, v);
}

struct parser {
	const char *begin, *p, *end;
	const struct xml_handler *handler;
	void *ctx;
	size_t depth;       /* number of open elements */
	const char *junk;   /* the first text outside of any element; NULL: none */
	struct buf strings; /* decoded, NUL-terminated; of the current element or text */
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0';
}

static void skip_space(struct parser *ps)
{
	while (ps->p < ps->end && is_space(*ps->p))
		ps->p++;
}

static bool looking_at(const struct parser *ps, const char *s)
{
	size_t n = strlen(s);

	return (size_t)(ps->end - ps->p) >= n && !memcmp(ps->p, s, n);
}

/* Move behind the next `s`. False: there is none; moves to the end of data. */
static bool skip_past(struct parser *ps, const char *s)
{
	const char *hit = memmem(ps->p, ps->end - ps->p, s, strlen(s));

	ps->p = hit ? hit + strlen(s) : ps->end;
	return hit;
}

/* Decode the character at s. Returns how many bytes it took. A NUL yields nothing. */
static size_t decode_one(struct buf *b, const char *s, size_t n)
{
	char c = *s;
	size_t used = 1;

	if (c == '%' && n >= 4 && s[3] == '%' && digit(s[1]) < 16 && digit(s[2]) < 16) {
		c = digit(s[1]) << 4 | digit(s[2]);
		used = 4;
	} else if (c == '&') {
		for (size_t i = 0; i < NENTITIES; i++) {
			size_t len = strlen(entities[i].name);

			if (len <= n && !memcmp(s, entities[i].name, len)) {
				c = entities[i].c;
				used = len;
				break;
			}
		}
	}
	if (c)
		buf_add(b, &c, 1);
	return used;
}

/* Append the decoded bytes and a NUL to the strings. Returns their offset. */
static size_t decode(struct parser *ps, const char *s, size_t n)
{
	size_t start = ps->strings.len;

	for (size_t i = 0; i < n;)
		i += decode_one(&ps->strings, s + i, n - i);
	buf_add(&ps->strings, "", 1);
	return start;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.' || c == ':';
}

/* Copy the name at p to the strings. False: there is none. */
static bool parse_name(struct parser *ps, size_t *ret)
{
	const char *s = ps->p;

	while (ps->p < ps->end && is_name(*ps->p))
		ps->p++;
	*ret = ps->strings.len;
	buf_add(&ps->strings, s, ps->p - s);
	buf_add(&ps->strings, "", 1);
	return ps->p > s;
}

/* name="value" at p. */
static bool parse_attr(struct parser *ps, size_t *name, size_t *value)
{
	const char *close;
	char quote;

	if (!parse_name(ps, name))
		return false;
	skip_space(ps);
	if (ps->p == ps->end || *ps->p++ != '=')
		return false;
	skip_space(ps);
	if (ps->p == ps->end)
		return false;
	quote = *ps->p++;
	if (quote != '"' && quote != '\'')
		return false;
	close = memchr(ps->p, quote, ps->end - ps->p);
	if (!close)
		return false;
	*value = decode(ps, ps->p, close - ps->p);
	ps->p = close + 1;
	return true;
}

struct attr_offsets {
	size_t name, value;
};

static void hand_out(struct parser *ps, const struct attr_offsets *attrs, size_t n)
{
	const char *strings = ps->strings.data;
	struct xml_element e;

	e.name = strings;
	e.nattrs = n;
	for (size_t i = 0; i < n; i++) {
		e.attrs[i].name = strings + attrs[i].name;
		e.attrs[i].value = strings + attrs[i].value;
	}
	if (ps->handler->start)
		ps->handler->start(ps->ctx, &e);
}

static void hand_out_end(struct parser *ps)
{
	if (ps->handler->end)
		ps->handler->end(ps->ctx, ps->strings.data);
}

/* Parse an element from behind its '<'. Attributes beyond XML_MAX_ATTRS are skipped. */
static bool parse_start(struct parser *ps)
{
	struct attr_offsets attrs[XML_MAX_ATTRS];
	size_t name, n = 0;

	if (!parse_name(ps, &name))
		return false;
	for (;;) {
		struct attr_offsets a;

		skip_space(ps);
		if (looking_at(ps, ">") || looking_at(ps, "/>"))
			break;
		if (!parse_attr(ps, &a.name, &a.value))
			return false;
		if (n < XML_MAX_ATTRS)
			attrs[n++] = a;
	}
	hand_out(ps, attrs, n);
	if (*ps->p == '/') {
		hand_out_end(ps);
		ps->p++;
	} else {
		ps->depth++;
	}
	ps->p++;
	return true;
}

/* Parse a closing tag from behind its "</". */
static bool parse_end(struct parser *ps)
{
	size_t name;

	if (!parse_name(ps, &name))
		return false;
	skip_space(ps);
	if (!looking_at(ps, ">"))
		return false;
	ps->p++;
	ps->depth -= ps->depth > 0;
	hand_out_end(ps);
	return true;
}

static bool parse_tag(struct parser *ps)
{
	buf_clear(&ps->strings);
	if (looking_at(ps, "<!--"))
		return skip_past(ps, "-->");
	if (looking_at(ps, "<?") || looking_at(ps, "<!"))
		return skip_past(ps, ">");
	ps->p++;
	if (!looking_at(ps, "/"))
		return parse_start(ps);
	ps->p++;
	return parse_end(ps);
}

static void parse_text(struct parser *ps)
{
	const char *s, *stop;

	skip_space(ps);
	s = ps->p;
	stop = memchr(s, '<', ps->end - s);
	ps->p = stop ? stop : ps->end;
	for (stop = ps->p; stop > s && is_space(stop[-1]);)
		stop--;
	if (stop == s)
		return;
	if (!ps->depth && !ps->junk)
		ps->junk = s;
	if (!ps->depth || !ps->handler->text)
		return;
	buf_clear(&ps->strings);
	decode(ps, s, stop - s);
	ps->handler->text(ps->ctx, ps->strings.data);
}

int xml_parse(const void *data, size_t size, const struct xml_handler *h, void *ctx, size_t *line)
{
	struct parser ps = { .begin = data, .p = data, .end = (const char *)data + size,
			     .handler = h, .ctx = ctx };
	const char *tag = ps.p;
	bool good = true;

	while (good && ps.p < ps.end) {
		parse_text(&ps);
		tag = ps.p;
		if (ps.p < ps.end)
			good = parse_tag(&ps);
	}
	tag = good && ps.junk ? ps.junk : tag;
	if (line) {
		*line = 1;
		for (const char *p = ps.begin; p < tag; p++)
			*line += *p == '\n';
	}
	buf_free(&ps.strings);
	return !good ? -1 : ps.junk ? 1 : 0;
}
