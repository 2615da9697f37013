/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file system in memory for one process. It is mounted nowhere, so no path leads to it. The
 * kernel removes it with its last descriptor, also if the process is killed.
 */
#ifndef USER_RECORD_MEMFS_H
#define USER_RECORD_MEMFS_H

#include <stdint.h>

/*
 * Make one that holds at most so many bytes. Needs CAP_SYS_ADMIN. Returns a descriptor of its
 * root directory (O_PATH), or -errno without reporting.
 */
int memfs_open(uint64_t bytes);
/* The bytes that its files take. */
uint64_t memfs_used(int fd);

#endif
