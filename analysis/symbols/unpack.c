/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/unpack.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <lzma.h>
#include <zstd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/file.h"
#include "analysis/base/gunzip.h"

enum { STEP = 256 * 1024, UNPACKED_MAX = 512 * 1024 * 1024, DECODER_MEMORY = 256 * 1024 * 1024 };

const char *const unpack_endings[] = { ".xz", ".zst", ".gz", NULL };

/* Receives the content; `step` is a buffer for part of it. */
struct target {
	int fd;
	size_t size;
	unsigned char step[STEP];
};

static bool put(struct target *t, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t put = write(t->fd, t->step + at, n - at);

		if (put <= 0)
			return false;
		at += put;
	}
	t->size += n;
	return t->size <= UNPACKED_MAX;
}

static bool unpack_xz(const struct file *in, struct target *t)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret r = lzma_stream_decoder(&s, DECODER_MEMORY, LZMA_CONCATENATED);

	s.next_in = in->data;
	s.avail_in = in->size;
	while (r == LZMA_OK) {
		s.next_out = t->step;
		s.avail_out = STEP;
		r = lzma_code(&s, LZMA_FINISH);
		if (!put(t, STEP - s.avail_out))
			r = LZMA_MEM_ERROR;
	}
	lzma_end(&s);
	return r == LZMA_STREAM_END;
}

static bool unpack_gz(const struct file *in, struct target *t)
{
	return gunzip_to(in, t->fd, UNPACKED_MAX) == 0;
}

static bool unpack_zst(const struct file *in, struct target *t)
{
	ZSTD_DCtx *c = ZSTD_createDCtx();
	ZSTD_inBuffer from = { .src = in->data, .size = in->size };
	size_t left = 1;
	bool ok = c;

	while (ok && (left || from.pos < from.size)) {
		ZSTD_outBuffer to = { .dst = t->step, .size = STEP };
		size_t had = from.pos;

		left = ZSTD_decompressStream(c, &to, &from);
		ok = !ZSTD_isError(left) && (to.pos || from.pos > had) && put(t, to.pos);
	}
	ZSTD_freeDCtx(c);
	return ok;
}

static const struct {
	const char *magic;
	size_t len;
	bool (*unpack)(const struct file *in, struct target *t);
} forms[] = {
	{ "\xfd" "7zXZ\0", 6, unpack_xz },
	{ "\x1f\x8b", 2, unpack_gz },
	{ "\x28\xb5\x2f\xfd", 4, unpack_zst },
};

int unpack_open(int fd, const char *path, struct diag *d)
{
	bool (*unpack)(const struct file *in, struct target *t) = NULL;
	struct target *t;
	struct file in;
	int own = dup(fd), ret;

	if (own < 0 || file_open_fd(own, &in))
		return fd;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (in.size > forms[i].len && !memcmp(in.data, forms[i].magic, forms[i].len))
			unpack = forms[i].unpack;
	}
	if (!unpack) {
		file_close(&in);
		return fd;
	}
	t = xcalloc(1, sizeof(*t));
	t->fd = ret = memfd_create("unpacked", MFD_CLOEXEC);
	if (ret < 0 || !unpack(&in, t)) {
		diag_warn(d, "%s: not used: it is damaged or implausibly large", path);
		if (ret >= 0)
			close(ret);
		ret = -1;
	}
	free(t);
	file_close(&in);
	close(fd);
	return ret;
}
