/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that grow by little and often. A few hundred processes are flushed five
 * times a second, some hundred bytes each, and write(2) takes 6 us for that on ext4, most of
 * it to note the new size and time of the file. So the end of such a file of
 * packets is preallocated and mapped, as collect does with its files, and what is
 * flushed is copied there: that outlives SIGKILL just as well. Behind it are
 * zeros, which end a file of packets for every reader; closing cuts them off.
 *
 * This is a short cut, never a need: what cannot be mapped is written. So are
 * large pieces, for a fresh page of a mapping costs more than a write.
 *
 * Somebody else may cut the file meanwhile. What is copied behind its end goes
 * nowhere (file_guard), and what is copied into the page that it ends in is noticed when the
 * next piece is mapped or the file is closed. Either is an error: -ESTALE.
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
	SMALL = 1024,   /* bytes of a piece */
	OFTEN = 4,      /* so many of them in turn */
	CHUNK = 16 << 10, /* mapped at a time; to where readers go on that meet a zero */
	WORD = 4,       /* a packet's size and kind */
};

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* Others may lack the block when the page is touched, and that is SIGBUS. */
static bool keeps_what_it_allocates(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && (fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC ||
				     fs.f_type == TMPFS_MAGIC);
}

static bool begin(struct tail *t, int fd)
{
	struct stat st;

	if (!keeps_what_it_allocates(fd) || fstat(fd, &st) < 0)
		return false;
	t->size = st.st_size;
	file_guard();
	return true;
}

/* Is the file as long as we made it? */
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

/* Map the file from the page that its data end in, with room for n bytes. 1, 0 or -errno. */
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
		return ftruncate(fd, t->size) < 0 ? -errno : 0; /* it may have come half the way */
	}
	p = mmap(NULL, t->end - t->start, PROT_READ | PROT_WRITE, MAP_SHARED, fd, t->start);
	t->map = p == MAP_FAILED ? NULL : p;
	return t->map ? 1 : 0;
}

/*
 * Its first word comes last: until then a zero stands there, and the file ends before it.
 * 1 or -errno.
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

int tail_append(struct tail *t, int fd, const char *data, size_t n)
{
	int ready = 1;

	if (t->refused || n < WORD)
		return 0;
	if (!t->map) {
		t->nsmall = n < SMALL ? t->nsmall + 1 : 0;
		if (t->nsmall < OFTEN)
			return 0;
		t->refused = !begin(t, fd);
	}
	if (!t->refused && (!t->map || t->size + n > t->end))
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
