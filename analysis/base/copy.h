/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing and copying between descriptors. These functions report nothing. */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Write all n bytes, also when signals interrupt. Returns 0, or -errno. */
int fd_write(int fd, const void *p, size_t n);
/*
 * Copy the file `in`, from its beginning to its present end, to the current offset of `out`.
 * Holes stay holes; file systems that can share blocks do so. *room (NULL: no limit) is the
 * number of data bytes that may be written; it is reduced by those written. Returns 0 or
 * -errno: -EINTR if *stop (may be NULL) became nonzero meanwhile, -EFBIG if *room was too
 * small. Nothing is written if the file's blocks already tell that.
 */
int fd_copy(int in, int out, uint64_t *room, const volatile int *stop);

#endif
