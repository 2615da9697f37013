/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the segments of a recording within a quota (--keep): remembers those that are complete, and
 * removes the oldest when they take too much. It removes only directories that it was given, and
 * only while they are the same directories (device and inode) and belong to the recorder's user. No
 * symbolic link is followed. Archives that several segments share count once.
 */
#ifndef USER_RECORD_RETAIN_H
#define USER_RECORD_RETAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;
struct retain;

/* quota: bytes; 0: everything is kept, and nothing is remembered. */
struct retain *retain_new(uint64_t quota);
void retain_free(struct retain *r); /* NULL: nothing */
/*
 * A segment is complete: `name` below dirfd, which may be closed. `path` is for messages; strings
 * are copied. False: it is not remembered, as it cannot be opened or there is no quota.
 */
bool retain_add(struct retain *r, int dirfd, const char *name, const char *path);
/* Bytes that the complete segments take. */
uint64_t retain_bytes(const struct retain *r);
/*
 * Remove the oldest segments until all take at most the quota, with `more` bytes beside them. The
 * newest stays in any case. A directory that has become another one is left alone, with a warning.
 * Returns how many were removed.
 */
size_t retain_make_room(struct retain *r, uint64_t more, struct diag *d);
/*
 * Remove the oldest one for want of space on the disk. False: nothing is removed, as there is only one,
 * or no quota.
 */
bool retain_drop_oldest(struct retain *r, struct diag *d);
/* Remove all of them. */
void retain_clear(struct retain *r, struct diag *d);
/* Have fn called with the path of each segment before it is removed, for a group file that lists it. */
void retain_on_drop(struct retain *r, void (*fn)(void *ctx, const char *path), void *ctx);

#endif
