/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files behind mappings. Keeps each distinct one open from its first sight,
 * so that what is deleted, replaced or inside a container can still be archived
 * at the end, and gives each a name that no other file of the recording has.
 */
#ifndef USER_BINARIES_H
#define USER_BINARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/symbols/archive.h"
#include "user/space/procmap.h"

struct diag;
struct binaries;

/* A mapped file. */
struct binary {
	/*
	 * What to record for the mapping: its path; or, when another file was seen
	 * under that path, one that goes through the /proc/PID/root of the process.
	 */
	const char *name;
	bool wanted;     /* the caller's to set: something recorded lies in it */
	/* The module's own. */
	int fd;          /* -1: archived, or cannot be read */
	bool unreadable; /* it cannot be archived */
	bool left;       /* there was no room for it */
};

/*
 * keep: open files for archives, which take `room` bytes at most; expdir is the founder's
 * directory (a duplicate is taken).
 */
struct binaries *binaries_new(bool keep, enum archive_mode mode, uint64_t room, int expdir);
void binaries_free(struct binaries *b);
/*
 * The file of the mapping; it lives as long as `b`. NULL when there are too many
 * files: it goes by the path of the mapping then, and is not archived.
 */
struct binary *binaries_get(struct binaries *b, pid_t pid, const struct mapping *m);
/*
 * Write the archives of what is wanted, in not more than `room` bytes and in what is left of that
 * of binaries_new(), until *stop is other than 0. Failures go to d and are counted; -ENOSPC,
 * -EDQUOT and -EINTR end it and are returned.
 */
int binaries_archive(struct binaries *b, uint64_t room, const volatile int *stop, struct diag *d);

/* How many of those that are wanted cannot be archived. */
size_t binaries_unreadable(const struct binaries *b);
/* How many of those that are wanted are not archived, but could be: stopped, or for want of room. */
size_t binaries_left(const struct binaries *b);

#endif
