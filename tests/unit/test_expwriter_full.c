/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writer on a full disk: a small file system that only this process sees. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "tests/fixtures/tempdir.h"
#include "tests/unit/expwriter_fixture.h"

/* A file system of one megabyte at dir, for this process only. False if it may not have one. */
static bool small_disk(const char *dir)
{
	if (unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) < 0)
		return false;
	return !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", dir, "tmpfs", 0, "size=1m,mode=0777");
}

static void fill_disk(const char *dir)
{
	__cleanup(freep) char *file = xasprintf("%s/filling", dir);
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
	static const char block[4096];

	assert_true(fd >= 0);
	while (write(fd, block, sizeof(block)) == sizeof(block))
		;
	assert_int_equal(errno, ENOSPC);
	close(fd);
}

/* An ordinary update on a full disk does not use up what the last one needs. */
static void a_full_disk_has_room_for_many_updates(void **state)
{
	__cleanup(freep) char *dir = xasprintf("%s/t.1.er", (char *)*state);
	__cleanup(freep) char *text = xcalloc(1, 50001);
	struct expwriter *w;
	int dirfd;

	if (!small_disk(*state))
		skip(); /* no namespaces for this user */
	w = new_writer(*state, "t.1.er", &dirfd);
	for (int i = 0; i < 10; i++) {
		fill_disk(*state);
		memset(text, 'a' + i, 50000);
		assert_int_equal(expwriter_replace(w, "recorder.xml", text), 0);
		assert_has(dir, "recorder.xml", text);
	}
	expwriter_close(w);
	close(dirfd);
	assert_int_equal(umount(*state), 0);
}

/* What can be removed when the disk is full. */
struct spare {
	const char *file;
	int asked, left;
};

static bool remove_spare(void *ctx)
{
	struct spare *s = ctx;

	s->asked++;
	return s->left-- > 0 && !unlink(s->file);
}

static size_t gunzipped(const char *dir, const char *file)
{
	__cleanup(freep) char *cmd = xasprintf("gzip -dcq %s/%s 2>/dev/null | wc -c", dir, file);
	FILE *f = popen(cmd, "r");
	size_t n = 0;

	assert_int_equal(fscanf(f, "%zu", &n), 1);
	pclose(f);
	return n;
}

static void put_much(struct expwriter *w, struct expwriter *part)
{
	struct clock_packet p = { .stack = 1, .nticks = 1 };

	for (int i = 0; i < 4000; i++) {
		expwriter_clock(w, &p);
		expwriter_clock(part, &p);
		expwriter_text(w, "threads.xml.gz", "a line");
	}
}

/* If space can be freed, a full disk costs nothing, in whatever file it is noticed. */
static void a_full_disk_is_tried_again(void **state)
{
	__cleanup(freep) char *dir = xasprintf("%s/t.1.er", (char *)*state);
	__cleanup(freep) char *filling = xasprintf("%s/filling", (char *)*state);
	struct spare spare = { filling, 0, 3 };
	struct expwriter *w, *part;
	struct stat st;
	int dirfd;

	if (!small_disk(*state))
		skip(); /* no namespaces for this user */
	w = new_writer(*state, "t.1.er", &dirfd);
	expwriter_on_full(w, remove_spare, &spare);
	expwriter_parts_begin(w, &header);
	expwriter_parts_end(w);
	fill_disk(*state);
	assert_int_equal(expwriter_create_part(w, "_p.1.er", &header, NULL, &part), 0);
	assert_int_equal(spare.asked, 1);
	fill_disk(*state);
	put_much(w, part);
	assert_int_equal(expwriter_flush(w), 0);
	assert_int_equal(spare.asked, 2);
	fill_disk(*state);
	assert_int_equal(expwriter_flush(part), 0);
	assert_int_equal(spare.asked, 3);
	assert_int_equal(fstatat(expwriter_dirfd(w), "profile", &st, 0), 0);
	assert_int_equal(st.st_size, 32 * 4000);
	/* A part has its packets behind its stacks. */
	assert_int_equal(fstatat(expwriter_dirfd(part), "data.frameinfo", &st, 0), 0);
	assert_in_range(st.st_size, 32 * 4000, 32 * 4001);
	assert_int_equal(gunzipped(dir, "threads.xml.gz"), 7 * 4000);

	/* Nothing is left to remove. */
	fill_disk(*state);
	put_much(w, part);
	assert_int_equal(expwriter_flush(w), -ENOSPC);
	assert_int_equal(spare.asked, 4);
	expwriter_close(part);
	expwriter_close(w);
	close(dirfd);
	assert_int_equal(umount(*state), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMPDIR_CASE(a_full_disk_has_room_for_many_updates),
		TEMPDIR_CASE(a_full_disk_is_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
