/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arithmetic that wraps on overflow: values come from files. */
#ifndef BASE_WRAP_H
#define BASE_WRAP_H

#include <stdint.h>

static inline void add_to(int64_t *sum, int64_t value)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)value);
}

static inline int64_t wrap_plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrap_minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t wrap_times(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

#endif
