/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * archives/ of an experiment: the ELF files a reader elsewhere needs, under
 * names derived from their paths (docs/format.md). Either whole files, or
 * symbol files: the same sections and addresses with the code left out, which
 * is all that function names need.
 */
#ifndef SYMBOLS_ARCHIVE_H
#define SYMBOLS_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

struct diag;

enum archive_mode { ARCHIVE_SYMBOLS, ARCHIVE_COPY };

/* What to do with an archive that is there already. */
enum archive_old {
	ARCHIVE_KEEP,
	ARCHIVE_UPGRADE, /* replace it when it is smaller than the file: a symbol file by a copy */
	ARCHIVE_REPLACE,
};

/* How to make an archive. */
struct archive_order {
	enum archive_mode mode;
	enum archive_old old;
	uint64_t *room;           /* bytes that archives may still take; NULL: any number */
	const volatile int *stop; /* other than 0: end at once; NULL: never */
};

/* "libc.so.6_dnWuQRcLhw9" for "/usr/lib/x86_64-linux-gnu/libc.so.6"; freed by the caller. */
char *archive_name(const char *path);
/*
 * Write the ELF file open at fd (stays the caller's) as the archive of `path`
 * into archives/ below expdir, made when missing. An existing archive is kept.
 * 0 or -errno after reporting; a failure leaves no partial file.
 */
int archive_add(int expdir, int fd, const char *path, enum archive_mode mode, struct diag *d);
/* archives/ below expdir, made when missing; -errno after reporting. */
int archive_dir(int expdir, struct diag *d);
/*
 * The same as archive_add into the open directory `dir`, which may serve many experiments.
 * *room becomes less by what the archive takes; -EFBIG when it does not suffice. -EINTR when
 * it was stopped.
 */
int archive_put(int dir, int fd, const char *path, const struct archive_order *o, struct diag *d);
/*
 * Have the archive of path in `dir`, an archives/, be that in the directory
 * `common` (a path): by a symbolic link. What is there is replaced.
 */
int archive_link(int dir, const char *common, const char *path, struct diag *d);
/*
 * Open the archive of path, read only; -errno when there is none. A link is
 * followed only to a file that has the archive's own name, as archive_link
 * makes them, and is no link again.
 */
int archive_open(int expdir, const char *path);

#endif
