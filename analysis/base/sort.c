/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"

/* Copied aside at a time. More would be new memory, which the kernel has to clear, beside millions of packets. */
enum { MERGE_BYTES = 16 << 20, SWAP_BYTES = 1024 };

struct sorting {
	char *data, *room; /* the room has space for `most` elements */
	size_t size, most;
	int (*cmp)(const void *a, const void *b);
};

static char *element(const struct sorting *s, size_t i)
{
	return s->data + i * s->size;
}

/*
 * Put the beginning of each sorted run into starts, and n after the last. Returns the number of runs;
 * 0: more than SORT_RUNS.
 */
static size_t find_runs(const struct sorting *s, size_t n, size_t starts[SORT_RUNS + 1])
{
	size_t runs = 1;

	starts[0] = 0;
	for (size_t i = 1; i < n; i++) {
		if (s->cmp(element(s, i - 1), element(s, i)) <= 0)
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
	char *to = element(s, left);
	const char *a = s->room, *a_end = s->room + bytes, *from;
	const char *b = element(s, middle), *b_end = element(s, right);

	memcpy(s->room, to, bytes);
	while (a < a_end) {
		for (from = b; b < b_end && s->cmp(a, b) > 0; b += s->size)
			;
		put_bytes(&to, from, b - from);
		for (from = a; a < a_end && (b == b_end || s->cmp(a, b) <= 0); a += s->size)
			;
		put_bytes(&to, from, a - from);
	}
}

/* The same from the end, with the right run copied. */
static void merge_right(const struct sorting *s, size_t left, size_t middle, size_t right)
{
	size_t bytes = (right - middle) * s->size;
	char *begin = element(s, left), *to = element(s, right);
	const char *a = element(s, middle), *b = s->room + bytes, *from;

	memcpy(s->room, a, bytes);
	while (b > s->room) {
		for (from = a; a > begin && s->cmp(a - s->size, b - s->size) > 0; a -= s->size)
			;
		to -= from - a;
		memmove(to, a, from - a);
		for (from = b; b > s->room && (a == begin || s->cmp(a - s->size, b - s->size) <= 0); b -= s->size)
			;
		to -= from - b;
		memcpy(to, b, from - b);
	}
}

static void swap_bytes(char *a, char *b, size_t bytes)
{
	char aside[SWAP_BYTES];

	for (size_t n; bytes; bytes -= n, a += n, b += n) {
		n = bytes < SWAP_BYTES ? bytes : SWAP_BYTES;
		memcpy(aside, a, n);
		memcpy(a, b, n);
		memcpy(b, aside, n);
	}
}

/* Exchange two neighbours of these lengths. Each swap puts the shorter one's length of bytes where they belong. */
static void exchange(char *at, size_t left, size_t right)
{
	while (left && right) {
		if (left <= right) {
			swap_bytes(at, at + left, left);
			at += left;
			right -= left;
		} else {
			swap_bytes(at + left - right, at + left, right);
			left -= right;
		}
	}
}

/* The first of the elements that is not less than the key; with `after`, the first that is greater. */
static size_t find_place(const struct sorting *s, size_t from, size_t to, const char *key, bool after)
{
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = s->cmp(element(s, middle), key);

		if (order < 0 || (after && !order))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/*
 * Merge two neighbouring runs. If neither fits into the room, halve the longer one, divide the other at the same
 * element, and exchange the inner parts: that leaves two merges, one beside the other.
 */
static void merge(const struct sorting *s, size_t left, size_t middle, size_t right)
{
	bool longer = middle - left > right - middle; /* the left one */
	size_t a, b, new_middle;

	if ((longer ? right - middle : middle - left) <= s->most) {
		(longer ? merge_right : merge_left)(s, left, middle, right);
		return;
	}
	if (longer) {
		a = left + (middle - left) / 2;
		b = find_place(s, middle, right, element(s, a), false);
	} else {
		b = middle + (right - middle) / 2;
		a = find_place(s, left, middle, element(s, b), true);
	}
	new_middle = a + (b - middle);
	exchange(element(s, a), (middle - a) * s->size, (b - middle) * s->size);
	merge(s, left, a, new_middle);
	merge(s, new_middle, b, right);
}

void sort_runs(void *data, size_t n, size_t size, int (*cmp)(const void *a, const void *b))
{
	struct sorting s = { .data = data, .size = size, .cmp = cmp };
	size_t starts[SORT_RUNS + 1], runs = n ? find_runs(&s, n, starts) : 1;

	if (!runs)
		qsort(data, n, size, cmp);
	if (runs > 1) {
		s.most = n / 2 < MERGE_BYTES / size ? n / 2 : MERGE_BYTES / size + 1;
		s.room = xmalloc(s.most * size);
	}
	for (; runs > 1; runs = (runs + 1) / 2) {
		for (size_t i = 0; i + 1 < runs; i += 2)
			merge(&s, starts[i], starts[i + 1], starts[i + 2]);
		/* Each pair is one run now. */
		for (size_t i = 1; i < (runs + 1) / 2; i++)
			starts[i] = starts[2 * i];
		starts[(runs + 1) / 2] = n;
	}
	free(s.room);
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
