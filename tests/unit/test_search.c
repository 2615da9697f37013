/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The binary search of BPF programs finds what a look at each entry finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/search.h"

static __u32 search(const __u64 *keys, __u32 from, __u32 n, __u64 wanted)
{
	struct search s = { from, from + n };

	while (s.lo < s.hi)
		search_step(&s, keys[search_middle(&s)], wanted);
	return s.lo;
}

static __u32 look_at_each(const __u64 *keys, __u32 from, __u32 n, __u64 wanted)
{
	__u32 i = from;

	while (i < from + n && keys[i] <= wanted)
		i++;
	return i;
}

static void finds_the_first_greater(void **state)
{
	static const __u64 keys[] = { 0, 1, 1, 4, 5, 0xffff, 0x10000, 0xffffffff, 1ULL << 32, INT64_MAX,
				      0xffffffffff600000, UINT64_MAX - 1, UINT64_MAX };
	const __u32 n = sizeof(keys) / sizeof(keys[0]);

	for (__u32 from = 0; from < n; from++) {
		for (__u32 count = 0; from + count <= n; count++) {
			for (__u32 k = 0; k < n; k++) {
				for (int off = -1; off <= 1; off++) {
					__u64 wanted = keys[k] + off;

					assert_int_equal(search(keys, from, count, wanted),
							 look_at_each(keys, from, count, wanted));
				}
			}
		}
	}
}

/* The verifier must see that a search ends: each step halves what is left. */
static void halves(void **state)
{
	for (__u32 n = 1; n < 5000; n = n * 3 / 2 + 1) {
		struct search up = { 0, n }, down = { 0, n };
		__u32 steps = 0;

		for (__u32 left = n; left; left /= 2)
			steps++;
		for (__u32 i = 0; i < steps; i++) {
			if (up.lo < up.hi)
				search_step(&up, 1, 2);
			if (down.lo < down.hi)
				search_step(&down, 2, 1);
		}
		assert_int_equal(up.lo, n);
		assert_int_equal(up.hi, n);
		assert_int_equal(down.lo, 0);
		assert_int_equal(down.hi, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_first_greater),
		cmocka_unit_test(halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
