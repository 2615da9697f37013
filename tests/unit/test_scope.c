/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which experiments are recordings of the whole system. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/experiment/experiment.h"
#include "tests/fixtures/tempdir.h"

#define RUN "<event kind=\"run\" tstamp=\"1.0\"/>"
#define PROFILE(states, file, more) \
	"<profile name=\"profile\" numstates=\"" states "\"><profdata fname=\"" file "\"/>" \
	"<profpckt kind=\"8\"/>" more "</profile>" RUN

static const struct {
	const char *log, *recorder; /* NULL: no recorder.xml */
	bool system_wide;
} cases[] = {
	{ RUN, NULL, false },
	{ "<collector>er_kernel 0.1.0</collector>" RUN, NULL, false },
	{ RUN, "<recorder version=\"0\"/>", true },
	{ RUN, "<recorder scope=\"system\"/>", true },
	{ RUN, "<recorder scope=\"process\"/>", false },
	{ PROFILE("3", "profile", ""), NULL, true },
	{ PROFILE("10", "profile", ""), NULL, false },
	{ PROFILE("10", "profile", "<profpckt kind=\"65\"/>"), NULL, false },
	{ PROFILE("10", "data.frameinfo", ""), NULL, true },
};

static void write_text(const char *dir, const char *file, const char *text)
{
	tempdir_write(dir, file, text, strlen(text));
}

static void test_scope(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *dir = tempdir_new();
		__cleanup(freep) char *path = xasprintf("%s/f.1.er", dir);
		struct experiment *e;

		assert_int_equal(mkdir(path, 0700), 0);
		write_text(path, "log.xml", cases[i].log);
		if (cases[i].recorder)
			write_text(path, "recorder.xml", cases[i].recorder);
		e = experiment_open(path, NULL);
		assert_non_null(e);
		assert_int_equal(e->system_wide, cases[i].system_wide);
		assert_int_equal(e->many_processes, cases[i].system_wide);
		experiment_close(e);
		tempdir_remove(dir);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_scope) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
