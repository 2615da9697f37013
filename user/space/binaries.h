/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the files behind mappings. Each distinct file is opened when it is first seen and stays
 * open, so that it can be archived at the end even if it was deleted, replaced, or is inside a
 * container. A quarter of the files that this process may open are kept so; files beyond that
 * are not archived. A file that no process maps any more is closed, unless it is to be archived.
 * Each file gets a name that no other file of the recording has.
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
	 * The name to record for the mapping: its path. If another file was seen under that path,
	 * a path through the process's /proc/PID/root instead.
	 */
	const char *name;
	bool wanted;     /* the caller sets this if a recorded address is in the file */
	/* Private to binaries.c. */
	const char *path;
	uint64_t key;    /* in by_file */
	uint32_t file;   /* its number (user/space/files.h); 0: none */
	bool unmapped;   /* no process maps it any more */
	int fd;          /* -1: archived, or cannot be read */
	int archived;    /* its archive in an earlier segment; -1: none */
	bool unreadable; /* it cannot be archived */
	bool left;       /* it could be archived, but is not: no room, or not yet */
};

/*
 * keep: open files, to archive them in at most `room` bytes. expdir is the founder's directory;
 * its descriptor is duplicated.
 */
struct binaries *binaries_new(bool keep, enum archive_mode mode, uint64_t room, int expdir);
void binaries_free(struct binaries *b);
/*
 * Returns the file of the mapping, valid as long as a process maps it, and until the segment's end.
 * NULL if there are too many files: use the
 * path of the mapping as its name; it is not archived.
 */
struct binary *binaries_get(struct binaries *b, pid_t pid, const struct mapping *m);
/*
 * No process maps the file with this number any more, and the number is let go. The file is closed
 * unless it is wanted. A struct binary of it stays valid until binaries_next.
 */
void binaries_unmapped(struct binaries *b, uint32_t file);
/* Descriptors that are open for archives, and for those of earlier segments. */
size_t binaries_nopen(const struct binaries *b);
/*
 * Write the archives of the wanted files. They take at most `room` bytes, and at most what is left
 * of the room given to binaries_new(). Stops when *stop is not 0. Failures are reported to d and
 * counted. Returns 0, or -ENOSPC, -EDQUOT or -EINTR, which end it.
 */
int binaries_archive(struct binaries *b, uint64_t room, const volatile int *stop, struct diag *d);
/*
 * Write the archives of wanted files that no process maps, and close the files. What fails is tried
 * again by binaries_archive.
 */
void binaries_archive_unmapped(struct binaries *b, uint64_t room);

/*
 * For a recording in several experiments: remember archives, so that the next experiment shares
 * those of the ones before. Call it before the first archive.
 */
void binaries_share(struct binaries *b);
/*
 * Archive into another experiment from now on, in at most `room` bytes. No file is wanted yet, and
 * unmapped files are forgotten.
 */
void binaries_next(struct binaries *b, int expdir, uint64_t room);
/* Have fn called after each archive, and often while a large file is copied. */
void binaries_set_relief(struct binaries *b, void (*fn)(void *ctx), void *ctx);

/* How many wanted files cannot be archived. */
size_t binaries_unreadable(const struct binaries *b);
/* How many wanted files could be archived but were not: archiving was stopped, or had no room. */
size_t binaries_left(const struct binaries *b);

#endif
