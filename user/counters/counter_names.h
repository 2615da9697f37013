/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters that every kernel has under a fixed number, and our names for them. */
#ifndef USER_COUNTER_NAMES_H
#define USER_COUNTER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "user/counters/counters.h"

/*
 * Aliases are gprofng's where it has one. `interval` is the default interval; for frequent events
 * it gives about 300 overflows a second on a busy CPU. Intervals below `least` are refused: the
 * CPU would do nothing but handle overflows.
 */
struct counter_name {
	const char *name, *kernel, *label; /* kernel: "PERF_COUNT_HW_INSTRUCTIONS" */
	uint32_t type;
	uint64_t config;
	uint64_t interval, least;
	enum counter_unit unit;
	bool kernel_only; /* occurs only in kernel mode: one metric, without K_ */
	const char *words; /* for the list of counters: "CPU-cycles", "load events" */
};

/* Aliases; they end with a NULL name. */
extern const struct counter_name counter_aliases[];
/* The kernel's own names; they end with a NULL name. */
extern const struct counter_name counter_kernel_names[];

/* Find a name in either table, or as a cache event ("L1-dcache-load-misses"). False if unknown. */
bool counter_name_find(const char *name, struct counter_name *ret);
/* Call fn for each cache event that has a name; the row is valid during the call. */
void counter_cache_names(void (*fn)(void *ctx, const struct counter_name *n), void *ctx);

#endif
