/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/load_env.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"

/*
 * Java writes its map when it ends (17 and later); older versions ignore the options that they do not
 * know. Its compiled code has frame pointers only if it is asked. Python is not asked: its perf maps name
 * a stub for each function, which has no unwind information, so stacks would end at the first one.
 */
static const struct addition {
	const char *variable, *value; /* a list of options: the user's own are appended */
} additions[] = {
	{ "NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack" },
	{ "JAVA_TOOL_OPTIONS", "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer "
			       "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit" },
};

static int add(const struct addition *a)
{
	const char *own = getenv(a->variable);
	__cleanup(freep) char *both = NULL;

	if (own && *own)
		both = xasprintf("%s %s", a->value, own);
	return setenv(a->variable, both ? both : a->value, 1) ? -errno : 0;
}

int load_env_jit(void)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(additions) / sizeof(additions[0]) && !err; i++)
		err = add(&additions[i]);
	return err;
}
