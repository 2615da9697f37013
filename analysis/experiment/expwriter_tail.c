/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Appends to packet files by a mapping. A few hundred processes are flushed five times
 * a second, with some hundred bytes each, and write(2) takes 6 us for that on ext4,
 * mostly to update the file's size and time. So the end of such a file is preallocated
 * and mapped, as gprofng collect does, and data is copied there. Like written data, it
 * survives a SIGKILL. Behind it are zeros, which end a packet file for every reader;
 * closing the file cuts them off.
 *
 * This is only an optimization: files that cannot be mapped are written. So are large
 * pieces, because faulting in a fresh page costs more than a write.
 *
 * Another process may cut the file meanwhile. A copy behind the new end is discarded
 * (file_guard). A copy to the page that the file now ends in is noticed when the next
 * piece is mapped or the file is closed. Both are errors: -ESTALE.
 */
#include "analysis/experiment/expwriter_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "analysis/base/file.h"

enum {
	SMALL = 1024,   /* a piece below this many bytes is small */
	OFTEN = 4,      /* map after so many small pieces in a row */
	CHUNK = 16 << 10, /* mapped at a time; readers that meet a zero skip to this boundary */
	WORD = 4,       /* a packet's size and type */
};

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* Other file systems may find no block when the page is touched: SIGBUS. */
static bool keeps_what_it_allocates(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && (fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC ||
				     fs.f_type == TMPFS_MAGIC);
}

/* 1: the file, of `size` bytes, can be mapped. 0: it cannot. -ESTALE: it has another size. */
static int begin(struct tail *t, int fd, uint64_t size)
{
	struct stat st;

	if (!keeps_what_it_allocates(fd) || fstat(fd, &st) < 0)
		return 0;
	if ((uint64_t)st.st_size != size)
		return -ESTALE;
	t->size = size;
	file_guard();
	return 1;
}

/* Whether the file still has the size that we gave it. */
static bool is_whole(const struct tail *t, int fd)
{
	struct stat st;

	return !t->end || (!fstat(fd, &st) && (uint64_t)st.st_size == t->end);
}

static void unmap(struct tail *t)
{
	if (t->map)
		munmap(t->map, t->end - t->start);
	t->map = NULL;
}

/*
 * Map the file from its last page of data, with room for n more bytes. 1: mapped. 0:
 * cannot be mapped. -errno.
 */
static int extend(struct tail *t, int fd, size_t n)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	void *p;

	unmap(t);
	if (!is_whole(t, fd))
		return -ESTALE;
	t->start = t->size & ~(page - 1);
	t->end = (t->size + n + CHUNK - 1) & ~(uint64_t)(CHUNK - 1);
	if (fallocate(fd, 0, t->size, t->end - t->size) < 0) {
		t->end = 0;
		return ftruncate(fd, t->size) < 0 ? -errno : 0; /* undo a partial allocation */
	}
	p = mmap(NULL, t->end - t->start, PROT_READ | PROT_WRITE, MAP_SHARED, fd, t->start);
	t->map = p == MAP_FAILED ? NULL : p;
	return t->map ? 1 : 0;
}

/*
 * Append to the mapping. The first word is stored last: until then it is zero, so
 * readers see the end of the file there. 1 or -errno.
 */
static int copy(struct tail *t, const char *data, size_t n)
{
	unsigned char *to = t->map + (t->size - t->start);
	size_t lost = file_pages_lost();

	memcpy(to + WORD, data + WORD, n - WORD);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(to, data, WORD);
	t->size += n;
	return file_pages_lost() == lost ? 1 : -ESTALE;
}

int tail_append(struct tail *t, int fd, uint64_t size, const char *data, size_t n)
{
	int ready = 1;

	if (t->refused || n < WORD)
		return 0;
	if (!t->map) {
		t->nsmall = n < SMALL ? t->nsmall + 1 : 0;
		if (t->nsmall < OFTEN)
			return 0;
		ready = begin(t, fd, size);
	}
	if (ready > 0 && (!t->map || t->size + n > t->end))
		ready = extend(t, fd, n);
	if (ready < 0)
		return ready;
	t->refused |= !ready;
	if (t->refused)
		return tail_close(t, fd);
	return copy(t, data, n);
}

int tail_close(struct tail *t, int fd)
{
	int err = 0;

	unmap(t);
	if (!is_whole(t, fd))
		err = -ESTALE;
	else if (t->end && ftruncate(fd, t->size) < 0)
		err = -errno;
	t->end = 0;
	return err;
}
