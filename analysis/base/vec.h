/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A typed growable array, used by value: `VEC(struct row) rows = { 0 };`. Pointers into it are
 * valid until the next push. Elements are v.data[i] for i < v.len.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/sort.h"

#define VEC(type) struct { type *data; size_t len, cap; }

#define vec_reserve(v, n)                                                                          \
	do {                                                                                       \
		size_t vec_want = (n);                                                             \
		if (vec_want > (v)->cap) {                                                         \
			size_t vec_cap = (v)->cap ? (v)->cap * 2 : 8;                              \
			(v)->cap = vec_cap > vec_want ? vec_cap : vec_want;                        \
			(v)->data = xrealloc_array((v)->data, (v)->cap, sizeof(*(v)->data));       \
		}                                                                                  \
	} while (0)

/* Append a value. The expression may use the vector's present elements. */
#define vec_push(v, ...)                                                                           \
	do {                                                                                       \
		vec_reserve(v, (v)->len + 1);                                                      \
		(v)->data[(v)->len] = (__VA_ARGS__);                                               \
		(v)->len++;                                                                        \
	} while (0)

#define vec_for_each(p, v) for (__typeof__((v)->data + 0) p = (v)->data; p && p < (v)->data + (v)->len; p++)

/* Packets are mostly in order already, or consist of the sorted packets of a few files. */
#define vec_sort(v, cmp) sort_runs((v)->data, (v)->len, sizeof(*(v)->data), cmp)

/*
 * For a vector sorted by `member`: the number of leading elements whose member is at most
 * `value`. The last of them is at this number - 1.
 */
#define vec_upto(v, member, value)                                                                 \
	({                                                                                         \
		__typeof__((v)->data->member) vec_value = (value);                                 \
		size_t vec_lo = 0, vec_hi = (v)->len;                                              \
		while (vec_lo < vec_hi) {                                                          \
			size_t vec_mid = vec_lo + (vec_hi - vec_lo) / 2;                           \
			if ((v)->data[vec_mid].member <= vec_value)                                \
				vec_lo = vec_mid + 1;                                              \
			else                                                                       \
				vec_hi = vec_mid;                                                  \
		}                                                                                  \
		vec_lo;                                                                            \
	})

/* Release the storage; the vector is empty and usable again. */
#define vec_free(v)                                                                                \
	do {                                                                                       \
		free((v)->data);                                                                   \
		(v)->data = NULL;                                                                  \
		(v)->len = (v)->cap = 0;                                                           \
	} while (0)

#endif
