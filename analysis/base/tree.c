/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/copy.h"
#include "analysis/base/diag.h"
#include "analysis/base/vec.h"

/* An experiment has three levels. Each open level costs a descriptor. */
enum { DEPTH_MAX = 32 };

struct entry {
	char *name;
	int rank;
};

typedef VEC(struct entry) entry_vec;

/*
 * The recorder writes stacks and maps before the packets that refer to them, and the exit event
 * last. The copy goes the other way: first the log, then packets, then the rest. So everything
 * that the copy refers to is in the copy.
 */
static int rank_of(const char *name)
{
	static const char *const first[] = { "log.xml", "profile", "synctrace", "hwcounters",
					     "heaptrace", "iotrace", "spans", "probes", "overview" };
	int n = sizeof(first) / sizeof(first[0]);

	for (int i = 0; i < n; i++) {
		if (!strcmp(name, first[i]))
			return i;
	}
	return n;
}

static int entry_cmp(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	return a->rank != b->rank ? a->rank - b->rank : strcmp(a->name, b->name);
}

static void entries_free(entry_vec *v)
{
	vec_for_each(e, v)
		free(e->name);
	vec_free(v);
}

/* Read the entries of the directory open at fd, which the caller keeps. Returns 0 or -errno. */
static int entries_read(int fd, entry_vec *ret)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	struct dirent *e;
	int err;

	if (!dir)
		return -errno;
	for (errno = 0; (e = readdir(dir)); errno = 0) {
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			vec_push(ret, (struct entry){ xstrdup(e->d_name), rank_of(e->d_name) });
	}
	err = -errno;
	closedir(dir);
	vec_sort(ret, entry_cmp);
	return err;
}

static int open_dir(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* --- copying --- */

static int copy_dir(const struct tree_copy *c, int depth, struct diag *d);

static void keep_attributes(const struct tree_copy *c, const struct stat *st, int out)
{
	const struct timespec times[2] = { st->st_atim, st->st_mtim };

	/*
	 * Before the mode, because a change of owner clears the set-id bits. Failures are
	 * ignored: an attribute that the caller may not set is not kept.
	 */
	if (c->owners && fchown(out, st->st_uid, st->st_gid) < 0)
		errno = 0;
	if (fchmod(out, st->st_mode & 0777) < 0 || futimens(out, times) < 0)
		errno = 0;
}

static int copy_regular(const struct tree_copy *c, struct diag *d)
{
	__cleanup(closep) int in = openat(c->from, c->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC |
							    O_NONBLOCK | O_NOCTTY);
	__cleanup(closep) int out = -1;
	const struct copy_order order = { .stop = c->stop, .relief = c->relief, .ctx = c->ctx };
	struct stat st;
	int err;

	if (in < 0 || fstat(in, &st) < 0)
		return diag_errno(d, errno, "%s: cannot read", c->path);
	if (!S_ISREG(st.st_mode))
		return diag_error(d, "%s: was replaced while it was copied", c->path);
	out = openat(c->to, c->copy, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return diag_errno(d, errno, "%s: cannot create the copy", c->path);
	err = fd_copy(in, out, &order);
	if (err == -EINTR)
		return diag_error(d, "%s: interrupted", c->path);
	if (err)
		return diag_errno(d, -err, "%s: cannot copy", c->path);
	keep_attributes(c, &st, out);
	return 0;
}

/* Link the copy to an earlier one of the same file. False: there is none, or linking failed. */
static bool link_copy(const struct tree_copy *c, const struct stat *st)
{
	uint64_t *at;

	if (!c->links || st->st_nlink < 2)
		return false;
	at = map_put(&c->links->at, st->st_ino, NULL);
	if (*at)
		return !linkat(c->links->root, c->links->copies.data[*at - 1], c->to, c->copy, 0);
	vec_push(&c->links->copies, xstrdup(c->path));
	*at = c->links->copies.len;
	return false;
}

void tree_links_free(struct tree_links *l)
{
	vec_for_each(copy, &l->copies)
		free(*copy);
	vec_free(&l->copies);
	map_free(&l->at);
}

static int copy_link(const struct tree_copy *c, struct diag *d)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(c->from, c->name, target, sizeof(target) - 1);

	if (n < 0)
		return diag_errno(d, errno, "%s: cannot read", c->path);
	target[n] = '\0';
	if (symlinkat(target, c->to, c->copy) < 0)
		return diag_errno(d, errno, "%s: cannot create the copy", c->path);
	return 0;
}

static int copy_entry(const struct tree_copy *c, int depth, struct diag *d)
{
	struct stat st;

	if (fstatat(c->from, c->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		/* The recorder replaces files: a temporary file may no longer exist. */
		return errno == ENOENT ? 0 : diag_errno(d, errno, "%s: cannot read", c->path);
	}
	if (S_ISDIR(st.st_mode))
		return copy_dir(c, depth + 1, d);
	if (S_ISREG(st.st_mode))
		return link_copy(c, &st) ? 0 : copy_regular(c, d);
	if (S_ISLNK(st.st_mode))
		return copy_link(c, d);
	diag_warn(d, "%s: is neither file nor directory: not copied", c->path);
	return 0;
}

static int copy_entries(const struct tree_copy *c, int from, int to, int depth, struct diag *d)
{
	entry_vec entries = { 0 };
	int err = entries_read(from, &entries);

	if (err)
		diag_errno(d, -err, "%s: cannot read", c->path);
	for (size_t i = 0; !err && i < entries.len; i++) {
		const char *name = entries.data[i].name;
		__cleanup(freep) char *path = xasprintf("%s/%s", c->path, name);
		struct tree_copy entry = *c;

		entry.from = from;
		entry.to = to;
		entry.name = entry.copy = name;
		entry.path = path;
		err = copy_entry(&entry, depth, d);
		if (c->relief)
			c->relief(c->ctx);
	}
	entries_free(&entries);
	return err ? -1 : 0;
}

static int copy_dir(const struct tree_copy *c, int depth, struct diag *d)
{
	__cleanup(closep) int from = open_dir(c->from, c->name);
	__cleanup(closep) int to = -1;
	struct stat st;

	if (from < 0 || fstat(from, &st) < 0)
		return diag_errno(d, from < 0 ? -from : errno, "%s: cannot open", c->path);
	if (depth > DEPTH_MAX)
		return diag_error(d, "%s: directories are nested too deep", c->path);
	if (mkdirat(c->to, c->copy, 0700) < 0)
		return diag_errno(d, errno, "%s: cannot create the copy", c->path);
	to = open_dir(c->to, c->copy);
	if (to < 0)
		return diag_errno(d, -to, "%s: cannot open the copy", c->path);
	if (copy_entries(c, from, to, depth, d))
		return -1;
	keep_attributes(c, &st, to);
	return 0;
}

int tree_copy(const struct tree_copy *c, struct diag *d)
{
	struct stat st;
	bool was_there = fstatat(c->to, c->copy, &st, AT_SYMLINK_NOFOLLOW) == 0;
	int err = copy_dir(c, 0, d);

	if (err && !was_there && fstatat(c->to, c->copy, &st, AT_SYMLINK_NOFOLLOW) == 0)
		tree_remove(c->to, c->copy, c->path, d);
	return err ? -1 : 0;
}

/* --- removing --- */

struct removal {
	dev_t dev; /* the tree's file system */
	struct diag *d;
};

static int remove_dir(const struct removal *r, int dir, const char *name, const char *path,
		      int depth);

static int remove_entry(const struct removal *r, int dir, const char *name, const char *path,
			int depth)
{
	if (!unlinkat(dir, name, 0) || errno == ENOENT)
		return 0;
	/* For a directory POSIX specifies EPERM; Linux returns EISDIR. */
	if (errno != EISDIR && errno != EPERM)
		return diag_errno(r->d, errno, "%s: cannot remove", path);
	return remove_dir(r, dir, name, path, depth);
}

static int remove_entries(const struct removal *r, int dir, const char *path, int depth)
{
	entry_vec entries = { 0 };
	int err = entries_read(dir, &entries);

	if (err)
		diag_errno(r->d, -err, "%s: cannot read", path);
	for (size_t i = 0; !err && i < entries.len; i++) {
		const char *name = entries.data[i].name;
		__cleanup(freep) char *below = xasprintf("%s/%s", path, name);

		err = remove_entry(r, dir, name, below, depth);
	}
	entries_free(&entries);
	return err ? -1 : 0;
}

static int remove_dir(const struct removal *r, int dir, const char *name, const char *path,
		      int depth)
{
	__cleanup(closep) int fd = open_dir(dir, name);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return diag_errno(r->d, fd < 0 ? -fd : errno, "%s: cannot open", path);
	if (st.st_dev != r->dev)
		return diag_error(r->d, "%s: is on another file system: unmount it first", path);
	if (depth > DEPTH_MAX)
		return diag_error(r->d, "%s: directories are nested too deep", path);
	if (remove_entries(r, fd, path, depth + 1))
		return -1;
	if (unlinkat(dir, name, AT_REMOVEDIR) < 0)
		return diag_errno(r->d, errno, "%s: cannot remove", path);
	return 0;
}

int tree_remove(int dir, const char *name, const char *path, struct diag *d)
{
	struct removal r = { .d = d };
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return diag_errno(d, errno, "%s: cannot remove", path);
	r.dev = st.st_dev;
	return remove_dir(&r, dir, name, path, 0) ? -1 : 0;
}
