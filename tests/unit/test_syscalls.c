/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include <cmocka.h>

#include "analysis/experiment/syscalls.h"

static void test_names(void **state)
{
	assert_string_equal(syscall_name("x86_64", 0), "read");
	assert_string_equal(syscall_name("x86_64", 202), "futex");
	assert_string_equal(syscall_name("x86_64", 423 - 89), "rseq");
	assert_string_equal(syscall_name("aarch64", 63), "read");
	assert_string_equal(syscall_name("riscv64", 98), "futex");
	assert_string_equal(syscall_name("x86_64", 425), "io_uring_setup");
	assert_string_equal(syscall_name("aarch64", 425), "io_uring_setup");
	assert_int_equal(syscall_number("x86_64", "EPOLL_WAIT"), 232);
}

static void test_unknown(void **state)
{
	assert_null(syscall_name("x86_64", -1));
	assert_null(syscall_name("x86_64", 400));
	assert_null(syscall_name("x86_64", INT64_MAX));
	assert_null(syscall_name("s390x", 1));
	assert_int_equal(syscall_number("x86_64", "no_such_call"), -1);
	assert_int_equal(syscall_number("", "read"), -1);
}

/* The headers of this machine must agree. */
static void test_this_machine(void **state)
{
	struct utsname u;

	assert_int_equal(uname(&u), 0);
	if (!syscall_name(u.machine, 425))
		skip();
	assert_int_equal(syscall_number(u.machine, "read"), SYS_read);
	assert_int_equal(syscall_number(u.machine, "ppoll"), SYS_ppoll);
	assert_int_equal(syscall_number(u.machine, "nanosleep"), SYS_nanosleep);
	assert_int_equal(syscall_number(u.machine, "exit_group"), SYS_exit_group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
