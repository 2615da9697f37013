/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that the writer leaves on disk. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/experiment.h"
#include "tests/fixtures/exp_builder.h"
#include "tests/fixtures/tempdir.h"
#include "tests/unit/expwriter_fixture.h"

static void the_directory_is_private_and_new(void **state)
{
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", (char *)*state);
	__cleanup(freep) char *log = xasprintf("%s/t.1.er/log.xml", (char *)*state);
	struct diag d = { 0 };
	struct expwriter *w, *again;
	struct stat st;
	int dirfd;

	w = new_writer(*state, "t.1.er", &dirfd);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(log, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(expwriter_create(dirfd, "t.1.er", &header, &d, &again), -EEXIST);
	assert_int_equal(expwriter_create(dirfd, "t.1", &header, &d, &again), -EINVAL);
	assert_int_equal(expwriter_create(dirfd, "a/b.er", &header, &d, &again), -EINVAL);
	assert_int_equal(d.nerrors, 2);
	diag_free(&d);
	assert_int_equal(expwriter_close(w), 0);
	assert_has(path, "log.xml", " wsize=\"64\">a &quot;&lt;b&gt;&quot; 5%25%20%25%</process>");
	assert_has(path, "log.xml", "tstamp=\"5.000000000\"");
	close(dirfd);
}

/* A file size limit simulates a full disk. */
static void what_cannot_be_begun_leaves_nothing(void **state)
{
	__cleanup(freep) char *path = xasprintf("%s/full.er", (char *)*state);
	int dirfd = open(*state, O_RDONLY | O_DIRECTORY), err;
	struct rlimit limit, none;
	struct diag d = { 0 };
	struct expwriter *w;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	none = (struct rlimit){ .rlim_max = limit.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	err = expwriter_create(dirfd, "full.er", &header, &d, &w);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(err, -EFBIG);
	assert_int_equal(d.nerrors, 1);
	assert_int_equal(access(path, F_OK), -1);
	diag_free(&d);
	close(dirfd);
}

static size_t open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* A file that is not written between two calls is closed, and opened again when it is. */
static void idle_files_are_closed(void **state)
{
	int dirfd[2];
	struct expwriter *w[2] = { new_writer(*state, "t.1.er", &dirfd[0]),
				   new_writer(*state, "t.2.er", &dirfd[1]) };
	__cleanup(freep) char *dir = xasprintf("%s/t.1.er", (char *)*state);
	size_t before, both;

	assert_int_equal(expwriter_flush(w[0]), 0);
	assert_int_equal(expwriter_flush(w[1]), 0);
	expwriter_close_idle();
	expwriter_close_idle();
	before = open_descriptors();
	for (int i = 0; i < 2; i++) {
		expwriter_text(w[i], "notes", "one");
		assert_int_equal(expwriter_flush(w[i]), 0);
	}
	both = open_descriptors();
	assert_int_equal(both, before + 2);
	expwriter_close_idle();
	assert_int_equal(open_descriptors(), both);
	expwriter_text(w[1], "notes", "two");
	assert_int_equal(expwriter_flush(w[1]), 0);
	expwriter_close_idle();
	assert_int_equal(open_descriptors(), both - 1);
	expwriter_close_idle();
	assert_int_equal(open_descriptors(), before);
	expwriter_text(w[0], "notes", "two");
	assert_int_equal(expwriter_flush(w[0]), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(expwriter_close(w[i]), 0);
		close(dirfd[i]);
	}
	assert_has(dir, "notes", "one\ntwo\n");
}

enum { CROWD = 64 };

/*
 * Many writers under a low limit share a quarter of it. Every line is written, and nothing stays
 * open.
 */
static void descriptors_are_shared(void **state)
{
	struct rlimit old, low;
	struct expwriter *w[CROWD];
	size_t before = open_descriptors();
	char name[32];
	int dirfd[CROWD];

	getrlimit(RLIMIT_NOFILE, &old);
	low = old;
	low.rlim_cur = before + 3 * CROWD;
	setrlimit(RLIMIT_NOFILE, &low);
	for (int i = 0; i < CROWD; i++) {
		snprintf(name, sizeof(name), "t.%d.er", i);
		w[i] = new_writer(*state, name, &dirfd[i]);
	}
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < CROWD; i++) {
			expwriter_text(w[i], "notes", "one");
			assert_int_equal(expwriter_flush(w[i]), 0);
			assert_true(open_descriptors() <= before + 2 * CROWD + low.rlim_cur / 4);
		}
	}
	/*
	 * The last files have the slots. Here they are closed, and the first files refer to slots
	 * that no longer exist.
	 */
	for (int i = CROWD - 1; i >= 0; i--) {
		__cleanup(freep) char *dir = xasprintf("%s/t.%d.er", (char *)*state, i);

		assert_int_equal(expwriter_close(w[i]), 0);
		assert_has(dir, "notes", "one\none\none\n");
		close(dirfd[i]);
	}
	assert_int_equal(open_descriptors(), before);
	setrlimit(RLIMIT_NOFILE, &old);
}

static void a_removed_directory_is_noticed(void **state)
{
	static const char *const files[] = { "notes", "log.xml", "map.xml", "overview" };
	int dirfd, fd;
	struct expwriter *w = new_writer(*state, "t.1.er", &dirfd);

	fd = expwriter_dirfd(w);
	expwriter_text(w, "notes", "one");
	assert_int_equal(expwriter_flush(w), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		assert_int_equal(unlinkat(fd, files[i], 0), 0);
	assert_int_equal(unlinkat(dirfd, "t.1.er", AT_REMOVEDIR), 0);
	expwriter_text(w, "notes", "two");
	assert_int_equal(expwriter_flush(w), -ENOENT);
	expwriter_close(w);
	close(dirfd);
}

static void planted_links_are_not_followed(void **state)
{
	__cleanup(freep) char *map = xasprintf("%s/t.1.er/map.xml", (char *)*state);
	__cleanup(freep) char *dir = xasprintf("%s/t.1.er", (char *)*state);
	__cleanup(freep) char *moved = xasprintf("%s/moved", (char *)*state);
	__cleanup(freep) char *victim = xasprintf("%s/victim", (char *)*state);
	struct expwriter *w;
	int dirfd;

	w = new_writer(*state, "t.1.er", &dirfd);
	tempdir_write(*state, "victim", "", 0);
	assert_int_equal(unlink(map), 0);
	assert_int_equal(symlink(victim, map), 0);
	expwriter_function(w, 0, 1, 2, "f");
	assert_int_equal(expwriter_flush(w), -ELOOP);
	expwriter_close(w);
	close(dirfd);

	w = new_writer(*state, "u.1.er", &dirfd);
	free(dir);
	dir = xasprintf("%s/u.1.er", (char *)*state);
	assert_int_equal(rename(dir, moved), 0);
	assert_int_equal(mkdir(dir, 0700), 0);
	expwriter_function(w, 0, 1, 2, "f");
	assert_int_equal(expwriter_flush(w), -ESTALE);
	expwriter_close(w);
	close(dirfd);
}

/* A file size limit simulates a full disk: a write stops in the middle of a record. */
static void a_short_write_is_undone(void **state)
{
	__cleanup(freep) char *dir = xasprintf("%s/t.1.er", (char *)*state);
	struct rlimit old, limit;
	struct clock_packet p = { .stack = 1, .nticks = 1 };
	struct expwriter *w;
	struct stat st;
	int dirfd;

	signal(SIGXFSZ, SIG_IGN);
	w = new_writer(*state, "t.1.er", &dirfd);
	for (int i = 0; i < 1000; i++)
		expwriter_clock(w, &p);
	assert_int_equal(expwriter_flush(w), 0);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = 32 * 1500 + 17;
	setrlimit(RLIMIT_FSIZE, &limit);
	for (int i = 0; i < 1000; i++)
		expwriter_clock(w, &p);
	assert_int_equal(expwriter_flush(w), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(fstatat(expwriter_dirfd(w), "profile", &st, 0), 0);
	assert_int_equal(st.st_size, 32 * 1000);

	/* From now on the writer drops its input, but still reports why. */
	expwriter_clock(w, &p);
	expwriter_exit(w, header.start_ns);
	assert_int_equal(expwriter_replace(w, "recorder.xml", "<full/>\n"), 0);
	assert_int_equal(expwriter_close(w), -EFBIG);
	assert_has(dir, "recorder.xml", "<full/>\n");
	close(dirfd);
}

static void the_exit_event_is_the_last_thing(void **state)
{
	__cleanup(freep) char *dir = xasprintf("%s/t.1.er", (char *)*state);
	__cleanup(freep) char *log = NULL;
	struct expwriter *w;
	int dirfd;

	w = new_writer(*state, "t.1.er", &dirfd);
	expwriter_exit(w, header.start_ns + 1500000000);
	expwriter_message(w, "cwarn", EXP_MSG_OURS, 0, "late");
	assert_int_equal(expwriter_close(w), 0);
	log = tempdir_read(dir, "log.xml", NULL);
	assert_true(strstr(log, "kind=\"exit\" tstamp=\"1.500000000\"") > strstr(log, "late"));
	assert_has(dir, "log.xml", "id=\"1000\" tstamp=\"0.000000000\">late<"); /* not negative */
	close(dirfd);
}

static void kernel_symbols_are_written_once_and_readable(void **state)
{
	__cleanup(freep) char *dir = xasprintf("%s/t.1.er", (char *)*state);
	__cleanup(freep) char *ksyms = NULL, *map = NULL;
	struct expwriter *w;
	int dirfd;

	w = new_writer(*state, "t.1.er", &dirfd);
	for (int i = 0; i < 3; i++) {
		expwriter_ksym(w, 0xffffffff81000000, 0x10, "foo.isra.0", NULL);
		expwriter_ksym(w, 0xffffffff81000010, 0x20, "event_sched_in", "ext4");
		expwriter_ksym(w, 0xffffffff81000030, 0x20, "two words\n", "vmlinux");
	}
	assert_int_equal(expwriter_close(w), 0);
	ksyms = tempdir_read(dir, "kallmodsyms", NULL);
	assert_string_equal(ksyms, "ffffffff81000000 10 t foo\u00b7isra\u00b7" "0\n"
				   "ffffffff81000010 20 t \u00b7event_sched_in [ext4]\n"
				   "ffffffff81000030 20 t two_words_\n");
	map = tempdir_read(dir, "map.xml", NULL);
	assert_non_null(strstr(map, "name=\"LinuxKernel\""));
	assert_null(strstr(strstr(map, "LinuxKernel") + 1, "LinuxKernel"));
	close(dirfd);
}

static void large_things_are_split(void **state)
{
	__cleanup(freep) char *dir = xasprintf("%s/t.1.er", (char *)*state);
	struct exp_segment s = { .vaddr = 0x100000000, .size = 0x90000000, .foffset = 0x1000,
				 .modes = 5, .name = "/big" };
	struct clock_packet p = { .stack = 1, .nticks = UINT32_MAX };
	uint64_t *pcs = calloc(10000, sizeof(*pcs));
	struct expwriter *w;
	struct stat st;
	int dirfd;

	w = new_writer(*state, "t.1.er", &dirfd);
	pcs[0] = s.vaddr + 1;
	expwriter_segment(w, &s);
	expwriter_stack(w, 1, pcs, 10000);
	expwriter_clock(w, &p);
	assert_int_equal(expwriter_flush(w), 0);
	assert_has(dir, "map.xml", "vaddr=\"0x180000000\" size=\"268435456\" "
				   "foffset=\"+0x80001000\"");
	assert_int_equal(fstatat(expwriter_dirfd(w), "profile", &st, 0), 0);
	assert_int_equal(st.st_size, 3 * 32);
	assert_int_equal(fstatat(expwriter_dirfd(w), "data.frameinfo", &st, 0), 0);
	assert_int_equal(st.st_size, 32 + 8187 * 8);
	assert_int_equal(expwriter_close(w), 0);
	free(pcs);
	close(dirfd);
}

/* Small, frequent flushes go into a mapping of the file's end, if it can be mapped. */
static void little_and_often_is_all_there(void **state)
{
	enum { FLUSHES = 1000, SIZE = FLUSHES * 36 };
	__cleanup(freep) char *dir = xasprintf("%s/t.1.er", (char *)*state);
	struct clock_packet p = { .nticks = 1, .thread = 1 };
	struct expwriter *w;
	struct experiment *e;
	struct stat st;
	int dirfd;

	w = new_writer(*state, "t.1.er", &dirfd);
	expwriter_clock_profile(w, 1, STATES_ALL, false);
	for (int i = 0; i < FLUSHES; i++) {
		expwriter_clock(w, &p);
		assert_int_equal(expwriter_flush(w), 0);
	}
	/* The file as a reader sees it while we write, and after SIGKILL. */
	e = experiment_open(dir, NULL);
	assert_int_equal(count_packets(e), FLUSHES);
	assert_int_equal(e->diag.nerrors, 0);
	experiment_close(e);
	assert_int_equal(fstatat(expwriter_dirfd(w), "profile", &st, 0), 0);
	assert_in_range(st.st_size, SIZE, SIZE + (16 << 10));
	assert_int_equal(expwriter_close(w), 0);
	e = experiment_open(dir, NULL);
	assert_int_equal(count_packets(e), FLUSHES);
	experiment_close(e);
	assert_int_equal(fstatat(dirfd, "t.1.er/profile", &st, 0), 0);
	assert_int_equal(st.st_size, SIZE);
	close(dirfd);
}

/* Flush a packet this many times, then cut the file to `size`. */
static struct expwriter *write_and_cut(const char *dir, int nflushes, off_t size, int *dirfd)
{
	const struct clock_packet p = { .nticks = 1, .thread = 1 };
	__cleanup(freep) char *profile = xasprintf("%s/t.1.er/profile", dir);
	struct expwriter *w = new_writer(dir, "t.1.er", dirfd);

	expwriter_clock_profile(w, 1, STATES_ALL, false);
	for (int i = 0; i < nflushes; i++) {
		expwriter_clock(w, &p);
		assert_int_equal(expwriter_flush(w), 0);
	}
	assert_int_equal(truncate(profile, size), 0);
	return w;
}

/*
 * Another program cuts a file that is mapped (after many flushes), about to be mapped (after three)
 * or neither. If the page is gone the writer notices at the next flush; otherwise at the end.
 */
static void a_file_that_was_cut_is_noticed(void **state)
{
	static const struct {
		int nflushes;
		off_t size;
		bool at_once;
	} cases[] = { { 2, 0, true }, { 2, 50, true }, { 3, 50, true }, { 50, 0, true },
		      { 500, 4096, true }, { 50, 2100, false }, { 50, 2200, false } };
	const struct clock_packet p = { .nticks = 1, .thread = 1 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int dirfd, err;
		struct expwriter *w = write_and_cut(*state, cases[i].nflushes, cases[i].size, &dirfd);

		expwriter_clock(w, &p);
		err = expwriter_flush(w);
		assert_true(err == -ESTALE || (!err && !cases[i].at_once));
		assert_int_equal(expwriter_close(w), -ESTALE);
		close(dirfd);
		tempdir_teardown(state);
		tempdir_setup(state);
	}
}

static void stacks_are_never_an_empty_file(void **state)
{
	struct clock_packet p = { .nticks = 1 };
	struct expwriter *w;
	struct stat st;
	int dirfd;

	w = new_writer(*state, "t.1.er", &dirfd);
	expwriter_clock(w, &p);
	assert_int_equal(expwriter_flush(w), 0);
	assert_int_equal(fstatat(expwriter_dirfd(w), "data.frameinfo", &st, 0), 0);
	assert_int_equal(st.st_size, 16);
	assert_true(expwriter_bytes(w) > 16 + 40);
	expwriter_close(w);
	close(dirfd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMPDIR_CASE(the_directory_is_private_and_new),
		TEMPDIR_CASE(what_cannot_be_begun_leaves_nothing),
		TEMPDIR_CASE(idle_files_are_closed),
		TEMPDIR_CASE(descriptors_are_shared),
		TEMPDIR_CASE(a_removed_directory_is_noticed),
		TEMPDIR_CASE(planted_links_are_not_followed),
		TEMPDIR_CASE(a_short_write_is_undone),
		TEMPDIR_CASE(the_exit_event_is_the_last_thing),
		TEMPDIR_CASE(kernel_symbols_are_written_once_and_readable),
		TEMPDIR_CASE(large_things_are_split),
		TEMPDIR_CASE(little_and_often_is_all_there),
		TEMPDIR_CASE(a_file_that_was_cut_is_noticed),
		TEMPDIR_CASE(stacks_are_never_an_empty_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
