/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data that is published to BPF: numbers of files, ranges, room for tables. Needs no BPF. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "loaders/unwind.h"
#include "user/record/addresses.h"
#include "user/space/files.h"
#include "user/space/procmap.h"
#include "user/space/space.h"
#include "user/unwind/publish.h"
#include "user/unwind/words.h"

enum { SEC = 1000000000 };

/* --- numbers of files --- */

static void test_a_file_has_one_number(void **state)
{
	struct files f = { 0 };
	const struct mapping a = { .dev = 1, .ino = 2, .path = "/a" }, again = { .dev = 1, .ino = 2, .path = "/x" },
			     other = { .dev = 2, .ino = 2, .path = "/a" };

	assert_int_equal(files_number(&f, &a), 1);
	assert_int_equal(files_number(&f, &other), 2);
	assert_int_equal(files_number(&f, &again), 1);
	assert_string_equal(files_at(&f, 2)->path, "/a");
	files_free(&f);
}

static void test_what_has_no_inode_goes_by_name(void **state)
{
	static const char vdso[] = "[vdso]", zero[] = "/dev/zero";
	struct files f = { 0 };

	assert_int_equal(files_number(&f, &(struct mapping){ .path = vdso }), 1);
	assert_int_equal(files_number(&f, &(struct mapping){ .path = zero }), 2);
	assert_int_equal(files_number(&f, &(struct mapping){ .path = vdso }), 1);
	files_free(&f);
}

static void test_numbers_are_bounded(void **state)
{
	struct files f = { 0 };
	uint32_t last = 0;

	for (uint64_t ino = 1; ino < ER_MAX_FILES; ino++)
		last = files_number(&f, &(struct mapping){ .ino = ino, .path = "/f" });
	assert_int_equal(last, ER_MAX_FILES - 1);
	assert_int_equal(files_number(&f, &(struct mapping){ .ino = 1 << 20, .path = "/f" }), 0);
	assert_int_equal(files_number(&f, &(struct mapping){ .ino = 7, .path = "/f" }), 7);
	files_free(&f);
}

/* --- files that no process maps --- */

struct let_go {
	uint32_t numbers[FILES_UNMAPPED], refused, held;
	size_t n, reused;
};

static bool let_go(void *ctx, uint32_t number)
{
	struct let_go *l = ctx;

	if (number == l->refused)
		return false;
	l->numbers[l->n++] = number;
	return true;
}

static bool reused(void *ctx, uint32_t number)
{
	struct let_go *l = ctx;

	if (number == l->held)
		return false;
	assert_int_equal(number, l->numbers[l->reused++]);
	return true;
}

static uint32_t number_of(struct files *f, uint64_t ino)
{
	return files_number(f, &(struct mapping){ .dev = 1, .ino = ino, .path = "/f" });
}

/* All files but those mapped last are let go, those first that were unmapped first. */
static void test_unmapped_files_are_let_go(void **state)
{
	enum { ALL = FILES_UNMAPPED + 6, MAPPED = 3, EARLIER = 5, REFUSED = 2 };
	struct let_go l = { .refused = REFUSED };
	struct files f = { 0 };

	for (uint32_t i = 1; i <= ALL; i++)
		assert_int_equal(number_of(&f, i), i);
	assert_true(files_grew(&f));
	files_look(&f);
	for (uint32_t i = 1; i <= ALL; i++)
		if (i != EARLIER)
			files_see(&f, i);
	files_trim(&f, let_go, &l);
	assert_int_equal(l.n, 0);
	assert_false(files_grew(&f));
	files_look(&f);
	files_see(&f, MAPPED);
	files_see(&f, 0);
	files_trim(&f, let_go, &l);
	assert_int_equal(l.n, 4);
	assert_int_equal(l.numbers[0], EARLIER);
	assert_int_equal(l.numbers[1], 1);
	assert_int_equal(l.numbers[2], 4);
	assert_int_equal(l.numbers[3], 6);
	assert_int_equal(files_in_use(&f), ALL - 4);
	assert_int_equal(number_of(&f, MAPPED), MAPPED);
	files_free(&f);
}

/* A number goes to another file only after files_reuse. */
static void test_numbers_are_used_again_later(void **state)
{
	struct let_go l = { 0 };
	struct files f = { 0 };

	for (uint32_t i = 1; i <= FILES_UNMAPPED + 2; i++)
		number_of(&f, i);
	files_look(&f);
	files_trim(&f, let_go, &l);
	assert_int_equal(l.n, 2);
	/* The same file comes back, and so does another. */
	assert_int_equal(number_of(&f, 1), FILES_UNMAPPED + 3);
	assert_int_equal(number_of(&f, 5000), FILES_UNMAPPED + 4);
	assert_int_equal(files_reuse(&f, reused, &l), 0);
	assert_int_equal(l.reused, 2);
	assert_int_equal(number_of(&f, 5001), 2);
	assert_int_equal(number_of(&f, 5002), 1);
	assert_int_equal(number_of(&f, 5003), FILES_UNMAPPED + 5);
	assert_int_equal(files_in_use(&f), FILES_UNMAPPED + 5);
	files_free(&f);
}

/* A number that something refers to waits for a later files_reuse. */
static void test_held_numbers_are_not_used_again(void **state)
{
	struct let_go l = { .held = 1 };
	struct files f = { 0 };

	for (uint32_t i = 1; i <= FILES_UNMAPPED + 2; i++)
		number_of(&f, i);
	files_look(&f);
	files_trim(&f, let_go, &l);
	l.numbers[0] = 2; /* reused() expects this one alone */
	assert_int_equal(files_reuse(&f, reused, &l), 1);
	assert_int_equal(files_in_use(&f), FILES_UNMAPPED);
	assert_int_equal(number_of(&f, 5001), 2);
	assert_int_equal(number_of(&f, 5002), FILES_UNMAPPED + 3);
	l = (struct let_go){ .numbers = { 1 } };
	assert_int_equal(files_reuse(&f, reused, &l), 0);
	assert_int_equal(number_of(&f, 5003), 1);
	files_free(&f);
}

/* Any number of files, if only few are mapped at once. */
static void test_numbers_do_not_run_out(void **state)
{
	struct let_go l = { 0 };
	struct files f = { 0 };

	for (uint64_t ino = 1; ino <= 3 * ER_MAX_FILES; ino++) {
		assert_true(number_of(&f, ino));
		if (!files_grew(&f))
			continue;
		files_look(&f);
		l.n = l.reused = 0;
		files_trim(&f, let_go, &l);
		files_reuse(&f, reused, &l);
	}
	assert_true(f.numbers.len <= FILES_UNMAPPED + FILES_MORE);
	files_free(&f);
}

/* --- publishing --- */

struct fixture {
	struct unwind_maps maps;
	struct publisher *p;
	struct image im;
	size_t total;
	uint64_t now;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){ .maps = { .spaces_fd = -1 }, .now = 10ULL * SEC };
	f->maps.ranges = calloc(ER_MAX_RANGES, sizeof(struct er_range));
	f->p = publisher_new(&f->maps);
	f->im = (struct image){ .pid = 77, .space = space_new(&f->total) };
}

static void end(struct fixture *f)
{
	publisher_free(f->p);
	space_put(f->im.space);
	free(f->maps.ranges);
}

static void map(struct fixture *f, uint64_t start, uint64_t len, uint64_t pgoff, uint32_t file)
{
	vec_push(&f->im.space->maps, (struct mapping){ .start = start, .len = len, .pgoff = pgoff,
						       .file = file, .path = "/f" });
}

static void test_ranges_are_sorted(void **state)
{
	static const struct procmap_hooks none;
	const struct mapping high = { .start = 0x7000, .len = 0x1000, .pgoff = 0x3000, .file = 5 },
			     low = { .start = 0x1000, .len = 0x2000, .pgoff = 0x1000, .file = 9 };
	const struct er_range *r;
	struct fixture f;

	begin(&f);
	space_add(&f.im, &high, &none);
	space_add(&f.im, &low, &none);
	publisher_add(f.p, &f.im, 123, 4);
	r = f.maps.ranges + f.im.ranges.first;
	assert_true(r[0].start == 0x1000 && r[0].end == 0x3000 && r[0].frame == er_frame(9, 0x1000));
	assert_true(r[1].start == 0x7000 && r[1].end == 0x8000 && r[1].frame == er_frame(5, 0x3000));
	assert_true(f.im.ranges.start_time == 123 && f.im.ranges.exec_id == 4);
	end(&f);
}

/* A walk may still read the old ranges. */
static void test_a_change_goes_to_another_place(void **state)
{
	uint32_t first, second;
	struct fixture f;

	begin(&f);
	map(&f, 0x1000, 0x1000, 0, 1);
	publisher_update(f.p, f.now);
	publisher_add(f.p, &f.im, 1, 1);
	first = f.im.ranges.first;
	map(&f, 0x5000, 0x1000, 0, 2);
	publisher_changed(f.p, &f.im);
	publisher_update(f.p, f.now + 1);
	second = f.im.ranges.first;
	assert_int_not_equal(first, second);
	assert_true(f.maps.ranges[first].start == 0x1000 && !f.maps.ranges[first + 1].start);
	publisher_changed(f.p, &f.im);
	publisher_update(f.p, f.now + SEC / 2);
	assert_int_not_equal(f.im.ranges.first, first);
	publisher_changed(f.p, &f.im);
	publisher_update(f.p, f.now + 2ULL * SEC);
	assert_int_equal(f.im.ranges.first, first);
	end(&f);
}

static void test_without_room_nothing_is_written(void **state)
{
	struct fixture f;

	begin(&f);
	for (int i = 0; i <= ER_SPACE_RANGES; i++)
		map(&f, 0x1000 * i, 0x1000, 0, 1);
	publisher_add(f.p, &f.im, 1, 1);
	assert_int_equal(publisher_full(f.p), 1);
	assert_int_equal(f.im.ranges.room, 0);
	assert_int_equal(f.maps.ranges[0].end, 0);
	end(&f);
}

/* --- addresses --- */

static void test_a_frame_is_where_the_image_maps_it(void **state)
{
	struct fixture f;

	begin(&f);
	map(&f, 0x400000, 0x1000, 0x2000, 3);
	map(&f, 0x7f0000, 0x1000, 0x2000, 3);
	f.im.space->maps.data[1].time_ns = 5;
	assert_int_equal(address_in_image(&f.im, er_frame(3, 0x2010), 9), 0x7f0010);
	assert_int_equal(address_in_image(&f.im, er_frame(3, 0x3000), 9), ADDRESS_UNKNOWN);
	assert_int_equal(address_in_image(&f.im, er_frame(4, 0x2010), 9), ADDRESS_UNKNOWN);
	assert_int_equal(address_in_image(&f.im, 0x1234, 9), 0x1234);
	end(&f);
}

/*
 * A library is replaced by another one at its address. A record refers to the mapping at its time.
 */
static void test_a_frame_is_where_it_was_mapped_then(void **state)
{
	static const struct procmap_hooks none;
	struct mapping m = { .start = 0x700000, .len = 0x1000, .time_ns = 10, .path = "/a", .file = 3 };
	struct fixture f;

	begin(&f);
	space_add(&f.im, &m, &none);
	m = (struct mapping){ .start = 0x700000, .len = 0x1000, .time_ns = 20, .path = "/b", .file = 4 };
	space_add(&f.im, &m, &none);
	m = (struct mapping){ .start = 0x900000, .len = 0x1000, .time_ns = 30, .path = "/a", .file = 3 };
	space_add(&f.im, &m, &none);
	assert_int_equal(address_in_image(&f.im, er_frame(3, 0x10), 19), 0x700010);
	assert_int_equal(address_in_image(&f.im, er_frame(3, 0x10), 20), ADDRESS_UNKNOWN);
	assert_int_equal(address_in_image(&f.im, er_frame(3, 0x10), 30), 0x900010);
	assert_int_equal(address_in_image(&f.im, er_frame(4, 0x10), 19), ADDRESS_UNKNOWN);
	assert_int_equal(address_in_image(&f.im, er_frame(4, 0x10), 20), 0x700010);
	assert_false(address_is_stale(&f.im, er_frame(3, 0x10), 19));
	assert_true(address_is_stale(&f.im, er_frame(3, 0x10), 20));
	assert_false(address_is_stale(&f.im, er_frame(3, 0x10), 30));
	assert_false(address_is_stale(&f.im, er_frame(3, 0x10), 5)); /* not yet */
	assert_false(address_is_stale(&f.im, er_frame(5, 0x10), 20)); /* never known */
	assert_false(address_is_stale(&f.im, 0x1234, 20));
	assert_int_equal(space_age(f.im.space, 19), 1);
	assert_int_equal(space_age(f.im.space, 20), 3);
	assert_int_equal(space_age(f.im.space, 30), 4);
	assert_int_equal(space_at(f.im.space, 0x700000, 19)->file, 3);
	assert_int_equal(space_at(f.im.space, 0x700000, 20)->file, 4);
	assert_null(space_at(f.im.space, 0x900000, 29));
	end(&f);
}

/* A child shares its parent's history until one of them changes, and then has a copy. */
static void test_removed_mappings_are_bounded(void **state)
{
	static const struct procmap_hooks none;
	struct fixture f;

	begin(&f);
	for (int i = 0; i < SPACE_OLD + 10; i++) {
		struct mapping m = { .start = 0x700000, .len = 0x1000, .time_ns = i, .path = "/a",
				     .ino = i, .file = i + 1 };
		struct space *shared = i == SPACE_OLD ? space_share(f.im.space) : NULL;

		space_add(&f.im, &m, &none);
		if (shared)
			space_put(shared);
	}
	assert_int_equal(f.im.space->old.len, SPACE_OLD);
	assert_int_equal(space_age(f.im.space, SPACE_OLD + 9), 2 * (SPACE_OLD + 9) + 1);
	assert_int_equal(space_at(f.im.space, 0x700000, SPACE_OLD + 8)->file, SPACE_OLD + 9);
	assert_null(space_at(f.im.space, 0x700000, 1));
	end(&f);
}

/* --- room for tables --- */

static void test_words_come_back_after_a_while(void **state)
{
	struct words w;
	uint32_t a, b, c;

	words_init(&w, 100);
	assert_true(words_take(&w, 60, 4, SEC, &a) && a == 0);
	assert_true(words_take(&w, 30, 4, SEC, &b) && b == 60);
	words_give(&w, a, 60, SEC);
	assert_false(words_take(&w, 20, 4, SEC + 1, &c));
	assert_false(words_take(&w, 10, 4, SEC + 1, &c)); /* 90 is not aligned */
	assert_true(words_take(&w, 8, 4, SEC + 1, &c) && c == 92);
	assert_true(words_take(&w, 60, 4, 2ULL * SEC, &c) && c == 0);
	words_fini(&w);
}

static void test_words_join_and_are_aligned(void **state)
{
	struct words w;
	uint32_t at[4], c;

	words_init(&w, 64);
	for (int i = 0; i < 4; i++)
		assert_true(words_take(&w, 15, 4, SEC, &at[i]));
	assert_int_equal(at[1], 16);
	for (int i = 0; i < 4; i++)
		words_give(&w, at[i], 15, SEC);
	assert_int_equal(w.used, 0);
	assert_true(words_take(&w, 64, 4, 3ULL * SEC, &c));
	assert_int_equal(c, 0);
	words_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_has_one_number),
		cmocka_unit_test(test_what_has_no_inode_goes_by_name),
		cmocka_unit_test(test_numbers_are_bounded),
		cmocka_unit_test(test_unmapped_files_are_let_go),
		cmocka_unit_test(test_numbers_are_used_again_later),
		cmocka_unit_test(test_held_numbers_are_not_used_again),
		cmocka_unit_test(test_numbers_do_not_run_out),
		cmocka_unit_test(test_ranges_are_sorted),
		cmocka_unit_test(test_a_change_goes_to_another_place),
		cmocka_unit_test(test_without_room_nothing_is_written),
		cmocka_unit_test(test_a_frame_is_where_the_image_maps_it),
		cmocka_unit_test(test_a_frame_is_where_it_was_mapped_then),
		cmocka_unit_test(test_removed_mappings_are_bounded),
		cmocka_unit_test(test_words_come_back_after_a_while),
		cmocka_unit_test(test_words_join_and_are_aligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
