/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing and copying between descriptors. These functions report nothing. */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Write all n bytes, also when signals interrupt. Returns 0, or -errno. */
int fd_write(int fd, const void *p, size_t n);

/* How to copy. All may be NULL. */
struct copy_order {
	uint64_t *room;            /* data bytes that may be written; reduced by those written */
	const volatile int *stop;  /* nonzero: give up */
	void (*relief)(void *ctx); /* called after each 256 KB of data */
	void *ctx;
};

/*
 * Copy the file `in`, from its beginning to its present end, to the current offset of `out`.
 * Holes stay holes; file systems that can share blocks do so. Returns 0 or -errno: -EINTR if
 * *stop became nonzero meanwhile, -EFBIG if *room was too small. Nothing is written if the
 * file's blocks already tell that.
 */
int fd_copy(int in, int out, const struct copy_order *o);

#endif
