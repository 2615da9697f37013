/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of a process's memory, by the opener and without it. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/diag.h"
#include "loaders/privilege.h"
#include "user/space/memory.h"
#include "user/space/opener.h"

static struct memory_unit units[3];

/* Returns what opener_memory does; what it has copied is in `units`. */
static int copy(pid_t pid, const uint64_t *addresses, size_t n)
{
	int fd = memfd_create("test", MFD_CLOEXEC), err;

	assert_int_equal(pwrite(fd, "head", 4, 0), 4);
	assert_int_equal(memory_want(fd, 4, addresses, n), 0);
	err = opener_memory(pid, fd, 4, n);
	assert_int_equal(pread(fd, units, n * sizeof(*units), 4), n * sizeof(*units));
	close(fd);
	return err;
}

static void check(void)
{
	uint8_t *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t wanted[] = { (uintptr_t)two + 4096 - MEMORY_UNIT, (uintptr_t)two + 4096,
				    (uintptr_t)two + 1 };
	pid_t child;

	memset(two, 7, 8192);
	munmap(two + 4096, 4096);
	child = fork();
	if (!child) {
		alarm(60);
		pause();
		_exit(0);
	}
	memset(two, 8, 4096);
	assert_int_equal(copy(child, wanted, 3), 0);
	assert_int_equal(units[0].state, MEMORY_READ);
	assert_int_equal(units[0].bytes[0], 7);
	assert_int_equal(units[0].bytes[MEMORY_UNIT - 1], 7);
	assert_int_equal(units[1].state, MEMORY_UNREADABLE);
	assert_int_equal(units[2].state, MEMORY_UNREADABLE); /* not a unit's address */
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(copy(child, wanted, 3) < 0);
	assert_int_equal(units[0].state, MEMORY_WANTED);
	munmap(two, 4096);
}

static void test_here(void **state)
{
	check();
}

static void test_by_the_opener(void **state)
{
	struct diag d = { 0 };

	assert_int_equal(privilege_begin(&d), 0);
	assert_int_equal(opener_start(&d), 0);
	check();
	opener_stop();
	diag_free(&d);
}

static void test_bounds(void **state)
{
	static const uint64_t wanted[MEMORY_UNITS_MAX + 1];

	assert_int_equal(memory_want(-1, 0, wanted, MEMORY_UNITS_MAX + 1), -EINVAL);
	assert_int_equal(memory_want(-1, 0, wanted, 0), -EINVAL);
	assert_int_equal(memory_copy_here(getpid(), -1, 0, MEMORY_UNITS_MAX + 1), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_here),
		cmocka_unit_test(test_by_the_opener),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
