/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"

enum { CPUS_MAX = 65536 };

static int add_range(struct cpu_list *l, unsigned long first, unsigned long last)
{
	if (first > last || last >= CPUS_MAX || l->n + (last - first) >= CPUS_MAX)
		return -EINVAL;
	l->cpus = xrealloc_array(l->cpus, l->n + last - first + 1, sizeof(*l->cpus));
	for (unsigned long cpu = first; cpu <= last; cpu++)
		l->cpus[l->n++] = cpu;
	return 0;
}

static int parse(const char *s, struct cpu_list *l)
{
	do {
		char *end;
		unsigned long first = strtoul(s, &end, 10), last = first;

		if (end == s)
			return -EINVAL;
		if (*end == '-') {
			s = end + 1;
			last = strtoul(s, &end, 10);
			if (end == s)
				return -EINVAL;
		}
		if (add_range(l, first, last))
			return -EINVAL;
		s = end;
	} while (*s++ == ',');
	return s[-1] == '\n' || s[-1] == '\0' ? 0 : -EINVAL;
}

int cpus_parse(const char *text, struct cpu_list *ret)
{
	int err;

	*ret = (struct cpu_list){ 0 };
	err = parse(text, ret);
	if (err)
		cpus_free(ret);
	return err;
}

static int read_list(const char *path, struct cpu_list *ret)
{
	__cleanup(fclosep) FILE *f = fopen(path, "re");
	char line[4096];

	*ret = (struct cpu_list){ 0 };
	if (!f)
		return -errno;
	if (!fgets(line, sizeof(line), f))
		return -EIO;
	return cpus_parse(line, ret);
}

int cpus_online(struct cpu_list *ret)
{
	return read_list("/sys/devices/system/cpu/online", ret);
}

int cpus_present(struct cpu_list *ret)
{
	return read_list("/sys/devices/system/cpu/present", ret);
}

unsigned cpus_hotplug_step(const char *name)
{
	__cleanup(fclosep) FILE *f = fopen("/sys/devices/system/cpu/hotplug/states", "re");
	char found[64];
	unsigned step;

	while (f && fscanf(f, "%u: %63[^\n]\n", &step, found) == 2)
		if (!strcmp(found, name))
			return step;
	return 0;
}

void cpus_free(struct cpu_list *l)
{
	free(l->cpus);
	*l = (struct cpu_list){ 0 };
}
