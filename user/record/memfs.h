/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file system in memory for one process. It is mounted nowhere, so no path leads to it. The
 * kernel removes it with its last descriptor, also if the process is killed.
 */
#ifndef USER_RECORD_MEMFS_H
#define USER_RECORD_MEMFS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Make one that holds at most so many bytes. Needs CAP_SYS_ADMIN. Returns a descriptor of its
 * root directory (O_PATH), or -errno without reporting.
 */
int memfs_open(uint64_t bytes);
/*
 * Make a file without a name that takes up `bytes` of it. Returns its descriptor, or -errno. When
 * the file system is full, memfs_lend gives these bytes to other files, and memfs_take takes them
 * back; it returns false if there is no room for them.
 */
int memfs_reserve(int fd, uint64_t bytes);
bool memfs_lend(int reserve);
bool memfs_take(int reserve, uint64_t bytes);
/* The bytes that its files take. */
uint64_t memfs_used(int fd);

#endif
