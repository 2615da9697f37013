/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The status file: its text, and how it is replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "user/record/statusfile.h"

#define SEC 1000000000ULL

static const struct status some = {
	.pid = 12, .experiment = "/a \"b\"\\\n.er", .elapsed_ns = 5 * SEC / 2, .bytes = 1500,
	.cpu_ns = SEC / 4, .nprocesses = 3, .left_out = "nothing", .shedding = 2,
	.counts = { .of = { [ER_KIND_CLOCK] = { .wanted = true, .recorded = 7, .lost = 2 },
			    [ER_KIND_WAIT] = { .recorded = 9 } } },
};

static bool has_line(const char *text, const char *line)
{
	const char *at = text;

	while ((at = strstr(at, line))) {
		if ((at == text || at[-1] == '\n') && at[strlen(line)] == '\n')
			return true;
		at++;
	}
	return false;
}

static void test_text(void **state)
{
	struct buf b = { 0 };

	statusfile_format(&some, true, &b);
	assert_true(has_line(b.data, "er_kernel_info{version=\"" ER_VERSION "\",pid=\"12\","
				     "experiment=\"/a \\\"b\\\"\\\\\\n.er\"} 1"));
	assert_true(has_line(b.data, "er_kernel_running 1"));
	assert_true(has_line(b.data, "er_kernel_elapsed_seconds_total 2.500000000"));
	assert_true(has_line(b.data, "er_kernel_records_total{kind=\"sample\"} 7"));
	assert_true(has_line(b.data, "er_kernel_lost_total{kind=\"sample\"} 2"));
	assert_null(strstr(b.data, "wait")); /* not recorded */
	assert_true(has_line(b.data, "er_kernel_shedding_level 2"));
	assert_true(has_line(b.data, "er_kernel_cpu_seconds_total 0.250000000"));
	assert_true(has_line(b.data, "# TYPE er_kernel_lost_total counter"));
	buf_free(&b);
}

static void test_flight(void **state)
{
	const struct status s = { .pid = 12, .left_out = "nothing",
				  .flight = { .wanted_ns = 60 * SEC, .dumps = "/tmp/a.N", .ndumps = 2 } };
	struct buf b = { 0 };

	statusfile_format(&s, false, &b);
	assert_true(has_line(b.data, "er_kernel_info{version=\"" ER_VERSION "\",pid=\"12\","
				     "dumps=\"/tmp/a.N\"} 1"));
	assert_true(has_line(b.data, "er_kernel_running 0"));
	assert_true(has_line(b.data, "er_kernel_dumps_total 2"));
	buf_free(&b);
}

/* A link is replaced, not followed; the file is whole and readable, and nothing else is left. */
static void test_replaces(void **state)
{
	char dir[] = "/tmp/test_statusfile.XXXXXX", path[64], target[64];
	struct statusfile *f;
	struct diag d = { 0 };
	struct stat st;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/er.prom", dir);
	snprintf(target, sizeof(target), "%s/target", dir);
	assert_int_equal(symlink(target, path), 0);
	f = statusfile_open(path, &d);
	assert_non_null(f);
	statusfile_write(f, &some, true, &d);
	statusfile_write(f, &some, false, &d);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(access(target, F_OK), -1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0); /* it is empty */
	statusfile_write(f, &some, true, &d);
	statusfile_write(f, &some, true, &d);
	assert_int_equal(d.nwarnings, 1);
	statusfile_close(f);
	diag_free(&d);
}

/* Root's /dev/null would become a file. */
static void test_replaces_only_files(void **state)
{
	char dir[] = "/tmp/test_statusfile.XXXXXX", path[64];
	struct diag d = { 0 };

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/er.prom", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_null(statusfile_open(path, &d));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_null(statusfile_open(path, &d));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_null(statusfile_open(path, &d));
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/", dir);
	assert_null(statusfile_open(path, &d));
	assert_int_equal(d.nerrors, 4);
	assert_int_equal(rmdir(dir), 0);
	diag_free(&d);
}

static void test_no_directory(void **state)
{
	struct diag d = { 0 };

	assert_null(statusfile_open("/proc/nowhere/er.prom", &d));
	assert_int_equal(d.nerrors, 1);
	diag_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_flight),
		cmocka_unit_test(test_replaces),
		cmocka_unit_test(test_replaces_only_files),
		cmocka_unit_test(test_no_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
