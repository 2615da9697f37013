/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/tablecache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/vec.h"
#include "analysis/symbols/elfsyms.h"
#include "user/space/opener.h"
#include "user/unwind/table.h"

#define SYSTEM_DIR "/usr/"
#define NEW_SUFFIX ".new"

enum {
	ID_MAX = 64,
	USED_S = 86400, /* the time of an entry's last use is as exact as this */
	LEFT_S = 60,	/* a recorder that was killed left a file that is new for so long */
};

struct table_cache {
	int dir;	      /* -1: not open */
	int system;	      /* SYSTEM_DIR */
	uint64_t limit, used; /* bytes of all entries */
	bool counted;	      /* `used` is known */
	char program[ID_MAX];
};

/* An entry's file; the words follow. */
struct entry {
	char magic[8];
	char program[ID_MAX]; /* build id of the program that wrote it: it knows the format */
	struct er_unwind_file file;
	struct unwind_counts counts;
	uint32_t nwords;
	uint32_t check; /* of the entry with check 0, and of the words */
};

static const char magic[8] = "ertable";

_Static_assert(sizeof(struct entry) == 8 + ID_MAX + sizeof(struct er_unwind_file) +
					       sizeof(struct unwind_counts) + 8,
	       "no padding: the checksum covers all bytes");

/* --- the directory --- */

static bool is_roots(const struct stat *st)
{
	return !st->st_uid && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static int open_dir(const char *dir, const char **why)
{
	struct stat st;
	int fd;

	if (mkdir(dir, 0700) && errno != EEXIST) {
		*why = "its directory cannot be created";
		return -1;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		*why = "it cannot be opened, or is not a directory";
	} else if (fstat(fd, &st) || !is_roots(&st)) {
		*why = "it does not belong to root, or others may write it";
		closep(&fd);
	}
	return fd;
}

static bool read_own_id(char ret[ID_MAX])
{
	__cleanup(closep) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	__cleanup(freep) char *id = fd < 0 ? NULL : elf_file_build_id(fd);

	if (!id || strlen(id) >= ID_MAX)
		return false;
	strncpy(ret, id, ID_MAX);
	return true;
}

struct table_cache *table_cache_open(const char *dir, uint64_t limit, const char **why)
{
	struct table_cache *c;

	if (geteuid()) {
		*why = "only root's recordings use it";
		return NULL;
	}
	c = xcalloc(1, sizeof(*c));
	c->limit = limit;
	c->dir = open_dir(dir, why);
	c->system = open(SYSTEM_DIR, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->dir >= 0 && !read_own_id(c->program))
		*why = "this program has no build id";
	else if (c->dir >= 0 && c->system < 0)
		*why = SYSTEM_DIR " cannot be opened";
	else if (c->dir >= 0)
		return c;
	table_cache_close(c);
	return NULL;
}

void table_cache_close(struct table_cache *c)
{
	if (!c)
		return;
	closep(&c->dir);
	closep(&c->system);
	free(c);
}

/* --- keys --- */

/*
 * Whether the path leads to this file from here, too. A container's files have paths of their own,
 * and root there may put anything into them. Neither links nor mounts are crossed, so no other
 * user's file system is asked.
 */
static bool is_ours(const struct table_cache *c, const char *path, const struct stat *st)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
				      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
						 RESOLVE_NO_XDEV };
	__cleanup(closep) int place = -1;
	struct stat here;

	if (strncmp(path, SYSTEM_DIR, strlen(SYSTEM_DIR)))
		return false;
	place = syscall(SYS_openat2, c->system, path + strlen(SYSTEM_DIR), &how, sizeof(how));
	return place >= 0 && !fstat(place, &here) && here.st_dev == st->st_dev &&
	       here.st_ino == st->st_ino;
}

bool table_cache_key(const struct table_cache *c, int fd, const char *path, struct table_key *ret)
{
	__cleanup(freep) char *id = NULL;
	struct stat st;

	if (opener_is_copy(fd) || fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_roots(&st) ||
	    !is_ours(c, path, &st))
		return false;
	id = elf_file_build_id(fd);
	if (!id || strlen(id) >= ID_MAX)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%s-%llx-%llx", id, (unsigned long long)st.st_size,
		 (unsigned long long)st.st_mtim.tv_sec * 1000000000ULL + st.st_mtim.tv_nsec);
	return true;
}

/* --- entries --- */

static uint32_t check_of(struct entry e, const __u32 *words)
{
	e.check = 0;
	return crc32(crc32(0, (const Bytef *)&e, sizeof(e)), (const Bytef *)words,
		     e.nwords * sizeof(*words));
}

static bool is_current(const struct table_cache *c, const struct entry *e)
{
	return !memcmp(e->magic, magic, sizeof(magic)) &&
	       !memcmp(e->program, c->program, sizeof(e->program));
}

/* Whether the file is an entry of root's, of this size. */
static bool has_size(int fd, uint64_t size, struct stat *st)
{
	return !fstat(fd, st) && S_ISREG(st->st_mode) && is_roots(st) &&
	       (uint64_t)st->st_size == size;
}

static bool read_entry(const struct table_cache *c, int fd, struct unwind_table *ret)
{
	struct entry e;
	struct stat st;
	size_t bytes;

	if (read(fd, &e, sizeof(e)) != sizeof(e) || !is_current(c, &e))
		return false;
	bytes = e.nwords * sizeof(*ret->words);
	if (!has_size(fd, sizeof(e) + bytes, &st))
		return false;
	*ret = (struct unwind_table){ .file = e.file, .nwords = e.nwords, .counts = e.counts };
	if (!unwind_table_is_sound(&ret->file, e.nwords))
		return false;
	ret->words = xmalloc(bytes);
	if (read(fd, ret->words, bytes) == (ssize_t)bytes && check_of(e, ret->words) == e.check) {
		if (st.st_mtim.tv_sec + USED_S < time(NULL))
			futimens(fd, NULL);
		return true;
	}
	unwind_table_free(ret);
	return false;
}

bool table_cache_load(struct table_cache *c, const struct table_key *key, struct unwind_table *ret)
{
	__cleanup(closep) int fd =
		openat(c->dir, key->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return fd >= 0 && read_entry(c, fd, ret);
}

/* --- the limit --- */

struct found {
	char name[sizeof(((struct table_key *)0)->name)];
	time_t used_s;
	uint64_t bytes;
};

typedef VEC(struct found) found_list;

static bool is_left_over(const char *name, const struct stat *st)
{
	size_t len = strlen(name), suffix = strlen(NEW_SUFFIX);

	return len > suffix && !strcmp(name + len - suffix, NEW_SUFFIX) &&
	       st->st_mtim.tv_sec + LEFT_S < time(NULL);
}

/* All entries. Removes what recorders left that were killed. */
static void list(const struct table_cache *c, found_list *ret)
{
	int fd = openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	struct stat st;

	if (!d) {
		closep(&fd);
		return;
	}
	while ((e = readdir(d))) {
		struct found f = { 0 };

		if (strlen(e->d_name) >= sizeof(f.name) ||
		    fstatat(c->dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		if (is_left_over(e->d_name, &st)) {
			unlinkat(c->dir, e->d_name, 0);
			continue;
		}
		strcpy(f.name, e->d_name);
		f.used_s = st.st_mtim.tv_sec;
		f.bytes = st.st_size;
		vec_push(ret, f);
	}
	closedir(d);
}

static int by_use(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return (x->used_s > y->used_s) - (x->used_s < y->used_s);
}

/* Drop what was not used for longest, until a quarter is free, so that this happens rarely. */
static void drop_old(struct table_cache *c)
{
	found_list all = { 0 };

	list(c, &all);
	c->used = 0;
	c->counted = true;
	vec_for_each (f, &all)
		c->used += f->bytes;
	if (c->used > c->limit) {
		qsort(all.data, all.len, sizeof(*all.data), by_use);
		for (size_t i = 0; i < all.len && c->used > c->limit / 4 * 3; i++)
			if (!unlinkat(c->dir, all.data[i].name, 0))
				c->used -= all.data[i].bytes;
	}
	vec_free(&all);
}

static bool write_entry(const struct table_cache *c, int fd, const struct unwind_table *t)
{
	struct entry e = { .file = t->file, .counts = t->counts, .nwords = t->nwords };
	size_t bytes = t->nwords * sizeof(*t->words);
	const struct iovec parts[] = { { &e, sizeof(e) }, { t->words, bytes } };

	memcpy(e.magic, magic, sizeof(magic));
	memcpy(e.program, c->program, sizeof(e.program));
	e.check = check_of(e, t->words);
	return writev(fd, parts, 2) == (ssize_t)(sizeof(e) + bytes);
}

void table_cache_save(struct table_cache *c, const struct table_key *key,
		      const struct unwind_table *t)
{
	__cleanup(freep) char *fresh = xasprintf("%s.%d" NEW_SUFFIX, key->name, getpid());
	__cleanup(closep) int fd = -1;

	if (!c->counted || c->used > c->limit)
		drop_old(c);
	fd = openat(c->dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write_entry(c, fd, t) && !renameat(c->dir, fresh, c->dir, key->name))
		c->used += sizeof(struct entry) + t->nwords * sizeof(*t->words);
	else
		unlinkat(c->dir, fresh, 0);
}
