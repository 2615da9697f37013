/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status file (--status): the state of the recording in Prometheus's text format, for
 * node_exporter's textfile collector and the like. It is replaced as a whole, so a reader sees a
 * complete one, and a link of its name is replaced, not followed.
 */
#ifndef USER_RECORD_STATUSFILE_H
#define USER_RECORD_STATUSFILE_H

#include <stdbool.h>

#include "user/record/status.h"

struct diag;
struct statusfile;

/*
 * Opens the file's directory. NULL after a report, also if the name belongs to a directory, a device
 * or a link to one. Free with statusfile_close.
 */
struct statusfile *statusfile_open(const char *path, struct diag *d);
/*
 * Replace the file. `running` is false for the last time. A failure is reported once, until it
 * succeeds again.
 */
void statusfile_write(struct statusfile *f, const struct status *s, bool running, struct diag *d);
/* NULL is allowed. The file stays. */
void statusfile_close(struct statusfile *f);

/* Append the metrics. */
void statusfile_format(const struct status *s, bool running, struct buf *ret);

#endif
