/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/jit/perfmap.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "user/jit/batch.h"

enum { DIGITS_MAX = 16 };

/* The value of a hexadecimal digit, or -1. */
static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Read a number and the blank after it, if the line does not end there. Some runtimes write 0x in front. */
static bool take_number(const char **at, const char *end, uint64_t *ret)
{
	const char *p = *at;
	int n;

	if (end - p > 2 && p[0] == '0' && p[1] == 'x')
		p += 2;
	*ret = 0;
	for (n = 0; p < end && digit(*p) >= 0; p++, n++)
		*ret = *ret << 4 | digit(*p);
	if (!n || n > DIGITS_MAX || (p < end && *p != ' '))
		return false;
	*at = p + (p < end);
	return true;
}

/* False: the batch has no room. */
static bool take_line(const char *p, const char *end, struct jit_batch *to)
{
	uint64_t start, size;

	if (end > p && end[-1] == '\r')
		end--;
	if (!take_number(&p, end, &start) || !take_number(&p, end, &size))
		return true;
	if (p == end && end[-1] != ' ') /* a small number is the size of a function without a name */
		return size <= JIT_SIZE_MAX ||
		       jit_batch_add(to, &(struct jit_entry){ .start = start, .size = 1, .time_ns = size,
							       .kind = JIT_GONE }, "-", 1);
	if (size > JIT_SIZE_MAX)
		return true;
	return jit_batch_add(to, &(struct jit_entry){ .start = start, .size = size }, p, end - p);
}

size_t perfmap_parse(const char *text, size_t n, size_t full, struct jit_batch *to)
{
	const char *p = text, *end = text + n, *newline;

	while (p < end && (newline = memchr(p, '\n', end - p))) {
		if (!take_line(p, newline, to))
			break;
		p = newline + 1;
	}
	return p == text && n >= full && !to->n ? n : (size_t)(p - text);
}
