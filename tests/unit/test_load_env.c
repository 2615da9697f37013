/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The environment that er_kernel --jit gives to its load. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "user/record/load_env.h"

#define NODE "--perf-basic-prof --interpreted-frames-native-stack"

static void test_unset(void **state)
{
	unsetenv("NODE_OPTIONS");
	unsetenv("PYTHONPERFSUPPORT");
	assert_int_equal(load_env_jit(), 0);
	assert_string_equal(getenv("NODE_OPTIONS"), NODE);
	assert_null(getenv("PYTHONPERFSUPPORT")); /* it would cut Python's stacks */
}

/* The user's options come last, so they win. */
static void test_users_own(void **state)
{
	setenv("NODE_OPTIONS", "--no-warnings", 1);
	setenv("JAVA_TOOL_OPTIONS", "-XX:-DumpPerfMapAtExit", 1);
	assert_int_equal(load_env_jit(), 0);
	assert_string_equal(getenv("NODE_OPTIONS"), NODE " --no-warnings");
	assert_string_equal(getenv("JAVA_TOOL_OPTIONS"),
			    "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer "
			    "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit "
			    "-XX:-DumpPerfMapAtExit");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unset),
		cmocka_unit_test(test_users_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
