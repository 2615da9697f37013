/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/way.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/alloc.h"

/* The compiler may have made a variant of it, with its dot and letters behind the name. */
const char *way_finish_symbol(char *ret, size_t size)
{
	static const char name[] = "finish_task_switch";
	__cleanup(fclosep) FILE *f = fopen("/proc/kallsyms", "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		char *at = strstr(line, name);
		size_t len;

		if (!at || at == line || at[-1] != ' ' || strchr(at, '\t') || !strchr("\n.", at[sizeof(name) - 1]) ||
		    strstr(at, ".cold"))
			continue;
		len = strcspn(at, "\n");
		if (len >= size)
			return NULL;
		memcpy(ret, at, len);
		ret[len] = '\0';
		return ret;
	}
	return NULL;
}

static bool can_finish(void)
{
	char symbol[64];

	return !access("/sys/bus/event_source/devices/kprobe/type", R_OK) &&
	       way_finish_symbol(symbol, sizeof(symbol));
}

bool way_allowed(enum capture_way way, bool can_exit)
{
	switch (way) {
	case WAY_EXIT:
		return can_exit;
	case WAY_FINISH:
		return can_finish();
	default:
		return true;
	}
}

enum capture_way way_choose(const struct capture_plan *plan, bool can_exit)
{
	if (!plan->states)
		return WAY_NONE;
	if (plan->way != WAY_BEST)
		return plan->way;
	for (enum capture_way way = WAY_EXIT; way < WAY_LEAVE; way++)
		if (way_allowed(way, can_exit))
			return way;
	return WAY_LEAVE;
}
