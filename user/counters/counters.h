/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Definitions of counters: from what the user writes behind -h to what the kernel is asked
 * for and the experiment says. The grammar is that of collect:
 *
 *	definition[,interval][,definition[,interval]]...
 *	definition = [+]name[~attribute=value]...[/register]
 *
 * A name is an alias or a name of the kernel's (counter_names.h), an event of a unit in sysfs
 * (pmu.h), as EVENT or UNIT/EVENT/, or a number: the CPU's own code of the event. Behind a
 * definition a number is its interval; a numeric name there follows an interval, even an
 * empty one. Which register counts is the kernel's business: one that is named is
 * accepted, with a warning.
 */
#ifndef USER_COUNTERS_H
#define USER_COUNTERS_H

#include <stdio.h>

#include "analysis/base/vec.h"
#include "loaders/capture.h"

struct diag;

enum counter_unit { COUNTER_EVENTS, COUNTER_CYCLES };

/*
 * In an experiment a counter is two metrics: NAME of what happens in user mode, and K_NAME in
 * kernel mode, each with a tag of its own.
 */
enum counter_mode { COUNTER_USER, COUNTER_KERNEL, COUNTER_MODES };

struct counter_metric {
	char *name;     /* what metric lists call it; NULL: that mode is not counted */
	char *int_name; /* what is counted, in the kernel's words, with attributes */
	char *label;    /* "CPU Cycles" */
};

struct counter {
	char *name; /* as it was written, without attributes of the mode; event.name is the same */
	struct counter_metric metrics[COUNTER_MODES];
	enum counter_unit unit;
	int reg;    /* that was asked for, -1 none */
	struct capture_counter event;
};

static inline int counter_tag(size_t place, enum counter_mode mode)
{
	return COUNTER_MODES * place + mode;
}

typedef VEC(struct counter) counter_list;

#define COUNTER_UNITS "/sys/bus/event_source/devices"

enum {
	COUNTER_RAW_INTERVAL = 1000003, /* of counters of which nobody knows how often they count */
	COUNTER_MAX_INTERVAL = INT32_MAX, /* readers take it for an int */
};

/*
 * Append those of a spec. 0, or -1 after one sentence with the remedy. `units` is the
 * directory of units: COUNTER_UNITS, or that of a test.
 */
int counters_parse(const char *spec, const char *units, struct diag *d, counter_list *l);
void counters_free(counter_list *l);

/* The next prime from n on: intervals that do not keep step with what they count. */
uint64_t counter_prime(uint64_t n);

/*
 * What can be counted here, found out by trying: well-known counters, then the others, or why
 * there are none. `try` is capture_try_counter, or a test's.
 */
typedef int (*counter_try_fn)(const struct capture_counter *c, bool *precise);
void counters_print(FILE *out, const char *units, counter_try_fn try);

#endif
