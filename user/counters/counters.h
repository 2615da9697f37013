/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses definitions of counters. The argument of -h becomes the kernel's event and the text that
 * the experiment shows. The grammar is that of collect:
 *
 *	definition[,interval][,definition[,interval]]...
 *	definition = [+]name[~attribute=value]...[/register]
 *
 * A name is one of these: an alias or a kernel name (counter_names.h); an event of a unit in sysfs
 * (pmu.h), written EVENT or UNIT/EVENT/; a number, which is the CPU's own code of the event. + asks
 * for the exact instruction and for the address of its data. A
 * number after a definition is its interval. To use a numeric name there, write an interval
 * before it, which may be empty. The kernel chooses the register: a named register is accepted,
 * with a warning.
 */
#ifndef USER_COUNTERS_H
#define USER_COUNTERS_H

#include <stdio.h>

#include "analysis/base/vec.h"
#include "loaders/capture.h"

struct diag;

enum counter_unit { COUNTER_EVENTS, COUNTER_CYCLES };

/*
 * In an experiment a counter has two metrics, each with its own tag: NAME counts events in user
 * mode, K_NAME events in kernel mode.
 */
enum counter_mode { COUNTER_USER, COUNTER_KERNEL, COUNTER_MODES };

struct counter_metric {
	char *name;     /* in metric lists; NULL: this mode is not counted */
	char *int_name; /* the event in the kernel's words, with attributes */
	char *label;    /* "CPU Cycles" */
};

struct counter {
	char *name; /* as written, without attributes of the mode; event.name is the same */
	struct counter_metric metrics[COUNTER_MODES];
	enum counter_unit unit;
	int reg;    /* the register that was asked for; -1: none */
	struct capture_counter event;
};

static inline int counter_tag(size_t place, enum counter_mode mode)
{
	return COUNTER_MODES * place + mode;
}

typedef VEC(struct counter) counter_list;

#define COUNTER_UNITS "/sys/bus/event_source/devices"

enum {
	COUNTER_RAW_INTERVAL = 1000003, /* for counters of unknown frequency */
	COUNTER_MAX_INTERVAL = INT32_MAX, /* readers take it for an int */
};

/*
 * Parse spec and append its counters. Returns 0, or -1 after one sentence with the remedy. `units`
 * is the directory of units: COUNTER_UNITS, or a test's.
 */
int counters_parse(const char *spec, const char *units, struct diag *d, counter_list *l);
void counters_free(counter_list *l);
/* Of all counters only events in user mode are counted, and there is no metric for the others. */
void counters_user_only(counter_list *l);

/* The smallest prime >= n. A prime interval does not fall in step with the program's loops. */
uint64_t counter_prime(uint64_t n);

/*
 * Print the counters that work on this machine: each is tried. Well-known counters come first,
 * then the others, or why there are none. `try` is capture_try_counter, or a test's.
 */
typedef int (*counter_try_fn)(const struct capture_counter *c, bool *precise);
void counters_print(FILE *out, const char *units, counter_try_fn try);

#endif
