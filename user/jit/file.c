/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/jit/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/space/opener.h"
#include "user/space/procmap.h"

void jit_file_open(struct jit_file *f, pid_t pid)
{
	*f = (struct jit_file){ .fd = -1 };
	jit_place_open(pid, &f->place);
}

void jit_file_close(struct jit_file *f)
{
	opener_close(&f->fd);
	jit_place_close(&f->place);
}

void jit_file_give_up(struct jit_file *f, int err)
{
	jit_file_close(f);
	f->err = err;
}

static void start_again(struct jit_file *f)
{
	f->offset = f->size = 0;
	f->nlast = 0;
}

/* True if the file does not continue what was read. */
static bool is_rewritten(const struct jit_file *f, uint64_t size)
{
	char now[JIT_FILE_LAST];

	return size < f->offset ||
	       pread(f->fd, now, f->nlast, f->offset - f->nlast) != (ssize_t)f->nlast ||
	       memcmp(now, f->last, f->nlast);
}

/*
 * Read the file that was opened now, in place of an older copy of it. Of a process that has ended
 * the older copy stays.
 */
static void take(struct jit_file *f, int fd)
{
	if (fd < 0 && f->fd >= 0)
		return;
	opener_close(&f->fd);
	if (fd >= 0)
		f->fd = fd;
	else if (fd != -ENOENT)
		f->err = fd;
}

/* The file grows, but a copy of it does not: a copy is made again each time. */
static bool must_open(const struct jit_file *f)
{
	return !f->err && (f->fd < 0 || opener_is_copy(f->fd));
}

/* A map that an earlier process has left may be there, and empty by now, when the dump is made. */
static bool has_empty_map(const struct jit_file *f)
{
	return f->format == JIT_PERF_MAP && f->fd >= 0 && !f->size;
}

void jit_file_prefer_dump(struct jit_file *f, const struct image *im)
{
	bool wanted = must_open(f) || has_empty_map(f);
	const struct mapping *m = wanted ? jit_place_dump_mapping(&f->place, im) : NULL;

	if (!m)
		return;
	f->format = JIT_DUMP;
	take(f, jit_place_dump(&f->place, m));
}

bool jit_file_code(const struct jit_file *f, uint64_t offset, void *to, size_t n)
{
	return f->fd >= 0 && pread(f->fd, to, n, offset) == (ssize_t)n;
}

bool jit_file_look(struct jit_file *f)
{
	uint64_t before = f->size;
	bool copy = f->fd >= 0 && opener_is_copy(f->fd);
	struct stat st;

	/* A map that was removed is read to its end before the next one of that name. */
	if (f->fd >= 0 && !copy && f->format == JIT_PERF_MAP && !fstat(f->fd, &st) && !st.st_nlink &&
	    (uint64_t)st.st_size == f->size) {
		opener_close(&f->fd);
		start_again(f);
		before = 0;
	}
	if (must_open(f) && f->format == JIT_PERF_MAP && f->place.dir >= 0)
		take(f, jit_place_map(&f->place));
	if (f->fd < 0 || fstat(f->fd, &st) < 0)
		return false;
	if (is_rewritten(f, st.st_size)) {
		start_again(f);
		before = 0;
	}
	f->size = st.st_size;
	if (f->size > f->offset && f->taken >= JIT_FILE_BYTES)
		jit_file_give_up(f, -EFBIG);
	return f->fd >= 0 && f->size > f->offset && f->size != before;
}

bool jit_file_advance(struct jit_file *f, size_t n)
{
	f->offset += n;
	f->taken += n;
	f->nlast = f->offset < JIT_FILE_LAST ? f->offset : JIT_FILE_LAST;
	/* A file that was cut meanwhile differs at the next look. */
	if (pread(f->fd, f->last, f->nlast, f->offset - f->nlast) != (ssize_t)f->nlast)
		memset(f->last, 0, sizeof(f->last));
	return n && f->offset < f->size && f->taken < JIT_FILE_BYTES;
}
