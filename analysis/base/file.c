/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"

int file_open_fd(int fd, struct file *ret)
{
	__cleanup(closep) int owned = fd;
	struct stat st;
	void *p = NULL;

	*ret = (struct file){ 0 };
	if (fstat(owned, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size) {
		p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, owned, 0);
		if (p == MAP_FAILED)
			return -errno;
	}
	ret->data = p;
	ret->size = st.st_size;
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	ret->mtime_ns = st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec;
	return 0;
}

int file_open_at(int dirfd, const char *path, struct file *ret)
{
	/* O_NONBLOCK: a FIFO planted under this name must not hang the reader. */
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	*ret = (struct file){ 0 };
	return fd < 0 ? -errno : file_open_fd(fd, ret);
}

void file_close(struct file *f)
{
	if (f->data)
		munmap((void *)f->data, f->size);
	*f = (struct file){ 0 };
}
