/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/retain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"

enum { MAX_DEPTH = 3 }; /* a segment, a sub-experiment or archives, and one to spare */

struct kept {
	int dirfd;
	char *name, *path;
	dev_t dev;
	ino_t ino;
	uint64_t bytes; /* of files with one link */
};

struct retain {
	uint64_t quota, bytes;
	VEC(struct kept) segments; /* the oldest first */
	struct map shared;         /* inode of a file with several links, to the segments with it */
	void (*on_drop)(void *ctx, const char *path);
	void *ctx;
};

struct retain *retain_new(uint64_t quota)
{
	struct retain *r = xcalloc(1, sizeof(*r));

	r->quota = quota;
	return r;
}

static void kept_free(struct kept *k)
{
	close(k->dirfd);
	free(k->name);
	free(k->path);
}

void retain_free(struct retain *r)
{
	if (!r)
		return;
	vec_for_each(k, &r->segments)
		kept_free(k);
	vec_free(&r->segments);
	map_free(&r->shared);
	free(r);
}

void retain_on_drop(struct retain *r, void (*fn)(void *ctx, const char *path), void *ctx)
{
	r->on_drop = fn;
	r->ctx = ctx;
}

uint64_t retain_bytes(const struct retain *r)
{
	return r->bytes;
}

/* --- walks through a directory --- */

static int open_dir(int dirfd, const char *name)
{
	return openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

typedef void (*file_fn)(struct retain *r, struct kept *k, int dirfd, const char *name,
			const struct stat *st);

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Call fn for all below the directory, a directory after its contents. Takes over fd. */
static void walk(struct retain *r, struct kept *k, int fd, unsigned depth, file_fn fn)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct stat st;

		if (is_dots(e->d_name) || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
			walk(r, k, open_dir(fd, e->d_name), depth + 1, fn);
		fn(r, k, fd, e->d_name, &st);
	}
	if (dir)
		closedir(dir);
}

/* Archives are hard links once another segment needs them, so any of them may be shared. */
static void count(struct retain *r, struct kept *k, int dirfd, const char *name,
		  const struct stat *st)
{
	uint64_t bytes = st->st_blocks * 512ULL, *users;

	(void)dirfd;
	(void)name;
	if (!S_ISREG(st->st_mode) || st->st_nlink < 2) {
		k->bytes += bytes;
		return;
	}
	users = map_put(&r->shared, st->st_ino, NULL);
	if (!(*users)++)
		r->bytes += bytes;
}

static void erase(struct retain *r, struct kept *k, int dirfd, const char *name,
		  const struct stat *st)
{
	uint64_t *users = S_ISREG(st->st_mode) ? map_get(&r->shared, st->st_ino) : NULL;

	(void)k;
	if (unlinkat(dirfd, name, S_ISDIR(st->st_mode) ? AT_REMOVEDIR : 0) < 0 || !users)
		return;
	if (--*users)
		return;
	map_remove(&r->shared, st->st_ino);
	r->bytes -= st->st_blocks * 512ULL;
}

/* --- segments --- */

void retain_add(struct retain *r, int dirfd, const char *name, const char *path)
{
	struct kept k = { .dirfd = -1 };
	struct stat st;
	int fd;

	if (!r->quota)
		return;
	fd = open_dir(dirfd, name);
	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
	    (k.dirfd = fcntl(dirfd, F_DUPFD_CLOEXEC, 0)) < 0) {
		close(fd);
		return;
	}
	k.name = xstrdup(name);
	k.path = xstrdup(path);
	k.dev = st.st_dev;
	k.ino = st.st_ino;
	walk(r, &k, fd, 1, count);
	r->bytes += k.bytes;
	vec_push(&r->segments, k);
}

/* The directory, if it is still the one that was added; else -ESTALE, or another -errno. */
static int open_kept(const struct kept *k)
{
	int fd = open_dir(k->dirfd, k->name);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_dev == k->dev && st.st_ino == k->ino &&
	    st.st_uid == geteuid())
		return fd;
	close(fd);
	return -ESTALE;
}

static void drop_oldest(struct retain *r, struct diag *d)
{
	struct kept *k = &r->segments.data[0];
	int fd = open_kept(k);

	if (r->on_drop)
		r->on_drop(r->ctx, k->path);
	/* A user may remove or rename a segment at any time; then it is no longer ours to keep. */
	if (fd < 0 && fd != -ENOENT)
		diag_warn(d, "experiment '%s': is no longer what was recorded there: left alone",
			  k->path);
	if (fd >= 0) {
		walk(r, k, fd, 1, erase);
		if (unlinkat(k->dirfd, k->name, AT_REMOVEDIR) < 0)
			diag_warn(d, "experiment '%s': cannot be removed for --keep: %s", k->path,
				  strerror(errno));
	}
	r->bytes -= k->bytes;
	kept_free(k);
	memmove(k, k + 1, --r->segments.len * sizeof(*k));
}

bool retain_drop_oldest(struct retain *r, struct diag *d)
{
	if (r->segments.len < 2)
		return false;
	drop_oldest(r, d);
	return true;
}

size_t retain_make_room(struct retain *r, uint64_t more, struct diag *d)
{
	size_t n = 0;

	while (r->segments.len > 1 && r->bytes + more > r->quota) {
		drop_oldest(r, d);
		n++;
	}
	return n;
}
