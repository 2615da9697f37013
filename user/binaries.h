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
#include "user/procmap.h"

struct diag;
struct binaries;

/* keep: open files for archives; expdir is the founder's directory (a duplicate is taken). */
struct binaries *binaries_new(bool keep, enum archive_mode mode, int expdir);
void binaries_free(struct binaries *b);
/*
 * The name to record for the mapping: its path; or, when another file was seen
 * under that path, one that goes through the /proc/PID/root of the process.
 * Borrowed, from `b` or the mapping.
 */
const char *binaries_name(struct binaries *b, pid_t pid, const struct mapping *m);
/*
 * Write the archives of what was seen, until `stop` (may be NULL) says so.
 * Failures go to d and are counted; -ENOSPC or -EDQUOT ends it and is returned.
 */
int binaries_archive(struct binaries *b, bool (*stop)(void *ctx), void *ctx, struct diag *d);

struct binaries_counts {
	size_t archived, unreadable;
};

struct binaries_counts binaries_counts(const struct binaries *b);

#endif
