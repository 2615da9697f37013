/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces: what is mapped after any sequence of changes, and how large they get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "user/space/space.h"

enum { PAGES = 64, CHANGES = 20000, PAGE = 0x1000 };

static const struct procmap_hooks none;

struct fixture {
	struct image im;
	size_t total;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	f->im.space = space_new(&f->total);
}

static struct mapping pages(uint64_t first, uint64_t n, uint64_t offset, uint32_t file)
{
	return (struct mapping){ .start = first * PAGE, .len = n * PAGE, .pgoff = offset * PAGE,
				 .file = file, .ino = file, .path = "/f" };
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 8;
}

/* What a list of pages says, which is simple and therefore right. */
struct page {
	uint32_t file; /* 0: nothing is mapped */
	uint64_t offset;
};

static void check(const struct space *sp, const struct page *model)
{
	uint64_t end = 0;

	vec_for_each(m, &sp->maps) {
		assert_true(m->start >= end);
		end = m->start + m->len;
	}
	for (uint64_t i = 0; i < PAGES; i++) {
		const struct mapping *m = space_at(sp, i * PAGE + 8, 1);

		assert_int_equal(m ? m->file : 0, model[i].file);
		if (m)
			assert_int_equal(m->pgoff + i * PAGE - m->start, model[i].offset * PAGE);
	}
}

static void test_each_page_has_its_last_mapping(void **state)
{
	struct page model[PAGES] = { 0 };
	uint32_t random = 1;
	struct fixture f;

	begin(&f);
	for (int k = 0; k < CHANGES; k++) {
		uint64_t first = next_random(&random) % PAGES, n = 1 + next_random(&random) % 9;
		uint32_t file = next_random(&random) % 4;
		struct mapping m;

		n = n < PAGES - first ? n : PAGES - first;
		m = pages(first, n, k % 5, file);
		assert_true(file ? space_add(&f.im, &m, &none) : space_clear(&f.im, &m, "/dev/zero", &none));
		for (uint64_t i = 0; i < n; i++)
			model[first + i] = (struct page){ file, k % 5 + i };
		check(f.im.space, model);
		assert_int_equal(f.total, f.im.space->maps.len);
	}
	space_put(f.im.space);
	assert_int_equal(f.total, 0);
}

/* A program may map code anywhere, and cut holes into a large file's code. */
static void test_no_program_makes_it_large(void **state)
{
	enum { MANY = 20000, MOST = 4096 };
	struct mapping whole = pages(0, 2 * MANY, 0, 1);
	struct fixture f;
	bool room = true;

	begin(&f);
	assert_true(space_add(&f.im, &whole, &none));
	for (uint64_t i = 0; i < MANY; i++) {
		struct mapping hole = pages(2 * i + 1, 1, 0, 0);

		room &= space_clear(&f.im, &hole, "/dev/zero", &none);
	}
	assert_false(room);
	assert_true(space_is_full(f.im.space));
	assert_int_equal(f.im.space->maps.len, MOST);
	assert_null(space_at(f.im.space, PAGE, 1));
	assert_non_null(space_at(f.im.space, 2 * PAGE, 1));
	for (uint64_t i = 0; i < MANY; i++) {
		struct mapping more = pages(4 * MANY + 2 * i, 1, 0, 2);

		assert_false(space_add(&f.im, &more, &none));
	}
	assert_int_equal(f.im.space->maps.len, MOST);
	space_put(f.im.space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_page_has_its_last_mapping),
		cmocka_unit_test(test_no_program_makes_it_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
