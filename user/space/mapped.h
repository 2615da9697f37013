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

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/space/procmap.h"

/*
 * Returns a descriptor, open for reading, of the file behind the mapping of process pid; for
 * "[vdso]" of the vdso's image. Or -errno: -ESTALE if another file is there now, -ENOEXEC if it is
 * not an ELF file, or as in opener.h. Close it with opener_close.
 */
int mapped_open(pid_t pid, const struct mapping *m);

/*
 * What the opener does (opener.h). It may wait for a file system in user space for ever, so only
 * the opener's process calls this, and a program without one. The descriptor is the file's own.
 */
int mapped_open_here(pid_t pid, const struct mapping *m, bool any, uid_t owner);
int mapped_root_dir_here(pid_t pid, const char *name);
int mapped_below_here(int dir, const char *name, uid_t owner);
/* Where to note what is being waited for (enum opener_stage). */
void mapped_set_stage(volatile uint32_t *to);

#endif
