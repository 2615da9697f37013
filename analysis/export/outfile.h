/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file that an export is written to. The file gets its name, and replaces an older one, only
 * when it is complete. A program that is killed before leaves nothing, except on file systems
 * without O_TMPFILE. Standard output, devices and pipes are written directly.
 */
#ifndef EXPORT_OUTFILE_H
#define EXPORT_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/buf.h"

struct diag;
struct z_stream_s;

struct outfile {
	struct buf buf;        /* append here, then call outfile_flush */
	int fd;
	int err;               /* errno of the first failed write; 0: none */
	char *path, *temp;     /* temp NULL: fd is written directly */
	bool nameless;         /* the file has no name yet, not even `temp` */
	bool closes;           /* fd is ours to close */
	struct z_stream_s *gz; /* NULL: plain */
};

/*
 * Open the output; "-" is standard output. Returns 0, or -1 after a report; then there is nothing
 * to free.
 */
int outfile_open(struct outfile *o, const char *path, bool gzip, struct diag *d);
/*
 * Write the buffer if it holds at least so many bytes. Returns whether all writes have succeeded so
 * far; if not, the caller can stop.
 */
bool outfile_flush(struct outfile *o, size_t at_least);
/*
 * Write the rest and give the file its name. Returns 0, or -1 after a report; an older file of that
 * name is then unchanged. A closed pipe is no error. Frees everything.
 */
int outfile_commit(struct outfile *o, struct diag *d);
/* Remove what was written. Frees everything. */
void outfile_abandon(struct outfile *o);

#endif
