/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes from one descriptor to another. Nothing here reports. */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>
#include <stdint.h>

/* All n bytes, whatever interrupts. 0 or -errno. */
int fd_write(int fd, const void *p, size_t n);
/*
 * The file open at `in`, from its beginning to the end that it has now, to where `out` stands.
 * Holes stay holes; shares the blocks on file systems that can. 0 or -errno; -EINTR when
 * *stop (may be NULL) became other than 0 meanwhile. `room` is how many bytes of data may be
 * written, NULL for any number: it is reduced by those that were, and -EFBIG says that it did
 * not suffice.
 */
int fd_copy(int in, int out, uint64_t *room, const volatile int *stop);

#endif
