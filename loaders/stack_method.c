/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/stack_method.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/alloc.h"

/* The compiler may have made a variant, whose name has a dot and a suffix. */
const char *stack_method_finish_symbol(char *ret, size_t size)
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
	       stack_method_finish_symbol(symbol, sizeof(symbol));
}

bool stack_method_allowed(enum stack_method method, bool can_exit)
{
	switch (method) {
	case STACKS_EXIT:
		return can_exit;
	case STACKS_FINISH:
		return can_finish();
	default:
		return true;
	}
}

enum stack_method stack_method_choose(const struct capture_plan *plan, bool can_exit)
{
	if (!plan->states)
		return STACKS_NONE;
	if (plan->stack_method != STACKS_BEST)
		return plan->stack_method;
	for (enum stack_method method = STACKS_EXIT; method < STACKS_LEAVE; method++)
		if (stack_method_allowed(method, can_exit))
			return method;
	return STACKS_LEAVE;
}
