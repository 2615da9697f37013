/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks that are held until their thread has walked again: in either order, in vain, too many. */
#include "user/record/unread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/buf.h"
#include "user/record/stacks.h"

#define SECOND UINT64_C(1000000000)

enum { MANY = 200000 };

struct bench {
	struct stacks *stacks;
	struct unread *unread;
};

static int begin(void **state)
{
	static struct bench b;

	b.stacks = stacks_new(NULL);
	b.unread = unread_new(b.stacks);
	*state = &b;
	return 0;
}

static int finish(void **state)
{
	struct bench *b = *state;

	unread_free(b->unread);
	stacks_free(b->stacks);
	return 0;
}

/* Two kernel frames in the first walk, none in the second; nuser frames from 0x1000 on. */
static void take(struct bench *b, uint64_t id, unsigned flags, unsigned nuser, enum er_end end)
{
	struct {
		struct er_stack s;
		uint64_t pcs[16];
	} r = { .s = { .h = { .kind = ER_KIND_STACK, .time_ns = 5 }, .id = id, .tgid = 7, .flags = flags, .end = end,
		       .nkernel = flags & ER_STACK_UNREAD ? 2 : 0, .nuser = nuser } };

	for (unsigned i = 0; i < r.s.nkernel; i++)
		r.pcs[i] = ~0xfffULL + i;
	for (unsigned i = 0; i < nuser; i++)
		r.pcs[r.s.nkernel + i] = 0x1000 + i;
	unread_take(b->unread, &r.s);
}

static void has(struct bench *b, uint64_t id, size_t nkernel, bool user, enum er_end end)
{
	size_t n;

	assert_true(stacks_has(b->stacks, id));
	assert_non_null(stacks_kernel(b->stacks, id, &n));
	assert_int_equal(n, nkernel);
	assert_int_equal(stacks_has_user(b->stacks, id), user);
	assert_int_equal(stacks_end(b->stacks, id, NULL), end);
	assert_false(unread_pending(b->unread, id));
}

static void says(struct bench *b, const char *text)
{
	struct buf s = { 0 };

	unread_write(b->unread, &s);
	assert_string_equal(s.data, text);
	buf_free(&s);
}

static void test_both(void **state)
{
	struct bench *b = *state;

	take(b, 1, ER_STACK_UNREAD | ER_STACK_USER_FAILED, 0, ER_END_FAULT);
	assert_true(unread_pending(b->unread, 1));
	unread_process(b->unread, 10, false);
	assert_true(unread_pending(b->unread, 1));
	assert_false(stacks_has(b->stacks, 1));
	assert_int_equal(unread_oldest(b->unread, 10), 5);
	take(b, 1, ER_STACK_AGAIN, 4, ER_END_PROVEN);
	unread_process(b->unread, 20, false);
	has(b, 1, 2, true, ER_END_PROVEN);
	assert_int_equal(unread_mended(b->unread), 1);
	assert_int_equal(unread_waiting(b->unread), 0);
	assert_int_equal(unread_oldest(b->unread, 10), 10);
	says(b, "<unread held=\"1\" again=\"1\" complete=\"1\"/>\n");
	unread_restart(b->unread);
	says(b, "<unread held=\"0\" again=\"0\" complete=\"0\"/>\n");
}

/* The ring of the second walk is read first. */
static void test_second_first(void **state)
{
	struct bench *b = *state;

	take(b, 1, ER_STACK_AGAIN, 4, ER_END_NO_CFI);
	unread_process(b->unread, 10, false);
	assert_true(unread_pending(b->unread, 1));
	take(b, 1, ER_STACK_UNREAD, 2, ER_END_FAULT);
	unread_process(b->unread, 20, false);
	has(b, 1, 2, true, ER_END_NO_CFI);
	assert_int_equal(unread_mended(b->unread), 0);
	says(b, "<unread held=\"1\" again=\"1\" complete=\"0\"/>\n");
}

static void test_never(void **state)
{
	struct bench *b = *state;

	take(b, 1, ER_STACK_UNREAD, 2, ER_END_FAULT);
	take(b, 2, ER_STACK_AGAIN, 2, ER_END_PROVEN);
	unread_process(b->unread, SECOND, false);
	unread_process(b->unread, 2 * SECOND, false);
	assert_true(unread_pending(b->unread, 1));
	take(b, 3, ER_STACK_UNREAD, 2, ER_END_FAULT);
	unread_process(b->unread, 2 * SECOND + 1, false);
	has(b, 1, 2, true, ER_END_FAULT);
	assert_false(unread_pending(b->unread, 2));
	assert_false(stacks_has(b->stacks, 2));
	assert_true(unread_pending(b->unread, 3));
	says(b, "<unread held=\"2\" again=\"0\" complete=\"0\"/>\n");
	unread_restart(b->unread);
	says(b, "<unread held=\"1\" again=\"0\" complete=\"0\"/>\n");
	unread_process(b->unread, 2 * SECOND + 2, true);
	has(b, 3, 2, true, ER_END_FAULT);
}

/* A table was dropped between the two walks. */
static void test_second_is_shorter(void **state)
{
	struct bench *b = *state;

	take(b, 1, ER_STACK_UNREAD, 6, ER_END_FAULT);
	take(b, 1, ER_STACK_AGAIN, 3, ER_END_NO_CFI);
	take(b, 2, ER_STACK_UNREAD, 6, ER_END_FAULT);
	take(b, 2, ER_STACK_AGAIN, 3, ER_END_PROVEN);
	unread_process(b->unread, 10, false);
	has(b, 1, 2, true, ER_END_FAULT);
	has(b, 2, 2, true, ER_END_PROVEN);
}

static void test_too_many(void **state)
{
	struct bench *b = *state;

	for (uint64_t id = 1; id <= MANY; id++)
		take(b, id, ER_STACK_UNREAD, 1 + id % 3, ER_END_FAULT);
	assert_true(unread_waiting(b->unread) < MANY / 2);
	has(b, MANY, 2, true, ER_END_FAULT);
	take(b, MANY, ER_STACK_AGAIN, 4, ER_END_PROVEN);
	assert_false(unread_pending(b->unread, MANY));
	take(b, 1, ER_STACK_AGAIN, 4, ER_END_PROVEN);
	unread_process(b->unread, 10, false);
	has(b, 1, 2, true, ER_END_PROVEN);
	assert_true(unread_pending(b->unread, 2));
	unread_process(b->unread, 10, true);
	has(b, 2, 2, true, ER_END_FAULT);
	take(b, MANY, ER_STACK_UNREAD, 4, ER_END_FAULT);
	assert_true(unread_pending(b->unread, MANY)); /* there is room again */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_both, begin, finish),
		cmocka_unit_test_setup_teardown(test_second_first, begin, finish),
		cmocka_unit_test_setup_teardown(test_never, begin, finish),
		cmocka_unit_test_setup_teardown(test_second_is_shorter, begin, finish),
		cmocka_unit_test_setup_teardown(test_too_many, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
