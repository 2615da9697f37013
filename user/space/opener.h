/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens files that recorded programs choose, in a process of its own. A file system in user space
 * may never answer, and no signal ends such a wait; so the recorder itself must not touch these
 * files. It asks the opener, waits for a bounded time (patience.h), and otherwise leaves that
 * process behind and asks a new one. A process or device that did not answer in time is not asked
 * again.
 *
 * A descriptor that the opener hands over can be read without waiting for another user's program:
 * if the file system is one that only root could have mounted (handover.h), it is the file's own;
 * otherwise it is a sealed copy in memory. Copies take at most OPENER_COPY_BYTES each and
 * OPENER_COPIES_BYTES together. Close them with opener_close.
 *
 * It also copies memory of processes, which may be a mapped file.
 *
 * There is one opener for the program. If none was started, these functions open files in this
 * process, and copy nothing.
 */
#ifndef USER_SPACE_OPENER_H
#define USER_SPACE_OPENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct diag;
struct maps_line;
struct mapping;

#define OPENER_COPY_BYTES (64ULL << 20)
#define OPENER_COPIES_BYTES (256ULL << 20)
#define OPENER_ANYONE ((uid_t)-1)

/* Start it early: it keeps the memory that the program has now. 0 or -errno after a report. */
int opener_start(struct diag *d);
void opener_stop(void);
/* The process that was started; those that open files are its children. 0: there is none. */
pid_t opener_pid(void);
/* Files and command lines that were asked for in vain: not answered in time, or refused thereafter. */
uint64_t opener_unanswered(void);

/*
 * Each returns a descriptor, or -errno: -ETIMEDOUT if there was no answer in time now or earlier,
 * -EFBIG if a copy would be too large.
 */

/* What is described in mapped.h. With an owner the file must be that user's: -EACCES. */
int opener_mapped(pid_t pid, const struct mapping *m, bool any, uid_t owner);
/* The directory `name` below the root of a process, for opener_below; no link is followed. */
int opener_root_dir(pid_t pid, const char *name);
/* The regular file `name` in a directory of the process, if it is the owner's; no link is followed. */
int opener_below(pid_t pid, int dir, const char *name, uid_t owner);
/* file_open_regular, for a short while: a copy does not count. Close it with close. */
int opener_path(const char *path);

/* At most 4096 bytes of /proc/PID/cmdline; nothing on an error. */
void opener_cmdline(pid_t pid, struct buf *ret);
/* procfs_code. Programs can hold the lock that the kernel takes to read their mappings. */
int opener_code(pid_t pid, bool (*fn)(void *ctx, const struct maps_line *l), void *ctx);

/*
 * Fill in n units of a file (memory.h), which begin at the offset. Returns 0 or -errno. An ordinary caller
 * may read its own processes only.
 */
int opener_memory(pid_t pid, int fd, off_t offset, size_t n);

/* Whether it is a copy, which does not change when the file does. */
bool opener_is_copy(int fd);
/* Close a descriptor that the opener handed over, unless it is -1, which it becomes. */
void opener_close(int *fd);

#endif
