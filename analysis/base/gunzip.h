/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uncompresses files in gzip's format. */
#ifndef BASE_GUNZIP_H
#define BASE_GUNZIP_H

#include <stddef.h>

struct file;

/*
 * Write the uncompressed content to fd. Returns 0; or 1 if the end is missing, as in a file that is
 * still being written; -EIO if it is damaged, -EFBIG if it has more than `max` bytes, or -errno of a
 * write. Unless a write failed, everything before the fault is written.
 */
int gunzip_to(const struct file *in, int fd, size_t max);
/*
 * Replace the file by its uncompressed content, in memory. Returns as gunzip_to does; even then the
 * content before the fault is there. -errno if there is no memory; the file is empty then.
 */
int gunzip_file(struct file *f, size_t max);

#endif
