/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Usage of the system, compared with what this process does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "analysis/experiment/usage.h"
#include "user/record/usage.h"

enum { PAGES = 4096, PAGE = 4096 };

static void test_counts_go_up(void **state)
{
	struct exp_usage base, u;
	char *p;

	usage_now(&base);
	assert_true(base.user_ns && base.system_ns && base.vctx && base.minflt && base.nthreads);
	p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p != MAP_FAILED);
	madvise(p, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++)
		p[i * PAGE] = 1;
	munmap(p, PAGES * PAGE);
	usage_now(&u);
	usage_since(&u, &base);
	/*
	 * The kernel adds up the CPUs' counts only now and then. Some events may be missing, but
	 * not most.
	 */
	assert_in_range(u.minflt, PAGES / 2, UINT32_MAX);
	assert_true(u.real_ns > 0 && u.create_ns == base.time_ns);
}

static uint64_t vmstat(const char *name)
{
	FILE *f = fopen("/proc/vmstat", "r");
	unsigned long long value, ret = 0;
	char key[64];

	assert_non_null(f);
	while (fscanf(f, "%63s %llu", key, &value) == 2)
		ret = strcmp(key, name) ? ret : value;
	fclose(f);
	return ret;
}

/*
 * The kernel's count of page faults includes major ones; the record's count of minor faults does
 * not.
 */
static void test_faults_are_told_apart(void **state)
{
	uint64_t all = vmstat("pgfault"), major = vmstat("pgmajfault");
	struct exp_usage u;

	usage_now(&u);
	assert_in_range(u.majflt, major, vmstat("pgmajfault"));
	assert_in_range(u.minflt + u.majflt, all, vmstat("pgfault"));
}

static void test_since_never_wraps(void **state)
{
	struct exp_usage base = { .time_ns = 5, .user_ns = 100, .msgrcv = 9, .minflt = 3 };
	struct exp_usage u = { .time_ns = 7, .user_ns = 90, .msgrcv = 10, .minflt = 3 };

	usage_since(&u, &base);
	assert_int_equal(u.user_ns, 0);
	assert_int_equal(u.msgrcv, 1);
	assert_int_equal(u.minflt, 0);
	assert_int_equal(u.real_ns, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_go_up),
		cmocka_unit_test(test_since_never_wraps),
		cmocka_unit_test(test_faults_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
