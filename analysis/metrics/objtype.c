/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/objtype.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/diag.h"
#include "analysis/metrics/filter.h"

/*
 * Addresses below 256 are not addresses: counters put small numbers there when the
 * address is unknown.
 */
#define VIRTUAL(bits)  "VADDR>255?(VADDR>>" #bits "<<" #bits "):-1"
#define PHYSICAL(bits) "PADDR>0?(PADDR>>" #bits "<<" #bits "):-1"

static const struct objtype builtins[] = {
	{ OBJ_INDEX, "Threads", "(PID<<32)|TID", true },
	{ OBJ_INDEX, "Processes", "PID", true },
	{ OBJ_INDEX, "Goroutines", "GOID", true },
	{ OBJ_INDEX, "CPUs", "CPUID", true },
	{ OBJ_INDEX, "Samples", "SAMPLE", true },
	{ OBJ_INDEX, "Seconds", "TSTAMP/1000000000", true },
	{ OBJ_INDEX, "Experiment_IDs", "EXPID", true },
	{ OBJ_INDEX, "Datasize", "DATASIZE", true },
	{ OBJ_INDEX, "Duration", "DURATION", true },
	{ OBJ_INDEX, "States", "STATE", true },
	{ OBJ_INDEX, "Reasons", "REASON", true },
	{ OBJ_INDEX, "Comms", "COMM", true },
	{ OBJ_INDEX, "Cgroups", "CGROUP", true },
	{ OBJ_MEMORY, "Vline_64B", VIRTUAL(6), true },
	{ OBJ_MEMORY, "Vpage_8K", VIRTUAL(13), true },
	{ OBJ_MEMORY, "Vpage_64K", VIRTUAL(16), true },
	{ OBJ_MEMORY, "Vpage_512K", VIRTUAL(19), true },
	{ OBJ_MEMORY, "Vpage_4M", VIRTUAL(22), true },
	{ OBJ_MEMORY, "Pline_64B", PHYSICAL(6), true },
	{ OBJ_MEMORY, "Ppage_8K", PHYSICAL(13), true },
	{ OBJ_MEMORY, "Ppage_64K", PHYSICAL(16), true },
	{ OBJ_MEMORY, "Ppage_512K", PHYSICAL(19), true },
	{ OBJ_MEMORY, "Ppage_4M", PHYSICAL(22), true },
};

void objtypes_init(struct objtypes *t)
{
	*t = (struct objtypes){ 0 };
	for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++)
		vec_push(&t->all, builtins[i]);
}

void objtypes_free(struct objtypes *t)
{
	vec_for_each(o, &t->all) {
		if (o->builtin)
			continue;
		free((char *)o->name);
		free((char *)o->text);
	}
	vec_free(&t->all);
}

const struct objtype *objtype_find(const struct objtypes *types, const char *name)
{
	for (size_t i = 0; types && i < types->all.len; i++) {
		if (!strcasecmp(types->all.data[i].name, name))
			return &types->all.data[i];
	}
	return NULL;
}

const char *objkind_name(enum objkind kind)
{
	return kind == OBJ_MEMORY ? "memory object" : "index object";
}

static bool is_name(const char *s)
{
	if (!isalpha((unsigned char)*s))
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return !*s;
}

int objtype_define(struct objtypes *types, struct session *s, enum objkind kind,
		   const char *name, const char *text, struct diag *d)
{
	struct filter *f;

	if (!is_name(name))
		return diag_error(
			d,
			"%s type '%s': a name is letters, digits and _, and begins with a "
			"letter",
			objkind_name(kind), name);
	if (objtype_find(types, name))
		return diag_error(d, "%s type '%s': is already defined; choose another name",
				  objkind_name(kind), name);
	f = filter_parse_index(s, types, text, d);
	if (!f)
		return -1;
	filter_free(f);
	vec_push(&types->all, (struct objtype){ .kind = kind, .name = xstrdup(name),
						.text = xstrdup(text) });
	return 0;
}
