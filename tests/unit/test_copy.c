/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of files: holes, limits, interruptions. The test's files have no names. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/base/copy.h"

#define TERABYTE (1LL << 40)

static int nameless(void)
{
	char name[] = "/tmp/test_copy.XXXXXX";
	int fd = mkostemp(name, O_CLOEXEC);

	assert_true(fd >= 0);
	unlink(name);
	return fd;
}

static void put(int fd, const char *text, off_t at)
{
	assert_int_equal(pwrite(fd, text, strlen(text), at), strlen(text));
}

static void check_text(int fd, const char *text, off_t at)
{
	char got[32] = "";

	assert_int_equal(pread(fd, got, strlen(text), at), strlen(text));
	assert_string_equal(got, text);
}

static struct stat state_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st;
}

/* A hole of a terabyte with little data: at both ends and in the middle. */
static int sparse(void)
{
	int fd = nameless();

	put(fd, "begin", 0);
	put(fd, "middle", TERABYTE / 2);
	assert_int_equal(ftruncate(fd, TERABYTE), 0);
	return fd;
}

static void test_holes_stay_holes(void **state)
{
	__cleanup(closep) int in = sparse(), out = nameless();
	uint64_t room = 1 << 20;

	assert_int_equal(fd_copy(in, out, &(struct copy_order){ .room = &room }), 0);
	check_text(out, "begin", 0);
	check_text(out, "middle", TERABYTE / 2);
	assert_int_equal(state_of(out).st_size, TERABYTE);
	assert_true(state_of(out).st_blocks <= state_of(in).st_blocks + 16);
	assert_true(room < 1 << 20);
}

static void test_by_hand(void **state)
{
	__cleanup(closep) int in = nameless(), out = nameless(), shm = -1;
	__cleanup(closep) int proc = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	/*
	 * The kernel may refuse to copy from another file system, and /proc files claim to be
	 * empty.
	 */
	assert_int_equal(fd_copy(proc, out, &(struct copy_order){ 0 }), 0);
	assert_int_equal(state_of(out).st_size, 0);
	shm = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (shm < 0)
		skip();
	put(shm, "first", 0);
	put(shm, "second", 4 << 20);
	assert_int_equal(fd_copy(shm, in, &(struct copy_order){ 0 }), 0);
	check_text(in, "first", 0);
	check_text(in, "second", 4 << 20);
	assert_true(state_of(in).st_blocks * 512 < 1 << 20);
}

static void test_room(void **state)
{
	__cleanup(closep) int in = nameless(), out = nameless(), more = nameless();
	__cleanup(freep) char *text = xcalloc(1, 3 << 20);
	uint64_t room = 3 << 20;

	memset(text, 'x', 3 << 20);
	assert_int_equal(write(in, text, 3 << 20), 3 << 20);
	assert_int_equal(fd_copy(in, out, &(struct copy_order){ .room = &room }), 0);
	assert_int_equal(room, 0);
	room = (3 << 20) - 1;
	assert_int_equal(fd_copy(in, more, &(struct copy_order){ .room = &room }), -EFBIG);
	assert_int_equal(state_of(more).st_size, 0);
	assert_int_equal(room, (3 << 20) - 1);
}

static void test_stop(void **state)
{
	__cleanup(closep) int in = sparse(), out = nameless();
	volatile int stop = 1;

	assert_int_equal(fd_copy(in, out, &(struct copy_order){ .stop = &stop }), -EINTR);
	assert_int_equal(state_of(out).st_size, 0);
}

static void count(void *ctx)
{
	(*(unsigned *)ctx)++;
}

/* The caller of a long copy has other work to do meanwhile. */
static void test_relief(void **state)
{
	__cleanup(closep) int in = nameless(), out = nameless();
	__cleanup(freep) char *text = xcalloc(1, 3 << 20);
	unsigned n = 0;

	memset(text, 'x', 3 << 20);
	assert_int_equal(write(in, text, 3 << 20), 3 << 20);
	assert_int_equal(fd_copy(in, out, &(struct copy_order){ .relief = count, .ctx = &n }), 0);
	assert_true(n >= 12);
	assert_int_equal(state_of(out).st_size, 3 << 20);
}

static void test_where_out_stands(void **state)
{
	__cleanup(closep) int in = nameless(), out = nameless();

	put(in, "copied", 0);
	assert_int_equal(write(out, "before ", 7), 7);
	assert_int_equal(fd_copy(in, out, &(struct copy_order){ 0 }), 0);
	check_text(out, "before copied", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holes_stay_holes), cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_room),		 cmocka_unit_test(test_stop),
		cmocka_unit_test(test_relief),		 cmocka_unit_test(test_where_out_stands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
