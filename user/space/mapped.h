/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the file behind a mapping. The mapped process may be hostile: its path may lead somewhere
 * else by now, or may have been a trap from the start. A file is therefore accepted only if three
 * things hold. It has the device and the inode number that the kernel shows for the mapping. It is
 * a regular ELF file. No symbolic link was followed to it. It is opened with the caller's own
 * rights, unless the caller is root (loaders/privilege.h).
 */
#ifndef USER_SPACE_MAPPED_H
#define USER_SPACE_MAPPED_H

#include <sys/types.h>

#include "user/space/procmap.h"

/*
 * Returns a descriptor, open for reading, of the file behind the mapping of process pid; for
 * "[vdso]" of the vdso's image. Or -errno: -ESTALE if another file is there now, -ENOEXEC if it is
 * not an ELF file.
 */
int mapped_open(pid_t pid, const struct mapping *m);

#endif
