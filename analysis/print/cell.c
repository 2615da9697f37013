/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/print/cell.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "analysis/base/buf.h"

/* The digits of n, at least so many, before `end`; returns where they begin. */
static char *digits_before(char *end, uint32_t n, int least)
{
	for (; n || least > 0; n /= 10, least--)
		*--end = '0' + n % 10;
	return end;
}

/*
 * As printf's "%.*f", but fast, for a report may have millions of these. What is
 * too large, or so near the middle of two last digits that the product's own
 * rounding might decide, is left to printf, which is exact.
 */
static void put_fixed(struct buf *b, double d, int digits)
{
	static const uint32_t powers[] = { 1, 10, 100, 1000 };
	char text[32], *end = text + sizeof(text), *begin;
	uint32_t power = powers[digits], n;
	double scaled = d * (double)power, rest;

	if (!(scaled >= 0 && scaled < 1e9)) {
		buf_printf(b, "%.*f", digits, d);
		return;
	}
	n = (uint32_t)scaled;
	rest = scaled - (double)n;
	if (rest > 0.499999 && rest < 0.500001) {
		buf_printf(b, "%.*f", digits, d);
		return;
	}
	n += rest > 0.5;
	begin = digits_before(end, n % power, digits);
	*--begin = '.';
	begin = digits_before(begin, n / power, 1);
	buf_add(b, begin, end - begin);
}

static bool is_negative(const struct cell *c)
{
	return c->kind == CELL_RATIO ? c->d < 0 : c->i < 0;
}

void cell_put(struct buf *b, const struct cell *c)
{
	if (c->n && c->kind <= CELL_COUNT && !is_negative(c))
		buf_puts(b, "+");
	switch (c->kind) {
	case CELL_TIME:
		if (c->i)
			put_fixed(b, c->i / 1e9, 3);
		else
			buf_puts(b, "0.");
		break;
	case CELL_TIMES:
		buf_puts(b, "x ");
		if (c->d > 99.999)
			buf_puts(b, ">99.999");
		else if (c->d != 0)
			put_fixed(b, c->d, 3);
		else
			buf_puts(b, "0.");
		break;
	case CELL_RATIO:
		if (c->d != 0)
			put_fixed(b, c->d, 3);
		else
			buf_puts(b, "0.");
		break;
	case CELL_MSEC:
		if (c->i)
			put_fixed(b, c->i / 1e6, 3);
		else
			buf_puts(b, "0.");
		break;
	case CELL_PERCENT:
		if (c->d != 0)
			put_fixed(b, c->d, 2);
		else
			buf_puts(b, "0.");
		break;
	case CELL_COUNT:
		buf_printf(b, "%lld", (long long)c->i);
		break;
	case CELL_ADDRESS:
		buf_printf(b, "%d:0x%08llx", c->n, (unsigned long long)c->i);
		break;
	case CELL_TEXT:
	case CELL_HIST:
		if (c->s)
			buf_put_printable(b, c->s);
		break;
	case CELL_BAR:
	case CELL_BLANK:
		break;
	}
}

bool cell_is_nothing(const struct cell *c)
{
	switch (c->kind) {
	case CELL_TIME:
	case CELL_MSEC:
	case CELL_COUNT:
		return !c->i;
	case CELL_PERCENT:
	case CELL_RATIO:
		return c->d == 0;
	case CELL_TEXT:
		return !c->s || !*c->s;
	case CELL_BLANK:
		return true;
	default:
		return false;
	}
}

/* The letter at the middle of each of `width` equal parts. */
void bar_put(struct buf *b, const char *letters, size_t width)
{
	size_t n = strlen(letters);

	for (size_t i = 0; n && i < width; i++)
		buf_add(b, &letters[(2 * i + 1) * n / (2 * width)], 1);
}

enum { HIST_MAX = 64 };

/* Linear, against the row's highest; what there is at all can be seen. */
void hist_put(struct buf *b, const char *counts)
{
	static const char ramp[] = " .:-=+*#";
	double value[HIST_MAX], max = 0;
	size_t n = 0;

	for (char *end; n < HIST_MAX; n++, counts = end) {
		value[n] = strtod(counts, &end);
		if (end == counts)
			break;
		max = value[n] > max ? value[n] : max;
	}
	for (size_t i = 0; i < n; i++) {
		int level = value[i] > 0 ? 1 + (int)(value[i] / max * (sizeof(ramp) - 3) + 0.5) : 0;

		buf_add(b, &ramp[level], 1);
	}
}

/*
 * A rail takes three columns and no rail two, as in gprofng's call tree: the
 * same rows are the same bytes in both programs.
 */
void tree_put(struct tree *tr, struct buf *b, const struct row *r)
{
	size_t depth = r->depth > 0 ? r->depth : 0;

	for (size_t i = 0; i < depth; i++)
		buf_puts(b, i < tr->rails.len && tr->rails.data[i] ? "|  " : "  ");
	buf_puts(b, "+-");
	while (tr->rails.len <= depth)
		vec_push(&tr->rails, 0);
	tr->rails.data[depth] = r->more != 0;
}

void tree_free(struct tree *tr)
{
	vec_free(&tr->rails);
}

/* The character at s and its bytes; well-formed UTF-8 is expected, a stray byte is taken alone. */
static size_t decode(const unsigned char *s, wchar_t *ret)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc0 ? 2 : 1;
	wchar_t c = n == 1 ? s[0] : s[0] & (0xff >> (n + 1));

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			*ret = s[0];
			return 1;
		}
		c = c << 6 | (s[i] & 0x3f);
	}
	*ret = c;
	return n;
}

size_t text_width(const char *str)
{
	const unsigned char *s = (const unsigned char *)str;
	size_t width = 0;

	while (*s && *s < 0x80) {
		s++;
		width++;
	}
	while (*s) {
		wchar_t c;
		int w;

		s += decode(s, &c);
		w = c < 0x80 ? 1 : wcwidth(c);
		width += w < 0 ? 1 : w;
	}
	return width;
}

int table_name_column(const struct table *t)
{
	for (size_t i = 0; i < t->columns.len; i++) {
		if (t->columns.data[i].kind == CELL_TEXT)
			return i;
	}
	return -1;
}
