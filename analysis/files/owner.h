/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the owner of an experiment may read. An experiment says itself which files belong to
 * it; when its owner is another user than the one who archives it, files that only the latter
 * may read are not to get into it.
 */
#ifndef FILES_OWNER_H
#define FILES_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether the user may read the file that is open at fd, by this absolute path. Always true of
 * the calling user. Another file at the path, by now or for that user, does not count.
 * Root asks the kernel with that user's identity. Others go by the modes of the file and
 * of the directories above it, and regard no group.
 */
bool owner_may_read(uid_t owner, int fd, const char *path);

#endif
