/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the owner of an experiment may read. An experiment itself names the files to archive. If
 * another user than its owner archives it, files that only that user may read must not get into
 * it.
 */
#ifndef FILES_OWNER_H
#define FILES_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether `owner` may read the file open at fd, by its absolute path. Always true if `owner` is
 * the calling user. False if the path now leads to another file, or does so for `owner`. If
 * root calls, the kernel decides, with the owner's identity. Otherwise the permission bits of
 * the file and of the directories above it decide, and groups are ignored.
 */
bool owner_may_read(uid_t owner, int fd, const char *path);

#endif
