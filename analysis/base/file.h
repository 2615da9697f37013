/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole file, mapped, so that a large one takes no memory of the process. Pointers into it
 * are valid until file_close. Only regular files are opened.
 *
 * Other programs may truncate a file while it is mapped. The missing part then reads as zeros
 * (file_guard), like a hole.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file {
	const unsigned char *data; /* NULL when empty */
	size_t size;  /* bytes at `data` */
	size_t sparse; /* bytes from the first hole on that are not in `data`: see file_open_at */
	dev_t dev;
	ino_t ino;
	int64_t mtime_ns;
};

/*
 * Open and map `path`, relative to dirfd (AT_FDCWD: the current directory). Returns 0, or
 * -errno without a report, because a missing file is often no error; -EINVAL if it is no
 * regular file. Of a huge file that is nearly all hole only the part before the first hole is
 * mapped: nobody wrote the rest, and reading it would take too long.
 */
int file_open_at(int dirfd, const char *path, struct file *ret);
/*
 * The same, but -ELOOP if the last component of `path` is a symbolic link. Use it for files that
 * other users create: a link must not make us read a file that only we may read.
 */
int file_open_plain_at(int dirfd, const char *path, struct file *ret);
/* The same for an open descriptor, which is always closed. */
int file_open_fd(int fd, struct file *ret);
void file_close(struct file *f);
/*
 * Open a regular file for reading. Returns a descriptor, or -1. Other kinds of files are not
 * even opened, because opening a device may have effects.
 */
int file_open_regular(const char *path);
/*
 * Whether the path of an open file, to which all links were resolved, is one of those that the
 * caller wants. wanted NULL: all are.
 */
bool file_path_fits(int fd, bool (*wanted)(const char *path));
/*
 * The same for the file that `place` refers to (opened with O_PATH; the caller closes it).
 * Returns a descriptor, or -errno.
 */
int file_open_place(int place);

/*
 * The pages of [from, to) need not stay in memory; they are read again when used. A caller that
 * walks through a large file releases the part behind it.
 */
void file_release(const struct file *f, size_t from, size_t to);

/*
 * From now on, in all threads, an access to a mapped file behind its end reads zeros instead of
 * ending the program by SIGBUS. file_open_at and its variants call this. Code that maps files
 * by other means (libelf) may call it, too.
 */
void file_guard(void);
/* The number of pages replaced by zeros so far. */
size_t file_pages_lost(void);

#endif
