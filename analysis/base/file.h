/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file read whole: mapped, so that a large one costs no memory of ours. What
 * is lent from it is valid until file_close. Only regular files are opened.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file {
	const unsigned char *data; /* NULL when empty */
	size_t size;
	dev_t dev;
	ino_t ino;
	int64_t mtime_ns;
};

/*
 * Open path relative to dirfd (AT_FDCWD for the current directory). 0 or
 * -errno; never reports, for a missing file is often no error. -EINVAL for
 * what is not a regular file.
 */
int file_open_at(int dirfd, const char *path, struct file *ret);
/* Take over an open descriptor (closed in any case). */
int file_open_fd(int fd, struct file *ret);
void file_close(struct file *f);

#endif
