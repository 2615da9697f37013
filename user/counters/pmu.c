/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/counters/pmu.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"

enum { LINE = 512, MAX_BIT = 63 };

/* Read the first line of a file of a unit. False if there is no such file. */
static bool read_line(const char *units, const char *unit, const char *sub, const char *name,
		      char line[LINE])
{
	__cleanup(freep) char *path = xasprintf("%s/%s/%s/%s", units, unit, sub, name);
	__cleanup(fclosep) FILE *f = strchr(name, '/') || *name == '.' ? NULL : fopen(path, "re");

	if (!f || !fgets(line, LINE, f))
		return false;
	line[strcspn(line, "\n")] = 0;
	return true;
}

/* The unit of the CPUs: "cpu". On machines with several kinds of CPUs: the unit of the big ones. */
static const char *cpu_unit(const char *units)
{
	__cleanup(freep) char *path = xasprintf("%s/cpu/type", units);
	__cleanup(fclosep) FILE *f = fopen(path, "re");

	return f ? "cpu" : "cpu_core";
}

/* --- terms --- */

/* Spread the low bits of a value over ranges such as "0-7,21". */
static bool deposit(const char *ranges, uint64_t value, uint64_t *field)
{
	for (const char *s = ranges;; s++) {
		char *end;
		unsigned long first = strtoul(s, &end, 10), last = first;

		if (end == s)
			return false;
		if (*end == '-') {
			s = end + 1;
			last = strtoul(s, &end, 10);
			if (end == s)
				return false;
		}
		if (first > last || last > MAX_BIT)
			return false;
		for (unsigned long bit = first; bit <= last; bit++, value >>= 1) {
			*field &= ~(1ULL << bit);
			*field |= (value & 1) << bit;
		}
		s = end;
		if (*s != ',')
			return !*s && !value; /* false: the value has too many bits */
	}
}

static uint64_t *field_of(struct capture_counter *c, const char *format, const char **ranges)
{
	const struct {
		const char *name;
		uint64_t *field;
	} fields[] = { { "config:", &c->config }, { "config1:", &c->config1 },
		       { "config2:", &c->config2 } };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		size_t n = strlen(fields[i].name);

		*ranges = format + n;
		if (!strncmp(format, fields[i].name, n))
			return fields[i].field;
	}
	return NULL;
}

enum pmu_status pmu_term(const char *units, const char *unit, const char *term, uint64_t value,
			 struct capture_counter *c)
{
	char format[LINE];
	const char *ranges;
	uint64_t *field;

	if (!strcmp(term, "config")) {
		c->config = value;
		return PMU_OK;
	}
	if (!read_line(units, unit ? unit : cpu_unit(units), "format", term, format))
		return PMU_NO_TERM;
	field = field_of(c, format, &ranges);
	return field && deposit(ranges, value, field) ? PMU_OK : PMU_BAD;
}

/* Parse "event=0x3c,umask=0x01,edge"; a term without a value is 1. */
static enum pmu_status apply(const char *units, const char *unit, char *terms,
			     struct capture_counter *c)
{
	char *rest = terms, *term;

	while ((term = strsep(&rest, ","))) {
		char *text = strchr(term, '='), *end = NULL;
		enum pmu_status status;
		uint64_t value = 1;

		if (text) {
			*text++ = 0;
			value = strtoull(text, &end, 0);
			if (end == text || *end)
				return PMU_BAD;
		}
		status = pmu_term(units, unit, term, value, c);
		if (status)
			return PMU_BAD;
	}
	return PMU_OK;
}

/* --- events --- */

static bool is_unit_name(const char *unit)
{
	return *unit && *unit != '.' && !strchr(unit, '/');
}

static enum pmu_status event_of(const char *units, const char *unit, const char *event,
				struct capture_counter *c)
{
	char line[LINE], *end;
	unsigned long type;

	if (!is_unit_name(unit) || !read_line(units, unit, ".", "type", line))
		return PMU_NO_UNIT;
	type = strtoul(line, &end, 10);
	if (end == line || *end)
		return PMU_BAD;
	if (!read_line(units, unit, "events", event, line))
		return PMU_NO_EVENT;
	c->type = type;
	return apply(units, unit, line, c);
}

static int is_entry(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void free_names(struct dirent **names, int n)
{
	for (int i = 0; i < n; i++)
		free(names[i]);
	if (n >= 0)
		free(names);
}

enum pmu_status pmu_event(const char *units, const char *unit, const char *event,
			  struct capture_counter *c)
{
	enum pmu_status status = event_of(units, unit ? unit : cpu_unit(units), event, c);
	struct dirent **names;
	int n;

	if (unit || (status != PMU_NO_UNIT && status != PMU_NO_EVENT))
		return status;
	n = scandir(units, &names, is_entry, alphasort);
	status = PMU_NO_EVENT;
	for (int i = 0; i < n && status == PMU_NO_EVENT; i++) {
		status = event_of(units, names[i]->d_name, event, c);
		if (status == PMU_NO_UNIT)
			status = PMU_NO_EVENT;
	}
	free_names(names, n);
	return status;
}

/*
 * The directory also has files with the scale and the unit of an event's counts. They are not
 * events.
 */
static bool is_event(const char *name)
{
	const char *dot = strrchr(name, '.');

	return !dot || (strcmp(dot, ".scale") && strcmp(dot, ".unit") && strcmp(dot, ".per-pkg") &&
			strcmp(dot, ".snapshot"));
}

void pmu_events(const char *units, void (*fn)(void *ctx, const char *unit, const char *event),
		void *ctx)
{
	struct dirent **names;
	int n = scandir(units, &names, is_entry, alphasort);

	for (int i = 0; i < n; i++) {
		__cleanup(freep) char *path = xasprintf("%s/%s/events", units, names[i]->d_name);
		struct dirent **events;
		int nevents = scandir(path, &events, is_entry, alphasort);

		for (int k = 0; k < nevents; k++)
			if (is_event(events[k]->d_name))
				fn(ctx, names[i]->d_name, events[k]->d_name);
		free_names(events, nevents);
	}
	free_names(names, n);
}
