/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns records of I/O (struct er_io) into the fields of a packet. */
#ifndef USER_RECORD_IO_LOG_H
#define USER_RECORD_IO_LOG_H

#include <stdint.h>

#include "user/record/kinds.h"

struct capture;
struct drops;

/* Fills in the fields after FRINFO; that of the name gets 0. */
void io_values(const void *record, int64_t *ret);
/*
 * Writes the name of the file, or "" if the record has none. A path begins with "/", or with "…/" if
 * only its end is known. A file in no directory has a name such as "<socket TCP>".
 */
void io_name(const void *record, char ret[KIND_TEXT]);
/* Set the counts of calls that no record tells, less those of earlier segments. */
void io_drops(const struct capture *c, const struct drops *base, struct drops *ret);

#endif
