/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/copy.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"

/* A disk that writes 2 MB a second holds up the caller's relief by an eighth of a second. */
enum { CHUNK = 256 * 1024 };

int fd_write(int fd, const void *p, size_t n)
{
	const char *at = p;

	while (n) {
		ssize_t done = write(fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		at += done;
		n -= done;
	}
	return 0;
}

struct copy {
	int in, out;
	off_t base; /* offset in `out` of the copy's first byte */
	const struct copy_order *order;
	char *chunk; /* NULL while copy_file_range works */
};

/*
 * Copy by reading and writing, where copy_file_range does not work. Returns the bytes copied,
 * or -errno.
 */
static ssize_t copy_by_hand(struct copy *c, off_t at, size_t n)
{
	ssize_t got = pread(c->in, c->chunk, n, at);

	for (ssize_t done = 0, put; done < got; done += put) {
		put = pwrite(c->out, c->chunk + done, got - done, c->base + at + done);
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
	}
	return got < 0 ? -errno : got;
}

static ssize_t copy_some(struct copy *c, off_t at, size_t n)
{
	loff_t from = at, to = c->base + at;
	ssize_t done = c->chunk ? -1 : copy_file_range(c->in, &from, c->out, &to, n, 0);

	if (done >= 0)
		return done;
	if (!c->chunk && errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	if (!c->chunk)
		c->chunk = xmalloc(CHUNK);
	return copy_by_hand(c, at, n);
}

/* Copy [from, to), or up to the end of the file if it has become shorter. */
static int copy_data(struct copy *c, off_t from, off_t to)
{
	const struct copy_order *o = c->order;

	while (from < to) {
		size_t n = to - from < CHUNK ? to - from : CHUNK;
		ssize_t done;

		if (o->stop && *o->stop)
			return -EINTR;
		if (o->room && n > *o->room)
			return -EFBIG;
		done = copy_some(c, from, n);
		if (done == -EINTR)
			continue;
		if (done <= 0)
			return done;
		if (o->room)
			*o->room -= done;
		from += done;
		if (o->relief)
			o->relief(o->ctx);
	}
	return 0;
}

static int copy_extents(struct copy *c, off_t size)
{
	off_t hole = 0;
	int err = 0;

	while (!err && hole < size) {
		off_t data = lseek(c->in, hole, SEEK_DATA);

		if (data < 0 && errno == ENXIO)
			break;
		/* A file system without SEEK_DATA: all is data. */
		if (data < 0)
			data = hole;
		hole = lseek(c->in, data, SEEK_HOLE);
		if (hole < 0 || hole > size)
			hole = size;
		err = copy_data(c, data, hole);
	}
	return err;
}

/*
 * Whether the copy cannot fit, as far as the file's blocks tell. Without this, a program with
 * thousands of names for one large file would have it copied that often, and each time in vain.
 */
static bool too_large(const struct stat *st, const uint64_t *room)
{
	enum { BLOCK = 512 };
	uint64_t blocks = (uint64_t)st->st_blocks * BLOCK;

	return room && (blocks < (uint64_t)st->st_size ? blocks : (uint64_t)st->st_size) > *room;
}

int fd_copy(int in, int out, const struct copy_order *o)
{
	struct copy c = { .in = in, .out = out, .base = lseek(out, 0, SEEK_CUR), .order = o };
	struct stat st;
	int err;

	if (c.base < 0 || fstat(in, &st) < 0)
		return -errno;
	if (too_large(&st, o->room))
		return -EFBIG;
	err = copy_extents(&c, st.st_size);
	free(c.chunk);
	/*
	 * Set the length, for a file that ends with a hole. If the file was truncated
	 * meanwhile, use its new length.
	 */
	if (!err && (fstat(in, &st) < 0 || ftruncate(out, c.base + st.st_size) < 0))
		err = -errno;
	return err;
}
