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

struct file {
	ino_t ino;
	uint64_t bytes;
};

/* A directory of segments, which share its descriptor. */
struct place {
	int fd;
	size_t users;
};

struct kept {
	struct place *in;
	char *name, *path;
	dev_t dev;
	ino_t ino;
	VEC(struct file) files; /* when the segment was added: a row for each link */
};

struct retain {
	uint64_t quota, bytes;
	VEC(struct kept) segments; /* the oldest first */
	struct map links;          /* by inode: links to the file in all segments */
	struct map counted;        /* by inode: its share of `bytes` */
	void (*on_drop)(void *ctx, const char *path);
	void *ctx;
};

struct retain *retain_new(uint64_t quota)
{
	struct retain *r = xcalloc(1, sizeof(*r));

	r->quota = quota;
	return r;
}

static void place_leave(struct place *p)
{
	if (--p->users)
		return;
	close(p->fd);
	free(p);
}

static void kept_free(struct kept *k)
{
	place_leave(k->in);
	vec_free(&k->files);
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
	map_free(&r->links);
	map_free(&r->counted);
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

typedef void (*file_fn)(struct kept *k, int dirfd, const char *name, const struct stat *st);

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/*
 * Call fn for all below the directory that is on its file system, a directory after its contents.
 * Takes over fd.
 */
static void walk(struct kept *k, int fd, unsigned depth, file_fn fn)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct stat st;

		if (is_dots(e->d_name) || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    st.st_dev != k->dev)
			continue;
		if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
			walk(k, open_dir(fd, e->d_name), depth + 1, fn);
		fn(k, fd, e->d_name, &st);
	}
	if (dir)
		closedir(dir);
}

static void list_file(struct kept *k, int dirfd, const char *name, const struct stat *st)
{
	(void)dirfd;
	(void)name;
	vec_push(&k->files, (struct file){ st->st_ino, st->st_blocks * 512ULL });
}

static void erase(struct kept *k, int dirfd, const char *name, const struct stat *st)
{
	(void)k;
	unlinkat(dirfd, name, S_ISDIR(st->st_mode) ? AT_REMOVEDIR : 0);
}

/* --- bytes: a file counts once, however many links segments have to it --- */

static void count(struct retain *r, const struct kept *k)
{
	vec_for_each(f, &k->files) {
		uint64_t *links = map_put(&r->links, f->ino, NULL);

		if (!(*links)++) {
			*map_put(&r->counted, f->ino, NULL) = f->bytes;
			r->bytes += f->bytes;
		}
	}
}

/* Whether its files were removed or somebody moved them away: they are no longer ours to count. */
static void uncount(struct retain *r, const struct kept *k)
{
	vec_for_each(f, &k->files) {
		uint64_t *links = map_get(&r->links, f->ino);

		if (--*links)
			continue;
		map_remove(&r->links, f->ino);
		r->bytes -= *map_get(&r->counted, f->ino);
		map_remove(&r->counted, f->ino);
	}
}

/* --- segments --- */

static bool is_same(int a, int b)
{
	struct stat sa, sb;

	return !fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* The directory of the last segment, if it is this one, or another. NULL: it has no descriptor. */
static struct place *place_enter(struct retain *r, int dirfd)
{
	struct place *p = r->segments.len ? r->segments.data[r->segments.len - 1].in : NULL;
	int fd;

	if (!p || !is_same(p->fd, dirfd)) {
		fd = fcntl(dirfd, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			return NULL;
		p = xcalloc(1, sizeof(*p));
		p->fd = fd;
	}
	p->users++;
	return p;
}

bool retain_add(struct retain *r, int dirfd, const char *name, const char *path)
{
	struct kept k = { 0 };
	struct stat st;
	int fd;

	if (!r->quota)
		return false;
	fd = open_dir(dirfd, name);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || !(k.in = place_enter(r, dirfd))) {
		close(fd);
		return false;
	}
	k.name = xstrdup(name);
	k.path = xstrdup(path);
	k.dev = st.st_dev;
	k.ino = st.st_ino;
	walk(&k, fd, 1, list_file);
	count(r, &k);
	vec_push(&r->segments, k);
	return true;
}

/* The directory, if it is still the one that was added; else -ESTALE, or another -errno. */
static int open_kept(const struct kept *k)
{
	int fd = open_dir(k->in->fd, k->name);
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
		walk(k, fd, 1, erase);
		if (unlinkat(k->in->fd, k->name, AT_REMOVEDIR) < 0)
			diag_warn(d, "experiment '%s': cannot be removed for --keep: %s", k->path,
				  strerror(errno));
	}
	uncount(r, k);
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

void retain_clear(struct retain *r, struct diag *d)
{
	while (r->segments.len)
		drop_oldest(r, d);
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
