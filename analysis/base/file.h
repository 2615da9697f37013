/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file read whole: mapped, so that a large one costs no memory of ours. What
 * is lent from it is valid until file_close. Only regular files are opened.
 *
 * A file may shrink while it is mapped: others write it. What is gone then
 * reads as zeros (file_guard), as holes do.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file {
	const unsigned char *data; /* NULL when empty */
	size_t size;  /* of what is lent */
	size_t sparse; /* bytes behind the first hole that are not: see file_open_at */
	dev_t dev;
	ino_t ino;
	int64_t mtime_ns;
};

/*
 * Open path relative to dirfd (AT_FDCWD for the current directory). 0 or
 * -errno; never reports, for a missing file is often no error. -EINVAL for
 * what is not a regular file. Of a huge file that is nearly all hole only what
 * comes before the first hole is lent: nobody wrote the rest, and to walk
 * through it would take for ever.
 */
int file_open_at(int dirfd, const char *path, struct file *ret);
/*
 * The same, but -ELOOP where path's last component is a symbolic link: for files that others
 * made, which are not to have us read what only we may.
 */
int file_open_plain_at(int dirfd, const char *path, struct file *ret);
/* Take over an open descriptor (closed in any case). */
int file_open_fd(int fd, struct file *ret);
void file_close(struct file *f);
/*
 * A descriptor to read a regular file by other means, or -1. What is no file is not even
 * opened: to open a device may do something.
 */
int file_open_regular(const char *path);
/* The same for the file that `place` (opened with O_PATH; stays the caller's) refers to; -errno. */
int file_open_place(int place);

/*
 * What was read of [from, to) need not stay in memory; it is read again when it is
 * asked for. Who walks through a large file says so behind himself.
 */
void file_release(const struct file *f, size_t from, size_t to);

/*
 * Have pages of mapped files that are no longer there read as zeros from now
 * on, in all threads, instead of ending the program by SIGBUS. file_open_…
 * sees to it; who maps files by other means (libelf) may call it, too.
 */
void file_guard(void);
/* How many pages were replaced so far. */
size_t file_pages_lost(void);

#endif
