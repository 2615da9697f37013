/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/returns.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/symbols/symtab.h"
#include "user/probe/match.h"

static const char part[] = "only a part of a function, which is not called";
static const char entered[] = "not entered by a call";
static const char again[] = "a function whose return address is used again later";

/* Names of C libraries, the dynamic linker, compilers' runtimes, and boost's contexts. */
static const struct {
	const char *pattern, *why;
} unsafe[] = {
	{ "*.cold", part },
	{ "*.cold.*", part },
	{ "_start", entered },
	{ "_dl_start_user", entered },
	{ "_dlstart", entered },
	{ "_dl_runtime_resolve*", entered },
	{ "_dl_runtime_profile*", entered },
	{ "__start_context", entered },
	{ "__restore_rt", entered },
	{ "__morestack*", entered },
	{ "*setjmp", again },
	{ "*getcontext", again },
	{ "*swapcontext", again },
	{ "*jump_fcontext", again },
	{ "*ontop_fcontext", again },
};

static const char *why_unsafe(const char *name)
{
	for (size_t i = 0; i < sizeof(unsafe) / sizeof(*unsafe); i++)
		if (match_pattern(unsafe[i].pattern, name))
			return unsafe[i].why;
	return NULL;
}

const char *returns_unsafe(const struct sym *sym)
{
	__cleanup(freep) char *aliases = sym->aliases ? xstrdup(sym->aliases) : NULL;
	const char *why = why_unsafe(sym->name);
	char *save;

	for (char *a = aliases ? strtok_r(aliases, " ", &save) : NULL; a && !why;
	     a = strtok_r(NULL, " ", &save))
		why = why_unsafe(a);
	return why;
}
