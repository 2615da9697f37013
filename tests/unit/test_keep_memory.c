/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recorder keeps of the memory that it frees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/map.h"
#include "user/options/tool.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { OWN_MALLOC = 1 };
#else
enum { OWN_MALLOC = 0 };
#endif

enum { ENTRIES = 200000, BETWEEN = 64, SMALL = 48, SLACK = 2 << 20 };

/* Bytes of this process in memory. */
static size_t resident(void)
{
	unsigned long all, pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu %lu", &all, &pages), 2);
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

/* A table that grows between small blocks leaves no holes of the size of its earlier blocks. */
static void a_table_that_grew_takes_its_own_size(void **state)
{
	static void *small[ENTRIES / BETWEEN + 1];
	struct map m = { 0 };
	size_t before, n = 0;

	if (OWN_MALLOC)
		skip(); /* the sanitizer's malloc keeps what it likes */
	tool_keep_memory();
	before = resident();
	for (uint64_t i = 1; i <= ENTRIES; i++) {
		*map_put(&m, hash64(i), NULL) = i;
		if (i % BETWEEN == 0)
			small[n++] = malloc(SMALL);
	}
	assert_in_range(resident() - before, m.cap * sizeof(*m.slots) / 2,
			m.cap * sizeof(*m.slots) + n * 2 * SMALL + SLACK);
	map_free(&m);
	assert_in_range(resident() - before, 0, n * 2 * SMALL + SLACK);
	while (n)
		free(small[--n]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_table_that_grew_takes_its_own_size) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
