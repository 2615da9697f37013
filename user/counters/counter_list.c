/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the list of er_kernel -h: the available counters, found by trying each. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "user/counters/counter_names.h"
#include "user/counters/pmu.h"

struct listing {
	FILE *out;
	const char *units;
	counter_try_fn try;
	int n;       /* printed under this headline */
	int denied;  /* the error of counters that may not be tried; 0: none */
};

/* Sets *note to the text after the unit, usually "". */
static bool available(struct listing *l, const struct capture_counter *c, const char **note)
{
	bool precise = c->type != PERF_TYPE_SOFTWARE; /* software events are always exact */
	int err = l->try(c, precise ? &precise : NULL);

	*note = precise && !err ? ", precise" : "";
	if (err == -EACCES || err == -EPERM)
		l->denied = -err;
	return !err || err == -EACCES || err == -EPERM;
}

static struct capture_counter event_of(const struct counter_name *n)
{
	return (struct capture_counter){ .name = n->name, .type = n->type, .config = n->config,
					 .interval = n->interval };
}

static void print_alias(struct listing *l, const struct counter_name *n)
{
	struct capture_counter c = event_of(n);
	const char *note;

	if (!available(l, &c, &note))
		return;
	fprintf(l->out, "  %s,%llu ('%s', alias for %s; %s%s)\n", n->name,
		(unsigned long long)n->interval, n->label, n->kernel, n->words, note);
	l->n++;
}

static void print_raw(void *ctx, const struct counter_name *n)
{
	struct capture_counter c = event_of(n);
	struct listing *l = ctx;
	const char *note;

	if (!available(l, &c, &note))
		return;
	fprintf(l->out, "  %s,%llu (%s%s)\n", n->name, (unsigned long long)n->interval, n->words, note);
	l->n++;
}

static void print_event(void *ctx, const char *unit, const char *event)
{
	struct capture_counter c = { .name = event, .interval = COUNTER_RAW_INTERVAL };
	struct listing *l = ctx;
	const char *note;

	if (pmu_event(l->units, unit, event, &c) || !available(l, &c, &note))
		return;
	fprintf(l->out, "  %s/%s/,%d (events%s)\n", unit, event, COUNTER_RAW_INTERVAL, note);
	l->n++;
}

static void print_none(struct listing *l)
{
	if (!l->n)
		fputs("  none\n", l->out);
	l->n = 0;
}

void counters_print(FILE *out, const char *units, counter_try_fn try)
{
	struct listing l = { .out = out, .units = units, .try = try };
	const struct capture_counter cycles = { .type = PERF_TYPE_HARDWARE,
						.config = PERF_COUNT_HW_CPU_CYCLES,
						.interval = COUNTER_RAW_INTERVAL };

	fputs("Counters for -h:\n"
	      "  -h [+]name[~attribute=value]...[,interval][,name...]\n"
	      "  intervals: on (as listed), hi (a tenth), lo (ten times), or a number of events\n"
	      "  attributes: user=0, system=0, and what the unit's format in sysfs lists\n\n"
	      "Well-known counters:\n", out);
	for (const struct counter_name *n = counter_aliases; n->name; n++)
		print_alias(&l, n);
	print_none(&l);
	fputs("\nRaw counters, whose default interval is not ideal; numbers are taken, too:\n", out);
	for (const struct counter_name *n = counter_kernel_names; n->name; n++)
		print_raw(&l, n);
	counter_cache_names(print_raw, &l);
	pmu_events(units, print_event, &l);
	print_none(&l);
	if (l.denied)
		fprintf(out, "\nNot tried: access is denied (%s): run as root to list them.\n",
			strerror(l.denied));
	else if (try(&cycles, NULL))
		fprintf(out, "\nHardware counters: not available: %s: needs a machine, or a virtual machine, "
			     "with a performance counter unit.\n", strerror(-try(&cycles, NULL)));
}
