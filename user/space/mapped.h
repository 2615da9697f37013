/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the file behind a mapping. The mapped process may be hostile: its path may lead
 * somewhere else by now, or have been made to look right from the start. So a file is taken
 * only if it has the device and the inode number that the kernel shows for the mapping, if it
 * is a regular ELF file, and if no symbolic link was followed to it. It is opened with the
 * caller's own rights, unless the caller is root (loaders/privilege.h).
 */
#ifndef USER_SPACE_MAPPED_H
#define USER_SPACE_MAPPED_H

#include <sys/types.h>

#include "user/space/procmap.h"

/*
 * The file behind the mapping of process pid, open for reading; the vdso's image for "[vdso]".
 * -errno: -ESTALE when another file is there now, -ENOEXEC when it is not an ELF file.
 */
int mapped_open(pid_t pid, const struct mapping *m);

#endif
