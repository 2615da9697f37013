/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/counters/counter_names.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

enum {
	OFTEN = 9999991,
	LEAST_OFTEN = 10000,
	LEAST_HARDWARE = 100,
};

#define HW(n, label, config, interval, least, unit, words)                                         \
	{ n, #config, label, PERF_TYPE_HARDWARE, config, interval, least, unit, false, words }
#define SW(n, label, config, interval, kernel_only)                                                \
	{ n, #config, label, PERF_TYPE_SOFTWARE, config, interval, 1, COUNTER_EVENTS, kernel_only, "events" }
#define CACHE_CONFIG(cache, op, result) ((cache) | (op) << 8 | (result) << 16)
#define CACHE(n, label, cache, op, result, interval, words)                                        \
	{ n, #cache, label, PERF_TYPE_HW_CACHE,                                                    \
	  CACHE_CONFIG(PERF_COUNT_HW_CACHE_##cache, PERF_COUNT_HW_CACHE_OP_##op,                    \
		       PERF_COUNT_HW_CACHE_RESULT_##result),                                       \
	  interval, LEAST_HARDWARE, COUNTER_EVENTS, false, words }
#define END { NULL, NULL, NULL, 0, 0, 0, 0, COUNTER_EVENTS, false, NULL }

const struct counter_name counter_aliases[] = {
	HW("cycles", "CPU Cycles", PERF_COUNT_HW_CPU_CYCLES, OFTEN, LEAST_OFTEN, COUNTER_CYCLES,
	   "CPU-cycles"),
	HW("insts", "Instructions Executed", PERF_COUNT_HW_INSTRUCTIONS, OFTEN, LEAST_OFTEN,
	   COUNTER_EVENTS, "events"),
	HW("br_rets", "Branch Instruction Retires", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1000003,
	   LEAST_OFTEN, COUNTER_EVENTS, "events"),
	HW("br_misp", "Branch Mispredicts", PERF_COUNT_HW_BRANCH_MISSES, 100003, LEAST_HARDWARE,
	   COUNTER_EVENTS, "events"),
	CACHE("dcm", "L1 D-cache Misses", L1D, READ, MISS, 1000003, "load events"),
	CACHE("icm", "L1 I-cache Misses", L1I, READ, MISS, 1000003, "events"),
	HW("l3r", "L3 Cache References", PERF_COUNT_HW_CACHE_REFERENCES, 1000003, LEAST_HARDWARE,
	   COUNTER_EVENTS, "load-store events"),
	HW("l3m", "L3 Cache Misses", PERF_COUNT_HW_CACHE_MISSES, 100003, LEAST_HARDWARE,
	   COUNTER_EVENTS, "load-store events"),
	CACHE("dtlbm", "DTLB Misses", DTLB, READ, MISS, 100003, "load events"),
	CACHE("itlbm", "ITLB Misses", ITLB, READ, MISS, 100003, "events"),
	SW("page-faults", "Page Faults", PERF_COUNT_SW_PAGE_FAULTS, 101, false),
	SW("minor-faults", "Minor Page Faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, 101, false),
	SW("major-faults", "Major Page Faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1, false),
	SW("context-switches", "Context Switches", PERF_COUNT_SW_CONTEXT_SWITCHES, 101, true),
	SW("cpu-migrations", "CPU Migrations", PERF_COUNT_SW_CPU_MIGRATIONS, 11, true),
	SW("alignment-faults", "Alignment Faults", PERF_COUNT_SW_ALIGNMENT_FAULTS, 101, false),
	SW("emulation-faults", "Emulation Faults", PERF_COUNT_SW_EMULATION_FAULTS, 101, false),
	END
};

#define RAW(n, config, unit, words)                                                                \
	HW(n, NULL, config, COUNTER_RAW_INTERVAL, LEAST_HARDWARE, unit, words)

const struct counter_name counter_kernel_names[] = {
	RAW("cpu-cycles", PERF_COUNT_HW_CPU_CYCLES, COUNTER_CYCLES, "CPU-cycles"),
	RAW("instructions", PERF_COUNT_HW_INSTRUCTIONS, COUNTER_EVENTS, "events"),
	RAW("cache-references", PERF_COUNT_HW_CACHE_REFERENCES, COUNTER_EVENTS, "events"),
	RAW("cache-misses", PERF_COUNT_HW_CACHE_MISSES, COUNTER_EVENTS, "events"),
	RAW("branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, COUNTER_EVENTS, "events"),
	RAW("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, COUNTER_EVENTS, "events"),
	RAW("branch-misses", PERF_COUNT_HW_BRANCH_MISSES, COUNTER_EVENTS, "events"),
	RAW("bus-cycles", PERF_COUNT_HW_BUS_CYCLES, COUNTER_EVENTS, "events"),
	RAW("ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, COUNTER_EVENTS, "events"),
	RAW("stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, COUNTER_CYCLES,
	    "CPU-cycles"),
	RAW("stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, COUNTER_CYCLES,
	    "CPU-cycles"),
	END
};

/* Names of cache events as perf(1) writes them: CACHE-OPERATION, or that and -misses. */
static const struct {
	const char *name;
	unsigned id;
	bool stores;
} caches[] = {
	{ "L1-dcache", PERF_COUNT_HW_CACHE_L1D, true },
	{ "L1-icache", PERF_COUNT_HW_CACHE_L1I, false },
	{ "LLC", PERF_COUNT_HW_CACHE_LL, true },
	{ "dTLB", PERF_COUNT_HW_CACHE_DTLB, true },
	{ "iTLB", PERF_COUNT_HW_CACHE_ITLB, false },
	{ "branch", PERF_COUNT_HW_CACHE_BPU, false },
	{ "node", PERF_COUNT_HW_CACHE_NODE, true },
};

static const struct {
	const char *plain, *misses, *words;
	unsigned id;
} operations[] = {
	{ "loads", "load-misses", "load events", PERF_COUNT_HW_CACHE_OP_READ },
	{ "stores", "store-misses", "store events", PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "prefetches", "prefetch-misses", "events", PERF_COUNT_HW_CACHE_OP_PREFETCH },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

void counter_cache_names(void (*fn)(void *ctx, const struct counter_name *n), void *ctx)
{
	for (size_t i = 0; i < COUNT(caches) * COUNT(operations) * 2; i++) {
		size_t cache = i / 2 / COUNT(operations), op = i / 2 % COUNT(operations);
		unsigned miss = i % 2;
		char name[64];
		struct counter_name n = {
			.name = name, .kernel = name, .type = PERF_TYPE_HW_CACHE,
			.config = CACHE_CONFIG(caches[cache].id, operations[op].id, miss),
			.interval = COUNTER_RAW_INTERVAL, .least = LEAST_HARDWARE,
			.words = operations[op].words,
		};

		if (operations[op].id == PERF_COUNT_HW_CACHE_OP_WRITE && !caches[cache].stores)
			continue;
		snprintf(name, sizeof(name), "%s-%s", caches[cache].name,
			 miss ? operations[op].misses : operations[op].plain);
		fn(ctx, &n);
	}
}

struct wanted {
	const char *name;
	struct counter_name *ret;
	bool found;
};

static void look(void *ctx, const struct counter_name *n)
{
	struct wanted *w = ctx;

	if (strcmp(n->name, w->name))
		return;
	*w->ret = *n;
	w->ret->name = w->ret->kernel = w->name;
	w->found = true;
}

bool counter_name_find(const char *name, struct counter_name *ret)
{
	const struct counter_name *const tables[] = { counter_aliases, counter_kernel_names };
	struct wanted w = { .name = name, .ret = ret };

	for (size_t i = 0; i < COUNT(tables); i++) {
		for (const struct counter_name *n = tables[i]; n->name; n++) {
			if (strcmp(n->name, name))
				continue;
			*ret = *n;
			return true;
		}
	}
	counter_cache_names(look, &w);
	return w.found;
}
