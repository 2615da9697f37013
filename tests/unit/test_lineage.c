/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "user/space/procmap.h"

enum { PID = 5000000, CHILD = 5001000 }; /* above all process IDs */

static struct procmap *fresh(void)
{
	return procmap_new(&(struct procmap_hooks){ 0 });
}

static void tell(struct procmap *pm, enum proc_event_kind kind, uint64_t t, pid_t pid, pid_t ppid,
		 const char *name)
{
	procmap_apply(pm, &(struct proc_event){ .kind = kind, .time_ns = t, .pid = pid, .tid = pid,
						.ppid = ppid, .name = name });
}

/* The founder is what the followed process executes first. */
static void test_lineage(void **state)
{
	struct procmap *pm = fresh();

	tell(pm, PROC_FORK, 100, PID, 1, NULL);
	assert_true(procmap_follow(pm, PID, true));
	assert_false(procmap_follow(pm, CHILD, true));
	tell(pm, PROC_EXEC, 200, PID, 0, "sh");
	assert_null(procmap_image(pm, PID, 99, 150)->lineage);
	assert_string_equal(procmap_image(pm, PID, 99, 250)->lineage, "");
	for (int n = 0; n < 3; n++)
		tell(pm, PROC_FORK, 300 + n, CHILD + n, PID, NULL);
	tell(pm, PROC_EXEC, 400, CHILD + 2, 0, "popen");
	tell(pm, PROC_FORK, 500, CHILD + 3, CHILD + 2, NULL);
	tell(pm, PROC_EXEC, 600, PID, 0, "other");
	assert_string_equal(procmap_image(pm, CHILD, 299, 700)->lineage, "_f1");
	assert_string_equal(procmap_image(pm, CHILD + 2, 301, 350)->lineage, "_f3");
	assert_string_equal(procmap_image(pm, CHILD + 2, 301, 700)->lineage, "_f3_x1");
	assert_string_equal(procmap_image(pm, CHILD + 3, 499, 700)->lineage, "_f3_x1_f1");
	assert_string_equal(procmap_image(pm, PID, 99, 700)->lineage, "_x1");
	tell(pm, PROC_FORK, 800, CHILD + 9, 1, NULL);
	assert_null(procmap_image(pm, CHILD + 9, 799, 900)->lineage);
	procmap_free(pm);
}

static void test_long_lineages_are_left_out(void **state)
{
	struct procmap *pm = fresh();
	const char *last = "";
	int n;

	tell(pm, PROC_FORK, 100, PID, 1, NULL);
	procmap_follow(pm, PID, false);
	for (n = 1; n < 200 && last; n++) {
		tell(pm, PROC_FORK, 100 + n, PID + n, PID + n - 1, NULL);
		last = procmap_image(pm, PID + n, 99 + n, 1000)->lineage;
	}
	assert_in_range(n, 70, 90); /* each adds three characters, of 240 */
	procmap_free(pm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lineage),
		cmocka_unit_test(test_long_lineages_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
