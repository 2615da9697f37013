/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are compressed as a whole, as distributions' kernel modules are: .gz, .xz, .zst. */
#ifndef SYMBOLS_UNPACK_H
#define SYMBOLS_UNPACK_H

struct diag;

/* How their names may end: ".xz" and its like; NULL ends. */
extern const char *const unpack_endings[];

/*
 * Takes over fd. A memory file of its content if it is compressed, by what stands in it
 * and not by its name; else fd itself. -1 after a warning about `path` when it is damaged or
 * becomes larger than any module.
 */
int unpack_open(int fd, const char *path, struct diag *d);

#endif
