/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/print/cell.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "analysis/base/buf.h"
#include "analysis/views/table.h"

/* The two digits of 0 to 99. */
static const char pairs[] = "0001020304050607080910111213141516171819"
			    "2021222324252627282930313233343536373839"
			    "4041424344454647484950515253545556575859"
			    "6061626364656667686970717273747576777879"
			    "8081828384858687888990919293949596979899";

/* Writes the digits of n so that they end at `end`; returns where they begin. */
static char *digits_before(char *end, uint64_t n)
{
	for (; n >= 100; n /= 100)
		end = memcpy(end - 2, &pairs[n % 100 * 2], 2);
	if (n >= 10)
		return memcpy(end - 2, &pairs[n * 2], 2);
	*--end = '0' + n;
	return end;
}

/* Write n thousandths, or n hundredths, as a decimal number. */
static char *thousandths_before(char *end, uint32_t n)
{
	*--end = '0' + n % 10;
	end = memcpy(end - 2, &pairs[n / 10 % 100 * 2], 2);
	*--end = '.';
	return digits_before(end, n / 1000);
}

static char *hundredths_before(char *end, uint32_t n)
{
	end = memcpy(end - 2, &pairs[n % 100 * 2], 2);
	*--end = '.';
	return digits_before(end, n / 100);
}

/*
 * Very large values, and values so close to a rounding tie that a product may round wrongly,
 * use printf, which is exact.
 */
enum { FIXED_END = 1000000000 };

/* Convert to units of the last digit. False: use printf. */
static bool to_fixed(double d, double power, uint32_t *ret)
{
	double scaled = d * power, rest;

	if (!(scaled >= 0 && scaled < FIXED_END))
		return false;
	*ret = (uint32_t)scaled;
	rest = scaled - (double)*ret;
	*ret += rest > 0.5;
	return !(rest > 0.499999 && rest < 0.500001);
}

/* The same for an integer; `unit` of it make one unit of the last digit. */
static bool to_units(int64_t i, int64_t unit, uint32_t *ret)
{
	int64_t n = i / unit, rest = i % unit;

	if (i < 0 || n >= FIXED_END || rest == unit / 2)
		return false;
	*ret = n + (rest > unit / 2);
	return true;
}

char *cell_number(const struct cell *c, char *end)
{
	uint32_t n;

	if (c->n || c->estimate)
		return NULL;
	switch (c->kind) {
	case CELL_TIME:
	case CELL_MSEC:
		if (!c->i)
			return memcpy(end - 2, "0.", 2);
		/* Two calls with constants, which the compiler divides by faster. */
		if (c->kind == CELL_TIME ? !to_units(c->i, 1000000, &n) : !to_units(c->i, 1000, &n))
			return NULL;
		return thousandths_before(end, n);
	case CELL_RATIO:
		if (c->d == 0)
			return memcpy(end - 2, "0.", 2);
		return to_fixed(c->d, 1000, &n) ? thousandths_before(end, n) : NULL;
	case CELL_PERCENT:
		if (c->d == 0)
			return memcpy(end - 2, "0.", 2);
		return to_fixed(c->d, 100, &n) ? hundredths_before(end, n) : NULL;
	case CELL_COUNT:
		return c->i < 0 ? NULL : digits_before(end, c->i);
	default:
		return NULL;
	}
}

static bool is_negative(const struct cell *c)
{
	return c->kind == CELL_RATIO || c->kind == CELL_PERCENT ? c->d < 0 : c->i < 0;
}

/* As printf formats it, except that exactly 0 is "0.". */
static void put_double(struct buf *b, double d, int digits)
{
	if (d != 0)
		buf_printf(b, "%.*f", digits, d);
	else
		buf_puts(b, "0.");
}

void cell_put(struct buf *b, const struct cell *c)
{
	if (c->estimate && !cell_is_nothing(c))
		buf_puts(b, "~");
	cell_put_value(b, c);
}

void cell_put_value(struct buf *b, const struct cell *cell)
{
	struct cell exact = *cell, *c = &exact;
	char room[CELL_ROOM], *end = room + sizeof(room), *begin;

	exact.estimate = false;
	begin = cell_number(c, end);
	if (begin) {
		buf_add(b, begin, end - begin);
		return;
	}
	if (c->n && c->kind >= CELL_TIME && c->kind <= CELL_COUNT && !is_negative(c))
		buf_puts(b, "+");
	switch (c->kind) {
	case CELL_TIME:
		put_double(b, c->i / 1e9, 3);
		break;
	case CELL_MSEC:
		put_double(b, c->i / 1e6, 3);
		break;
	case CELL_USEC:
		put_double(b, c->i / 1e3, 3);
		break;
	case CELL_TIMES:
		buf_puts(b, "x ");
		if (c->d > 99.999)
			buf_puts(b, ">99.999");
		else
			put_double(b, c->d, 3);
		break;
	case CELL_RATIO:
		put_double(b, c->d, 3);
		break;
	case CELL_PERCENT:
		put_double(b, c->d, 2);
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
	case CELL_USEC:
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

/* Write the letter at the middle of each of `width` equal parts. */
void bar_put(struct buf *b, const char *letters, size_t width)
{
	size_t n = strlen(letters);

	for (size_t i = 0; n && i < width; i++)
		buf_add(b, &letters[(2 * i + 1) * n / (2 * width)], 1);
}

enum { HIST_MAX = 64 };

/* Heights are linear and relative to the row's highest count. Every count above 0 is visible. */
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
 * A rail takes three columns, a missing rail two, as in gprofng's call tree, so that the same
 * rows are the same bytes in both programs.
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

/*
 * Decode the character at s; returns its length in bytes. Expects well-formed UTF-8; a stray
 * byte counts as one character.
 */
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
