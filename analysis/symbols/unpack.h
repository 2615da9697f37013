/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files compressed as a whole, like kernel modules of distributions: .gz, .xz, .zst. */
#ifndef SYMBOLS_UNPACK_H
#define SYMBOLS_UNPACK_H

struct diag;

/* File name endings (".xz" …), ended by NULL. */
extern const char *const unpack_endings[];

/*
 * Takes ownership of fd. If its content (not its name) is compressed, returns a memory
 * file with the uncompressed content; otherwise fd itself. -1 after a warning about
 * `path` if it is damaged or larger than any kernel module.
 */
int unpack_open(int fd, const char *path, struct diag *d);

#endif
