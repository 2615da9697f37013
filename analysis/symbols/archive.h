/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory archives/ of an experiment: ELF files that a reader on another machine
 * needs, under names derived from their paths (docs/format.md). They are either whole
 * files, or symbol files: the same sections and addresses without the code, enough for
 * the names of functions, and of variables that are written, such as locks.
 */
#ifndef SYMBOLS_ARCHIVE_H
#define SYMBOLS_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

struct diag;

enum archive_mode { ARCHIVE_SYMBOLS, ARCHIVE_COPY };

/* What to do if the archive exists. */
enum archive_old {
	ARCHIVE_KEEP,
	ARCHIVE_UPGRADE, /* replace a symbol file by a copy: an archive smaller than the file */
	ARCHIVE_REPLACE,
};

/* How to make an archive. */
struct archive_order {
	enum archive_mode mode;
	enum archive_old old;
	uint64_t *room;           /* bytes that archives may still take; NULL: no limit */
	const volatile int *stop; /* stop at once when not 0; NULL: never */
	void (*relief)(void *ctx); /* called often while a file is copied; NULL: none */
	void *ctx;
	int (*open)(const char *path); /* opens debug files; NULL: file_open_regular */
};

/*
 * The archive's name for a path: "libc.so.6_dnWuQRcLhw9" for
 * "/usr/lib/x86_64-linux-gnu/libc.so.6". The caller frees it.
 */
char *archive_name(const char *path);
/*
 * Archive the ELF file open at fd (the caller closes it), under the name of `path`, in
 * archives/ below expdir, which is created if missing. An existing archive is kept. 0
 * or -errno after reporting; no partial file is left.
 */
int archive_add(int expdir, int fd, const char *path, enum archive_mode mode, struct diag *d);
/* Open archives/ below expdir, creating it if missing. A descriptor, or -errno after reporting. */
int archive_dir(int expdir, struct diag *d);
/*
 * Like archive_add, but into the open directory `dir`, which many experiments may
 * share. Subtracts the archive's size from *room; -EFBIG if it is too small. -EINTR if
 * *stop ended it.
 */
int archive_put(int dir, int fd, const char *path, const struct archive_order *o, struct diag *d);
/*
 * Give another experiment an archive that exists, open at fd (the caller closes it): a hard link,
 * so both share the space, or a copy if the file has no name any more. The caller must own the
 * file. Only the order's relief is used. 0 or -errno after reporting.
 */
int archive_again(int expdir, int fd, const char *path, const struct archive_order *o,
		  struct diag *d);
/*
 * Make the archive of `path` in `dir`, an archives/ directory, a symbolic link to the
 * one in the directory `common` (a path). Replaces what is there. 0 or -errno after
 * reporting.
 */
int archive_link(int dir, const char *common, const char *path, struct diag *d);
/*
 * Open the archive of path read-only; -errno if there is none. A symbolic link is
 * followed only if archive_link could have made it: to an absolute path with the
 * archive's own name, which is no link itself.
 */
int archive_open(int expdir, const char *path);

#endif
