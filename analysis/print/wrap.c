/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/print/wrap.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/print/printer.h"
#include "analysis/views/table.h"

void line_pad(struct buf *b, size_t n)
{
	static const char blanks[] = "                                ";
	const size_t most = sizeof(blanks) - 1;

	for (; n > most; n -= most)
		buf_add(b, blanks, most);
	if (n)
		buf_add(b, blanks, n);
}

void line_end(struct buf *b)
{
	while (b->len && b->data[b->len - 1] == ' ')
		b->len--;
	buf_puts(b, "\n");
}

/* The bytes of the words that fit into `room`, or else of the first word. Blanks before it count. */
static size_t whole_words(const char *s, size_t room)
{
	const char *blank = strchrnul(s + strspn(s, " "), ' ');
	size_t fits = blank - s;

	while (*blank && (size_t)((blank = strchrnul(blank + 1, ' ')) - s) <= room)
		fits = blank - s;
	return fits;
}

void line_put(struct printer *p, const char *s, size_t at, size_t indent)
{
	for (;;) {
		size_t n = p->width ? whole_words(s, p->width > at ? p->width - at : 0) : strlen(s);

		buf_add(&p->out, s, n);
		line_end(&p->out);
		s += n;
		s += strspn(s, " ");
		if (!*s)
			return;
		line_pad(&p->out, indent);
		at = indent;
	}
}

/* Where the text behind a line's last gap of two or more blanks begins. */
static size_t hanging(const char *line)
{
	size_t at = 0;

	for (const char *s = line; (s = strstr(s, "  "));) {
		s += strspn(s, " ");
		at = s - line;
	}
	return at;
}

void text_prose(struct printer *p, const char *text)
{
	for (const char *end; *text; text = *end ? end + 1 : end) {
		char *line;

		end = strchrnul(text, '\n');
		line = xstrndup(text, end - text);
		line_put(p, line, 0, hanging(line));
		free(line);
	}
}

/* The bytes of a chain ("a < b < c") that fit on a line: up to the last link within `room`. */
static size_t first_line(const char *s, size_t room)
{
	size_t fits = 0;

	for (const char *link = s; (link = strstr(link, " < ")); link += 3) {
		if ((size_t)(link - s) > room && fits)
			break;
		fits = link - s;
	}
	return fits && strlen(s) > room ? fits : strlen(s);
}

enum { WRAP_INDENT = 16, LINE_INDENT = 4 };

void line_put_names(struct printer *p, const char *s, size_t at)
{
	size_t indent = at ? WRAP_INDENT : LINE_INDENT;
	size_t room = p->width > at ? p->width - at : 0, n = strlen(s), words;
	bool link;

	if (n > room && n + indent <= p->width && !strstr(s, " < ")) {
		line_end(&p->out);
		line_pad(&p->out, indent);
		buf_puts(&p->out, s);
		return;
	}
	while (*s) {
		n = first_line(s, room);
		words = n > room ? whole_words(s, room) : n;
		link = words >= n;
		n = link ? n : words;
		if (n > room && at > indent + 1) {
			n = 0;
			link = false;
		}
		buf_add(&p->out, s, n);
		s += n;
		if (!*s)
			break;
		line_end(&p->out);
		line_pad(&p->out, indent);
		if (link)
			buf_puts(&p->out, "<");
		s += link ? 2 : n > 0;
		at = indent + link;
		room = p->width > at ? p->width - at : 0;
	}
}

void line_put_branch(struct printer *p, const char *s, size_t at, const struct row *r)
{
	const struct row child = { .depth = r->depth + 1 };
	struct buf lead = { 0 }, rails = { 0 };
	size_t begin, n;

	tree_put(&p->tree, &lead, r);
	tree_put(&p->tree, &rails, &child);
	begin = at + lead.len;
	buf_add(&p->out, lead.data, lead.len);
	s += lead.len;
	for (;;) {
		n = whole_words(s, p->width > begin ? p->width - begin : 0);
		buf_add(&p->out, s, n);
		s += n + strspn(s + n, " ");
		if (!*s)
			break;
		line_end(&p->out);
		line_pad(&p->out, at);
		/* Blanks in place of the branch that ends the child's rails. */
		buf_add(&p->out, rails.data, rails.len - strlen("+-"));
		line_pad(&p->out, strlen("+-"));
		begin = at + rails.len;
	}
	buf_free(&lead);
	buf_free(&rails);
}
