/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The base library: vec, map, strtab, buf, cursor, diag, arena, file, parallel. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <errno.h>
#include <fcntl.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/cursor.h"
#include "analysis/base/diag.h"
#include "analysis/base/file.h"
#include "analysis/base/interrupt.h"
#include "analysis/base/map.h"
#include "analysis/base/parallel.h"
#include "analysis/base/vec.h"

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void vec_grows_sorts_and_frees(void **state)
{
	VEC(int) v = { 0 };
	int sum = 0;

	vec_sort(&v, by_value);
	vec_for_each(p, &v)
		sum += *p;
	assert_int_equal(sum, 0);
	for (int i = 0; i < 1000; i++)
		vec_push(&v, 999 - i);
	assert_int_equal(v.len, 1000);
	vec_sort(&v, by_value);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(v.data[i], i);
	vec_reserve(&v, 5000);
	assert_true(v.cap >= 5000);
	assert_int_equal(v.len, 1000);
	vec_free(&v);
	assert_null(v.data);
	assert_int_equal(v.len + v.cap, 0);
}

static void map_loses_only_what_is_removed(void **state)
{
	struct map m = { 0 };

	map_remove(&m, 3);
	for (uint64_t i = 0; i < 1000; i++)
		*map_put(&m, i, NULL) = i + 1;
	for (uint64_t i = 0; i < 1000; i += 3)
		map_remove(&m, i);
	map_remove(&m, 5000);
	assert_int_equal(m.len, 666);
	for (uint64_t i = 0; i < 1000; i++) {
		if (i % 3 == 0)
			assert_null(map_get(&m, i));
		else
			assert_int_equal(*map_get(&m, i), i + 1);
	}
	map_free(&m);
}

static void vec_upto_counts_what_is_not_above(void **state)
{
	VEC(struct { int pad; unsigned key; }) v = { 0 };

	assert_int_equal(vec_upto(&v, key, 5), 0);
	for (unsigned i = 0; i < 100; i++) {
		vec_reserve(&v, v.len + 1);
		v.data[v.len++].key = i / 2 * 10;
	}
	assert_int_equal(vec_upto(&v, key, 0), 2);
	assert_int_equal(vec_upto(&v, key, 9), 2);
	assert_int_equal(vec_upto(&v, key, 10), 4);
	assert_int_equal(vec_upto(&v, key, UINT32_MAX), 100);
	vec_free(&v);
}

static void map_keeps_every_key(void **state)
{
	struct map m = { 0 };
	bool fresh;
	size_t n = 0;

	assert_null(map_get(&m, 0));
	for (uint64_t i = 0; i < 10000; i++) {
		*map_put(&m, i * 0x100000000, &fresh) = i;
		assert_true(fresh);
	}
	*map_put(&m, 0, &fresh) += 7;
	assert_false(fresh);
	for (uint64_t i = 1; i < 10000; i++)
		assert_int_equal(*map_get(&m, i * 0x100000000), i);
	assert_int_equal(*map_get(&m, 0), 7);
	assert_null(map_get(&m, 1));
	map_for_each(s, &m)
		n++;
	assert_int_equal(n, 10000);
	assert_int_equal(m.len, 10000);
	map_free(&m);
	assert_null(map_get(&m, 0));
}

static void words_are_hashed_in_their_order(void **state)
{
	static const uint64_t w[] = { 1, 2, 0, 0, 2, 1 };

	assert_true(hash_words(w, 2) == hash_words(w, 2));
	assert_true(hash_words(w, 2) != hash_words(w + 4, 2));
	assert_true(hash_words(w + 2, 1) != hash_words(w + 2, 2));
	assert_true(hash_words(w, 2) != hash_words(w, 3));
}

static void strtab_gives_equal_strings_one_id(void **state)
{
	struct strtab t = { 0 };
	const char *first = strtab_intern(&t, "s0");
	char name[16];

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		assert_int_equal(strtab_id(&t, name), i);
	}
	assert_int_equal(strtab_id(&t, "s4999"), 4999);
	assert_ptr_equal(strtab_intern(&t, "s0"), first);
	assert_int_equal(strtab_id(&t, ""), 5000);
	assert_int_equal(t.len, 5001);
	strtab_free(&t);
}

static void buf_is_always_terminated(void **state)
{
	struct buf b = { 0 };

	buf_puts(&b, "");
	assert_string_equal(b.data, "");
	for (int i = 0; i < 500; i++)
		buf_printf(&b, "%d,", i);
	assert_int_equal(strlen(b.data), b.len);
	buf_clear(&b);
	assert_string_equal(b.data, "");
	assert_int_equal(((char *)buf_zero(&b, 3))[2], 0);
	buf_add(&b, "x", 1);
	assert_int_equal(b.len, 4);
	assert_memory_equal(b.data, "\0\0\0x", 5);
	buf_free(&b);
}

static void assert_printable(const char *s, const char *expect)
{
	struct buf b = { 0 };

	buf_puts(&b, "");
	buf_put_printable(&b, s);
	assert_string_equal(b.data, expect);
	buf_free(&b);
}

static void terminals_see_no_control_characters(void **state)
{
	assert_printable("plain text~", "plain text~");
	assert_printable("\x1b[31m\n\x7f", "\\x1b[31m\\x0a\\x7f");
	assert_printable("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	assert_printable("\xc2\x9b" "31m", "\\xc2\\x9b31m"); /* CSI as one character */
	assert_printable("\xc0\xaf", "\\xc0\\xaf");          /* overlong */
	assert_printable("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* surrogate */
	assert_printable("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	assert_printable("\xe2\x82", "\\xe2\\x82");          /* cut off */
}

/* The first and the last of each range, and their neighbours, which are shown. */
static void what_hides_or_turns_text_is_escaped(void **state)
{
	static const char *const escaped[] = {
		"\u00ad", "\u034f", "\u061c", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u180b",
		"\u180e", "\u180f", "\u200b", "\u200d", "\u200e", "\u200f", "\u2028", "\u202a",
		"\u202e", "\u2060", "\u2066", "\u206f", "\u3164", "\ufe00", "\ufe0f", "\ufeff",
		"\uffa0", "\ufff0", "\ufffb", "\U00013430", "\U0001343f", "\U0001bca0", "\U0001bca3",
		"\U0001d173", "\U0001d17a", "\U000e0000", "\U000e0001", "\U000e0fff",
	};
	static const char shown[] =
		"\u00ac\u00ae\u034e\u0350\u061b\u061d\u115e\u1161\u17b3\u17b6\u180a\u1810\u200a"
		"\u2010\u2027\u202f\u205f\u2070\u3163\u3165\ufdff\ufe10\ufefe\uff00\uff9f\uffa1"
		"\uffef\ufffc\ufffd\U0001342f\U00013440\U0001bc9f\U0001bca4\U0001d172\U0001d17b"
		"\U000dffff\U000e1000";

	for (size_t i = 0; i < sizeof(escaped) / sizeof(escaped[0]); i++) {
		struct buf want = { 0 };

		for (const char *p = escaped[i]; *p; p++)
			buf_printf(&want, "\\x%02x", (unsigned char)*p);
		assert_printable(escaped[i], want.data);
		buf_free(&want);
	}
	assert_printable(shown, shown);
}

static void cursor_never_reads_past_its_end(void **state)
{
	const unsigned char bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	struct cursor c = { .p = bytes, .end = bytes + sizeof(bytes) };

	assert_int_equal(cursor_u64(&c), 0x0807060504030201);
	assert_int_equal(cursor_left(&c), 1);
	assert_false(c.bad);
	assert_int_equal(cursor_u16(&c), 0);
	assert_true(c.bad);
	assert_int_equal(cursor_left(&c), 0);

	c = (struct cursor){ .p = bytes + 1, .end = bytes + sizeof(bytes), .swap = true };
	assert_int_equal(cursor_u16(&c), 0x0203);
	assert_int_equal(cursor_u32(&c), 0x04050607);
	assert_null(cursor_bytes(&c, SIZE_MAX));
	assert_true(c.bad);
}

static void diag_keeps_a_bounded_number(void **state)
{
	struct diag d = { 0 };

	assert_int_equal(diag_error(&d, "e%d", 1), -1);
	assert_int_equal(diag_errno(&d, ENOENT, "file '%s'", "x"), -ENOENT);
	diag_note(&d, "n");
	assert_string_equal(d.msgs[1].text, "file 'x': No such file or directory");
	for (int i = 0; i < DIAG_MAX + 5; i++)
		diag_warn(&d, "w");
	assert_int_equal(d.nmsgs, DIAG_MAX);
	assert_int_equal(d.dropped, 8);
	assert_int_equal(d.nerrors, 2);
	assert_int_equal(d.nwarnings, DIAG_MAX + 5);
	diag_error(NULL, "into nothing");
	diag_free(&d);
	assert_int_equal(d.nmsgs, 0);
}

static void arena_memory_is_zero_aligned_and_apart(void **state)
{
	struct arena a = { 0 };
	char *last = NULL;

	for (size_t n = 1; n < 300; n++) {
		char *p = arena_alloc(&a, n);

		assert_int_equal((uintptr_t)p % 16, 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, n);
		assert_ptr_not_equal(p, last);
		last = p;
	}
	memset(arena_alloc(&a, 1 << 20), 1, 1 << 20);
	assert_string_equal(arena_strdup(&a, "text"), "text");
	arena_free(&a);
	arena_free(&a);
}

/* Large allocations are handled differently from small ones. The arena owns both. */
static void arena_memory_grows(void **state)
{
	enum { PIECE = 100000, PIECES = 400 };
	struct arena a = { 0 };
	char *all[PIECES];

	for (int i = 0; i < PIECES; i++) {
		all[i] = arena_alloc(&a, PIECE);
		assert_int_equal(all[i][0] | all[i][PIECE / 2] | all[i][PIECE - 1], 0);
		memset(all[i], i % 100 + 1, PIECE);
	}
	memset(arena_alloc(&a, 20 << 20), 1, 20 << 20);
	assert_int_equal(*(char *)arena_alloc(&a, 1), 0);
	for (int i = 0; i < PIECES; i++)
		assert_true(all[i][0] == i % 100 + 1 && all[i][PIECE - 1] == i % 100 + 1);
	arena_free(&a);
}

static void count_part(void *ctx, size_t i)
{
	((unsigned *)ctx)[i] += i + 1;
}

static void parts_run_once_each(void **state)
{
	unsigned counts[PARALLEL_MAX + 1] = { 0 };

	assert_in_range(parallel_parts(), 1, PARALLEL_MAX);
	parallel_run(count_part, counts, 0);
	parallel_run(count_part, counts, PARALLEL_MAX);
	for (unsigned i = 0; i < PARALLEL_MAX; i++)
		assert_int_equal(counts[i], i + 1);
	assert_int_equal(counts[PARALLEL_MAX], 0);
}

static void files_are_regular_or_refused(void **state)
{
	char dir[] = "/tmp/test_base.XXXXXX";
	char event[sizeof(struct inotify_event) + 256];
	__cleanup(closep) int opened = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct file f;
	int dirfd, fd;

	assert_non_null(mkdtemp(dir));
	dirfd = open(dir, O_RDONLY | O_DIRECTORY);
	fd = openat(dirfd, "full", O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "abc", 3), 3);
	close(fd);
	close(openat(dirfd, "empty", O_WRONLY | O_CREAT, 0600));
	assert_int_equal(mkfifoat(dirfd, "fifo", 0600), 0);

	assert_int_equal(file_open_at(dirfd, "full", &f), 0);
	assert_int_equal(f.size, 3);
	assert_memory_equal(f.data, "abc", 3);
	file_close(&f);
	assert_int_equal(file_open_at(dirfd, "empty", &f), 0);
	assert_null(f.data);
	file_close(&f);
	assert_int_equal(file_open_at(dirfd, "fifo", &f), -EINVAL);
	assert_int_equal(file_open_at(dirfd, ".", &f), -EINVAL);
	assert_int_equal(file_open_at(dirfd, "none", &f), -ENOENT);
	assert_int_equal(fchdir(dirfd), 0);
	fd = file_open_regular("full");
	assert_true(fd >= 0);
	close(fd);
	assert_true(inotify_add_watch(opened, "fifo", IN_OPEN) >= 0);
	assert_int_equal(file_open_regular("fifo"), -1);
	assert_int_equal(file_open_at(dirfd, "fifo", &f), -EINVAL);
	assert_true(read(opened, event, sizeof(event)) < 0);
	assert_int_equal(file_open_regular("."), -1);
	assert_int_equal(file_open_regular("none"), -1);
	assert_int_equal(chdir("/"), 0);

	unlinkat(dirfd, "full", 0);
	unlinkat(dirfd, "empty", 0);
	unlinkat(dirfd, "fifo", 0);
	close(dirfd);
	rmdir(dir);
}

/* An open file of this size, without a name. */
static int file_of(off_t size)
{
	int fd = memfd_create("test_base", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	return fd;
}

static void a_file_that_shrinks_reads_as_zeros(void **state)
{
	size_t page = sysconf(_SC_PAGESIZE), lost = file_pages_lost();
	int fd = file_of(4 * page);
	struct file f;

	assert_int_equal(pwrite(fd, "abc", 3, page), 3);
	assert_int_equal(file_open_fd(dup(fd), &f), 0);
	assert_int_equal(f.data[page], 'a');
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(f.data[page], 0);
	assert_int_equal(f.data[3 * page + 7], 0);
	assert_int_equal(file_pages_lost(), lost + 2);
	file_close(&f);
	close(fd);
}

static void what_is_nearly_all_hole_ends_at_it(void **state)
{
	int fd = file_of(1LL << 40);
	struct file f;

	assert_int_equal(pwrite(fd, "abc", 3, 0), 3);
	assert_int_equal(file_open_fd(fd, &f), 0);
	assert_true(f.size >= 3 && f.size <= 1 << 21);
	assert_int_equal(f.size + f.sparse, 1LL << 40);
	file_close(&f);
}

/* --- interrupt --- */

static void one_interrupt_is_noted(void **state)
{
	struct sigaction now;

	signal(SIGINT, SIG_DFL); /* a background job ignores it */
	interrupt_arm();
	assert_false(interrupt_pending());
	raise(SIGINT);
	assert_true(interrupt_pending());
	sigaction(SIGINT, NULL, &now);
	assert_ptr_equal(now.sa_handler, SIG_DFL); /* the next one ends the program */
	assert_true(interrupt_disarm());
	assert_false(interrupt_pending());
	interrupt_arm();
	assert_false(interrupt_disarm());
}

static void an_ignored_interrupt_stays_ignored(void **state)
{
	struct sigaction now;

	signal(SIGINT, SIG_IGN);
	interrupt_arm();
	raise(SIGINT);
	assert_false(interrupt_pending());
	assert_false(interrupt_disarm());
	sigaction(SIGINT, NULL, &now);
	assert_ptr_equal(now.sa_handler, SIG_IGN);
	signal(SIGINT, SIG_DFL);
}

static void what_was_closed_is_no_descriptor(void **state)
{
	int fd = memfd_create("test_base", MFD_CLOEXEC), before = fd;

	(void)state;
	assert_true(fd >= 0);
	closep(&fd);
	assert_int_equal(fd, -1);
	assert_int_equal(fcntl(before, F_GETFD), -1);
	closep(&fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_interrupt_is_noted),
		cmocka_unit_test(an_ignored_interrupt_stays_ignored),
		cmocka_unit_test(vec_grows_sorts_and_frees),
		cmocka_unit_test(vec_upto_counts_what_is_not_above),
		cmocka_unit_test(map_keeps_every_key),
		cmocka_unit_test(map_loses_only_what_is_removed),
		cmocka_unit_test(words_are_hashed_in_their_order),
		cmocka_unit_test(strtab_gives_equal_strings_one_id),
		cmocka_unit_test(buf_is_always_terminated),
		cmocka_unit_test(terminals_see_no_control_characters),
		cmocka_unit_test(what_hides_or_turns_text_is_escaped),
		cmocka_unit_test(cursor_never_reads_past_its_end),
		cmocka_unit_test(diag_keeps_a_bounded_number),
		cmocka_unit_test(arena_memory_is_zero_aligned_and_apart),
		cmocka_unit_test(arena_memory_grows),
		cmocka_unit_test(parts_run_once_each),
		cmocka_unit_test(files_are_regular_or_refused),
		cmocka_unit_test(a_file_that_shrinks_reads_as_zeros),
		cmocka_unit_test(what_is_nearly_all_hole_ends_at_it),
		cmocka_unit_test(what_was_closed_is_no_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
