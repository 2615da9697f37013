/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"

/*
 * A file is sparse if its size is at least SPARSE_MIN bytes and more than SPARSE_TIMES its
 * blocks.
 */
#define SPARSE_MIN (1LL << 30)
enum { SPARSE_TIMES = 16, BLOCK = 512 };

static atomic_size_t pages_lost;

/*
 * An access behind the end of a truncated file: map a page of zeros there; the access is then
 * repeated. Any other SIGBUS ends the program, as without the handler.
 */
static void on_bus_error(int sig, siginfo_t *info, void *context)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *at = (char *)((uintptr_t)info->si_addr & ~(page - 1));

	if (info->si_code == BUS_ADRERR &&
	    mmap(at, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at)
		atomic_fetch_add(&pages_lost, 1);
	else if (signal(SIGBUS, SIG_DFL) != SIG_ERR)
		raise(SIGBUS);
}

void file_guard(void)
{
	const struct sigaction act = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };

	sigaction(SIGBUS, &act, NULL);
}

size_t file_pages_lost(void)
{
	return atomic_load(&pages_lost);
}

static off_t readable_size(int fd, const struct stat *st)
{
	off_t hole;

	if (st->st_size < SPARSE_MIN || st->st_size / SPARSE_TIMES < st->st_blocks * BLOCK)
		return st->st_size;
	hole = lseek(fd, 0, SEEK_HOLE);
	return hole < 0 ? st->st_size : hole;
}

int file_open_fd(int fd, struct file *ret)
{
	__cleanup(closep) int owned = fd;
	struct stat st;
	void *p = NULL;
	off_t size;

	*ret = (struct file){ 0 };
	if (fstat(owned, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	size = readable_size(owned, &st);
	if (size) {
		file_guard();
		p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, owned, 0);
		if (p == MAP_FAILED)
			return -errno;
	}
	ret->data = p;
	ret->size = size;
	ret->sparse = st.st_size - size;
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	ret->mtime_ns = st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec;
	return 0;
}

static int open_at(int dirfd, const char *path, bool follow, struct file *ret)
{
	__cleanup(closep) int place =
		openat(dirfd, path, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
	int fd = place < 0 ? -errno : file_open_place(place);

	*ret = (struct file){ 0 };
	return fd < 0 ? fd : file_open_fd(fd, ret);
}

int file_open_at(int dirfd, const char *path, struct file *ret)
{
	return open_at(dirfd, path, true, ret);
}

int file_open_plain_at(int dirfd, const char *path, struct file *ret)
{
	return open_at(dirfd, path, false, ret);
}

int file_open_regular(const char *path)
{
	__cleanup(closep) int place = open(path, O_PATH | O_CLOEXEC);
	int fd = place < 0 ? -errno : file_open_place(place);

	return fd < 0 ? -1 : fd;
}

int file_open_place(int place)
{
	char self[32];
	struct stat st;
	int fd;

	if (fstat(place, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISLNK(st.st_mode) ? -ELOOP : -EINVAL;
	/* A descriptor, unlike a name, always refers to the file that was checked. */
	snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
	fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

void file_close(struct file *f)
{
	if (f->data)
		munmap((void *)f->data, f->size);
	*f = (struct file){ 0 };
}

void file_release(const struct file *f, size_t from, size_t to)
{
	size_t page = sysconf(_SC_PAGESIZE), first = (from + page - 1) & ~(page - 1);

	to = (to < f->size ? to : f->size) & ~(page - 1);
	if (first < to)
		madvise((char *)f->data + first, to - first, MADV_DONTNEED);
}

bool file_path_fits(int fd, bool (*wanted)(const char *path))
{
	char link[32], path[PATH_MAX];
	ssize_t n;

	if (!wanted)
		return true;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	return wanted(path);
}
