/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/copy.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "analysis/base/alloc.h"

enum { CHUNK = 1024 * 1024 };

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

static bool stopped(const volatile int *stop)
{
	return stop && *stop;
}

/* From `at` to the end, by reading and writing, where the kernel cannot do it alone. */
static int copy_by_hand(int in, int out, off_t at, const volatile int *stop)
{
	__cleanup(freep) char *chunk = xmalloc(CHUNK);
	ssize_t n;
	int err = 0;

	while (!err && (n = pread(in, chunk, CHUNK, at)) != 0) {
		if (stopped(stop))
			return -EINTR;
		if (n < 0 && errno == EINTR)
			continue;
		err = n < 0 ? -errno : fd_write(out, chunk, n);
		at += n;
	}
	return err;
}

int fd_copy(int in, int out, const volatile int *stop)
{
	off_t at = 0;
	ssize_t n;

	do {
		if (stopped(stop))
			return -EINTR;
		n = copy_file_range(in, &at, out, NULL, CHUNK, 0);
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (!n)
		return 0;
	if (errno == EXDEV || errno == EINVAL || errno == EOPNOTSUPP || errno == ENOSYS)
		return copy_by_hand(in, out, at, stop);
	return -errno;
}
