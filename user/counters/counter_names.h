/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters that every kernel knows by number, and what we call them. */
#ifndef USER_COUNTER_NAMES_H
#define USER_COUNTER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "user/counters/counters.h"

/*
 * Aliases are those of gprofng where it has one. `interval` is the default: of what is
 * frequent about 300 overflows a second of a busy CPU; `least` is refused to go below, for the
 * CPU would do nothing but overflow.
 */
struct counter_name {
	const char *name, *kernel, *label; /* kernel: "PERF_COUNT_HW_INSTRUCTIONS" */
	uint32_t type;
	uint64_t config;
	uint64_t interval, least;
	enum counter_unit unit;
	bool kernel_only; /* happens in kernel mode by its nature: one metric, without K_ */
	const char *words; /* of the list: "CPU-cycles", "load events" */
};

/* Aliases; they end with a NULL name. */
extern const struct counter_name counter_aliases[];
/* The kernel's own names, likewise. */
extern const struct counter_name counter_kernel_names[];

/* By either table or as a cache event ("L1-dcache-load-misses"); false: none of these. */
bool counter_name_find(const char *name, struct counter_name *ret);
/* Call for each cache event that has a name; the row is valid during the call. */
void counter_cache_names(void (*fn)(void *ctx, const struct counter_name *n), void *ctx);

#endif
