/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes from one descriptor to another. Nothing here reports. */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>

/* All n bytes, whatever interrupts. 0 or -errno. */
int fd_write(int fd, const void *p, size_t n);
/*
 * The file open at `in`, from its beginning to its present end, to where `out`
 * stands; shares the blocks on file systems that can. 0 or -errno; -EINTR when
 * *stop (may be NULL) became other than 0 meanwhile.
 */
int fd_copy(int in, int out, const volatile int *stop);

#endif
