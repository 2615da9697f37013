/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables on disk: whose files have entries, what counts as one, and who builds them. Needs
 * root, for a mount namespace in which /usr is the test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "tests/fixtures/tempdir.h"
#include "user/unwind/table.h"
#include "user/unwind/tablecache.h"
#include "user/unwind/tablesource.h"
#include "user/unwind/worker.h"

enum { NOBODY = 65534, WAIT_MS = 20000 };

#define PLENTY (1ULL << 30)

struct fixture {
	char *root;		   /* a directory for the cache, and for files outside /usr */
	char dir[100];		   /* of the cache */
	struct buf program;	   /* this one, which has a build id */
	struct unwind_table table; /* its table */
};

static struct fixture fixture;

static void write_file(const char *path, const void *p, size_t n, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && write(fd, p, n) == (ssize_t)n && !fchmod(fd, mode));
	close(fd);
}

static void read_all(const char *path, struct buf *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	assert_true(fd >= 0 && !fstat(fd, &st));
	buf_zero(ret, st.st_size);
	assert_true(read(fd, ret->data, ret->len) == (ssize_t)ret->len);
	close(fd);
}

static int begin(void **state)
{
	struct fixture *f = *state = &fixture;

	if (geteuid())
		return 0;
	assert_true(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	f->root = tempdir_new();
	snprintf(f->dir, sizeof(f->dir), "%s/cache", f->root);
	read_all("/proc/self/exe", &f->program);
	assert_int_equal(unwind_table_build(&(struct unwind_input){ .elf = f->program.data,
								    .elf_size = f->program.len },
					    &f->table),
			 0);
	assert_int_equal(mount("tmpfs", "/usr", "tmpfs", 0, "mode=755"), 0);
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	if (geteuid())
		return 0;
	umount2("/usr", MNT_DETACH);
	tempdir_remove(f->root);
	buf_free(&f->program);
	unwind_table_free(&f->table);
	return 0;
}

static void need_root(void)
{
	if (geteuid())
		skip();
}

static struct table_cache *open_cache(const struct fixture *f, uint64_t limit)
{
	const char *why = NULL;
	struct table_cache *c = table_cache_open(f->dir, limit, &why);

	if (!c)
		fail_msg("%s", why);
	return c;
}

/* Empty the directory. */
static void drop_cache(const struct fixture *f)
{
	DIR *d = opendir(f->dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

static unsigned count_entries(const struct fixture *f)
{
	DIR *d = opendir(f->dir);
	struct dirent *e;
	unsigned n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += *e->d_name != '.';
	closedir(d);
	return n;
}

/* --- the directory --- */

static void assert_refused(const char *dir, const char *reason)
{
	const char *why = NULL;

	assert_null(table_cache_open(dir, PLENTY, &why));
	assert_non_null(strstr(why, reason));
}

static void test_directory(void **state)
{
	struct fixture *f = *state;
	char path[200];
	struct stat st;

	need_root();
	table_cache_close(open_cache(f, PLENTY));
	assert_true(!stat(f->dir, &st) && (st.st_mode & 07777) == 0700);
	chmod(f->dir, 0770);
	assert_refused(f->dir, "others may write it");
	assert_int_equal(chmod(f->dir, 0700) | chown(f->dir, NOBODY, 0), 0);
	assert_refused(f->dir, "does not belong to root");
	assert_int_equal(chown(f->dir, 0, 0), 0);
	snprintf(path, sizeof(path), "%s/link", f->root);
	assert_int_equal(symlink(f->dir, path), 0);
	assert_refused(path, "not a directory");
	snprintf(path, sizeof(path), "%s/a/b", f->root);
	assert_refused(path, "cannot be created");
}

/* --- whose files have entries --- */

static bool has_key(const struct table_cache *c, const char *file, const char *path,
		    struct table_key *ret)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	bool has;

	assert_true(fd >= 0);
	has = table_cache_key(c, fd, path, ret);
	close(fd);
	return has;
}

static void test_files_of_root(void **state)
{
	static const struct timespec later[2] = { { 2000, 0 }, { 2000, 1 } };
	struct fixture *f = *state;
	struct table_cache *c;
	struct table_key first, second;
	char outside[200];

	need_root();
	c = open_cache(f, PLENTY);
	snprintf(outside, sizeof(outside), "%s/program", f->root);
	mkdir("/usr/bin", 0755);
	mkdir("/usr/mount", 0755);
	assert_int_equal(mount("tmpfs", "/usr/mount", "tmpfs", 0, "mode=755"), 0);
	write_file("/usr/bin/a", f->program.data, f->program.len, 0755);
	write_file("/usr/bin/b", f->program.data, f->program.len, 0755);
	write_file("/usr/mount/a", f->program.data, f->program.len, 0755);
	write_file(outside, f->program.data, f->program.len, 0755);
	assert_int_equal(symlink("bin", "/usr/link"), 0);

	assert_true(has_key(c, "/usr/bin/a", "/usr/bin/a", &first));
	assert_false(has_key(c, outside, outside, &second));
	assert_false(has_key(c, outside, "/usr/bin/a", &second)); /* as from a container */
	assert_false(has_key(c, "/usr/bin/b", "/usr/bin/a", &second));
	assert_false(has_key(c, "/usr/bin/a", "/usr/link/a", &second));
	assert_false(has_key(c, "/usr/mount/a", "/usr/mount/a", &second));
	assert_false(has_key(c, "/usr/bin/a", "/usr/../usr/bin/a", &second));
	assert_false(has_key(c, "/usr/bin/a", "/usr/bin/none", &second));

	assert_int_equal(utimensat(AT_FDCWD, "/usr/bin/a", later, 0), 0);
	assert_true(has_key(c, "/usr/bin/a", "/usr/bin/a", &second));
	assert_string_not_equal(first.name, second.name);
	assert_int_equal(chmod("/usr/bin/a", 0775), 0);
	assert_false(has_key(c, "/usr/bin/a", "/usr/bin/a", &second));
	assert_int_equal(chmod("/usr/bin/a", 0757), 0);
	assert_false(has_key(c, "/usr/bin/a", "/usr/bin/a", &second));
	assert_int_equal(chmod("/usr/bin/a", 0755) | chown("/usr/bin/a", NOBODY, 0), 0);
	assert_false(has_key(c, "/usr/bin/a", "/usr/bin/a", &second));
	write_file("/usr/bin/b", "no ELF", 6, 0755);
	assert_false(has_key(c, "/usr/bin/b", "/usr/bin/b", &second));
	umount2("/usr/mount", MNT_DETACH);
	table_cache_close(c);
}

/* --- entries --- */

static const struct table_key key = { "0123-4-5" };

static bool loads(struct table_cache *c, const struct table_key *k)
{
	struct unwind_table t;

	if (!table_cache_load(c, k, &t))
		return false;
	unwind_table_free(&t);
	return true;
}

static void test_round_trip(void **state)
{
	struct fixture *f = *state;
	struct table_cache *c;
	struct unwind_table t;

	need_root();
	c = open_cache(f, PLENTY);
	assert_false(loads(c, &key));
	table_cache_save(c, &key, &f->table);
	assert_true(table_cache_load(c, &key, &t));
	assert_int_equal(t.nwords, f->table.nwords);
	assert_memory_equal(t.words, f->table.words, t.nwords * sizeof(*t.words));
	assert_memory_equal(&t.file, &f->table.file, sizeof(t.file));
	assert_memory_equal(&t.counts, &f->table.counts, sizeof(t.counts));
	unwind_table_free(&t);
	assert_false(loads(c, &(struct table_key){ "0123-4-6" }));
	drop_cache(f);
	table_cache_close(c);
}

/* No byte may change, none may be missing, and the entry is root's. */
static void test_damaged_entries(void **state)
{
	struct fixture *f = *state;
	struct buf entry = { 0 };
	struct table_cache *c;
	char path[300];

	need_root();
	c = open_cache(f, PLENTY);
	table_cache_save(c, &key, &f->table);
	snprintf(path, sizeof(path), "%s/%s", f->dir, key.name);
	read_all(path, &entry);
	for (size_t i = 0; i < entry.len; i += i < 300 ? 1 : 997) {
		entry.data[i] ^= 1;
		write_file(path, entry.data, entry.len, 0600);
		if (loads(c, &key))
			fail_msg("byte %zu", i);
		entry.data[i] ^= 1;
	}
	for (size_t n = 0; n < entry.len; n += 1 + n / 4) {
		write_file(path, entry.data, n, 0600);
		assert_false(loads(c, &key));
	}
	write_file(path, entry.data, entry.len, 0600);
	assert_true(loads(c, &key));
	assert_int_equal(chown(path, NOBODY, 0), 0);
	assert_false(loads(c, &key));
	assert_int_equal(unlink(path) | mkfifo(path, 0600), 0);
	assert_false(loads(c, &key));
	assert_int_equal(unlink(path) | symlink("/dev/zero", path), 0);
	assert_false(loads(c, &key));
	buf_free(&entry);
	drop_cache(f);
	table_cache_close(c);
}

/* Entries go that were not used for longest, and what a killed recorder left. */
static void test_limit(void **state)
{
	struct fixture *f = *state;
	uint64_t one = f->table.nwords * sizeof(*f->table.words);
	struct table_cache *c;
	char path[300];

	need_root();
	c = open_cache(f, one * 8);
	snprintf(path, sizeof(path), "%s/x.1.new", f->dir);
	write_file(path, "", 0, 0600);
	utimensat(AT_FDCWD, path, (struct timespec[2]){ { 1, 0 }, { 1, 0 } }, 0);
	for (int i = 0; i < 12; i++) {
		struct table_key k;

		snprintf(k.name, sizeof(k.name), "%d", i);
		table_cache_save(c, &k, &f->table);
		snprintf(path, sizeof(path), "%s/%d", f->dir, i);
		utimensat(AT_FDCWD, path, (struct timespec[2]){ { 1000 - i, 0 }, { 1000 - i, 0 } },
			  0);
		if (i == 3) /* used, so its time is now */
			assert_true(loads(c, &k));
	}
	assert_in_range(count_entries(f), 6, 9);
	assert_true(loads(c, &(struct table_key){ "3" }) && loads(c, &(struct table_key){ "11" }));
	assert_false(loads(c, &(struct table_key){ "7" }));
	snprintf(path, sizeof(path), "%s/x.1.new", f->dir);
	assert_int_equal(access(path, F_OK), -1);
	drop_cache(f);
	table_cache_close(c);
}

/* --- who builds them --- */

struct source {
	struct unwind_worker *worker, *trusted;
	struct table_source *source;
};

static struct source open_source(const struct fixture *f)
{
	struct diag d = { 0 };
	struct source s = { .worker = unwind_worker_start(&d), .trusted = unwind_worker_start(&d) };

	assert_int_equal(d.nerrors, 0);
	s.source = table_source_new(s.worker, open_cache(f, PLENTY), s.trusted);
	return s;
}

static void close_source(struct source *s)
{
	table_source_free(s->source);
	unwind_worker_stop(s->worker);
}

/* Returns whether the table was there at once. In any case it is the right one. */
static bool request(struct source *s, const struct fixture *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct unwind_result r = { 0 };
	struct unwind_table t;

	err = table_source_request(s->source, 7, fd, path, &t);
	close(fd);
	if (!err) {
		assert_int_equal(t.nwords, f->table.nwords);
		unwind_table_free(&t);
		return true;
	}
	assert_int_equal(err, -EINPROGRESS);
	assert_true(table_source_waits(s->source));
	table_source_hurry(s->source, 7);
	while (!table_source_next(s->source, &r)) {
		struct pollfd fds[TABLE_SOURCE_WORKERS];

		table_source_poll(s->source, fds);
		assert_true(poll(fds, TABLE_SOURCE_WORKERS, WAIT_MS) > 0);
	}
	assert_int_equal(r.err, 0);
	assert_int_equal(r.key, 7);
	assert_memory_equal(r.table.words, f->table.words,
			    f->table.nwords * sizeof(*f->table.words));
	assert_false(table_source_waits(s->source));
	return false;
}

static void assert_built(const struct source *s, uint64_t trusted, uint64_t others)
{
	assert_int_equal(unwind_worker_stats(s->trusted).built, trusted);
	assert_int_equal(unwind_worker_stats(s->worker).built, others);
}

static void test_own_worker(void **state)
{
	struct fixture *f = *state;
	char outside[200];
	struct source s;

	need_root();
	snprintf(outside, sizeof(outside), "%s/program", f->root);
	mkdir("/usr/bin", 0755);
	write_file(outside, f->program.data, f->program.len, 0755);
	write_file("/usr/bin/c", f->program.data, f->program.len, 0755);
	s = open_source(f);
	assert_false(request(&s, f, outside));
	assert_built(&s, 0, 1);
	assert_int_equal(count_entries(f), 0);
	assert_false(request(&s, f, "/usr/bin/c"));
	assert_built(&s, 1, 1);
	assert_int_equal(count_entries(f), 1);
	assert_true(request(&s, f, "/usr/bin/c"));
	assert_built(&s, 1, 1);
	close_source(&s);
	s = open_source(f); /* the next recording */
	assert_true(request(&s, f, "/usr/bin/c"));
	assert_false(request(&s, f, outside));
	assert_built(&s, 0, 1);
	close_source(&s);
	drop_cache(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directory),  cmocka_unit_test(test_files_of_root),
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_damaged_entries),
		cmocka_unit_test(test_limit),	   cmocka_unit_test(test_own_worker),
	};

	return cmocka_run_group_tests_name("unwind_tablecache", tests, begin, end);
}
