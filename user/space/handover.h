/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes sure that reading a descriptor waits for no other user's program. Users may mount file
 * systems in user space (FUSE) by themselves, and overlays on top of them. A file on such a file
 * system is copied to memory. An overlay whose files are copied is one that is not mounted in our
 * own mount namespace, where only root mounts overlays. All other file systems need root to mount
 * them, or are memory. May block: only the opener calls this.
 */
#ifndef USER_SPACE_HANDOVER_H
#define USER_SPACE_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Takes ownership of fd, a regular file open for reading. Process pid has it mapped, or its mount
 * namespace has it; 0: ours. Returns fd, or a sealed copy that has *size bytes and takes at most
 * `room`; or -errno: -EFBIG if it would take more.
 */
int handover_file(int fd, pid_t pid, uint64_t room, bool *copy, uint64_t *size);

#endif
