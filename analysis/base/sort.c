/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"

struct sorting {
	char *data;
	size_t size;
	int (*cmp)(const void *a, const void *b);
};

/*
 * Put the beginning of each sorted run into starts, and n after the last. Returns the number of runs;
 * 0: more than SORT_RUNS.
 */
static size_t find_runs(const struct sorting *s, size_t n, size_t starts[SORT_RUNS + 1])
{
	size_t runs = 1;

	starts[0] = 0;
	for (size_t i = 1; i < n; i++) {
		if (s->cmp(s->data + (i - 1) * s->size, s->data + i * s->size) <= 0)
			continue;
		if (runs == SORT_RUNS)
			return 0;
		starts[runs++] = i;
	}
	starts[runs] = n;
	return runs;
}

/* Copy bytes to where *to is, and go on behind them. */
static void put_bytes(char **to, const char *from, size_t bytes)
{
	memmove(*to, from, bytes);
	*to += bytes;
}

/*
 * Merge the left run, copied aside, and the right one. What is left of the right one is in place.
 * Often many elements in a row are from one run.
 */
static void merge_left(const struct sorting *s, size_t left, size_t middle, size_t right)
{
	size_t bytes = (middle - left) * s->size;
	char *copy = xmalloc(bytes), *to = s->data + left * s->size;
	const char *a = copy, *a_end = copy + bytes, *from;
	const char *b = s->data + middle * s->size, *b_end = s->data + right * s->size;

	memcpy(copy, to, bytes);
	while (a < a_end) {
		for (from = b; b < b_end && s->cmp(a, b) > 0; b += s->size)
			;
		put_bytes(&to, from, b - from);
		for (from = a; a < a_end && (b == b_end || s->cmp(a, b) <= 0); a += s->size)
			;
		put_bytes(&to, from, a - from);
	}
	free(copy);
}

/* The same from the end, with the right run copied. */
static void merge_right(const struct sorting *s, size_t left, size_t middle, size_t right)
{
	size_t bytes = (right - middle) * s->size;
	char *copy = xmalloc(bytes), *begin = s->data + left * s->size, *to = s->data + right * s->size;
	const char *a = s->data + middle * s->size, *b = copy + bytes, *from;

	memcpy(copy, a, bytes);
	while (b > copy) {
		for (from = a; a > begin && s->cmp(a - s->size, b - s->size) > 0; a -= s->size)
			;
		to -= from - a;
		memmove(to, a, from - a);
		for (from = b; b > copy && (a == begin || s->cmp(a - s->size, b - s->size) <= 0); b -= s->size)
			;
		to -= from - b;
		memcpy(to, b, from - b);
	}
	free(copy);
}

static void merge(const struct sorting *s, size_t left, size_t middle, size_t right)
{
	if (middle - left <= right - middle)
		merge_left(s, left, middle, right);
	else
		merge_right(s, left, middle, right);
}

void sort_runs(void *data, size_t n, size_t size, int (*cmp)(const void *a, const void *b))
{
	struct sorting s = { data, size, cmp };
	size_t starts[SORT_RUNS + 1], runs = n ? find_runs(&s, n, starts) : 1;

	if (!runs)
		qsort(data, n, size, cmp);
	for (; runs > 1; runs = (runs + 1) / 2) {
		for (size_t i = 0; i + 1 < runs; i += 2)
			merge(&s, starts[i], starts[i + 1], starts[i + 2]);
		/* Each pair is one run now. */
		for (size_t i = 1; i < (runs + 1) / 2; i++)
			starts[i] = starts[2 * i];
		starts[(runs + 1) / 2] = n;
	}
}

enum { BYTE_VALUES = 256 };

/* Copy the elements to another array, in order of one byte of their keys. */
static void sort_by_byte(const struct keyed *from, size_t n, int shift, struct keyed *to)
{
	size_t at[BYTE_VALUES] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[from[i].key >> shift & 0xff]++;
	for (size_t i = 0; i < BYTE_VALUES; i++) {
		size_t count = at[i];

		at[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[from[i].key >> shift & 0xff]++] = from[i];
}

void sort_keyed(struct keyed *data, size_t n, struct keyed *room)
{
	struct keyed *from = data, *to = room, *swap;
	uint64_t differ = 0;

	for (size_t i = 1; i < n; i++)
		differ |= data[i].key ^ data[0].key;
	for (int shift = 0; shift < 64; shift += 8) {
		if (!(differ >> shift & 0xff))
			continue;
		sort_by_byte(from, n, shift, to);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != data)
		memcpy(data, from, n * sizeof(*data));
}

uint32_t *sort_by_group(const uint32_t *group, size_t n, size_t ngroups, uint32_t **first)
{
	uint32_t *ret = xcalloc(n + 1, sizeof(*ret)), *end = xcalloc(ngroups + 1, sizeof(*end));

	for (size_t i = 0; i < n; i++)
		end[group[i]]++;
	for (size_t g = 1; g <= ngroups; g++)
		end[g] += end[g - 1];
	/* From the last one on, each group's end becomes its first. */
	for (size_t i = n; i--;)
		ret[--end[group[i]]] = i;
	*first = end;
	return ret;
}
