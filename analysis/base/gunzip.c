/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/gunzip.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/file.h"

enum {
	STEP = 256 << 10,
	GZIP = 16,         /* a header and a checksum, in zlib's count of bits */
	FIRST_BYTE = 0x1f, /* of a member's header */
};

static int write_all(int fd, const unsigned char *p, size_t n)
{
	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno != EINTR)
			return -errno;
		if (k > 0) {
			p += k;
			n -= k;
		}
	}
	return 0;
}

/* Give zlib the next part: it counts in 32 bits. False: there is none. */
static bool feed(z_stream *s, const struct file *in, size_t *at)
{
	size_t n = in->size - *at;

	if (s->avail_in || !n)
		return s->avail_in;
	s->next_in = (unsigned char *)in->data + *at;
	s->avail_in = n < STEP ? n : STEP;
	*at += s->avail_in;
	return true;
}

/* One piece of output. 0, or as gunzip_to; *ended: at the end of a member. */
static int step(z_stream *s, unsigned char *out, int fd, size_t *left, bool *ended)
{
	size_t n;
	int r, err;

	s->next_out = out;
	s->avail_out = STEP;
	r = inflate(s, Z_NO_FLUSH);
	n = STEP - s->avail_out;
	err = write_all(fd, out, n < *left ? n : *left);
	*ended = r == Z_STREAM_END;
	if (err)
		return err;
	if (n > *left)
		return -EFBIG;
	*left -= n;
	return r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR ? 0 : -EIO;
}

int gunzip_to(const struct file *in, int fd, size_t max)
{
	__cleanup(freep) unsigned char *out = xmalloc(STEP);
	z_stream s = { 0 };
	bool ended = false;
	size_t at = 0;
	int err = 0;

	if (inflateInit2(&s, GZIP + MAX_WBITS) != Z_OK)
		return -ENOMEM;
	while (!err && feed(&s, in, &at)) {
		/* A file may have several members, one after the other. */
		if (ended && *s.next_in != FIRST_BYTE) {
			err = -EIO;
			break;
		}
		if (ended)
			inflateReset(&s);
		do
			err = step(&s, out, fd, &max, &ended);
		while (!err && !ended && !s.avail_out);
	}
	inflateEnd(&s);
	return err ? err : !ended;
}

int gunzip_file(struct file *f, size_t max)
{
	int fd = memfd_create("uncompressed", MFD_CLOEXEC), ret, err;

	if (fd < 0) {
		ret = -errno;
		file_close(f);
		return ret;
	}
	ret = gunzip_to(f, fd, max);
	file_close(f);
	err = file_open_fd(fd, f);
	return err ? err : ret;
}
