/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the table of processes, processes.xml: a line for each program that a followed process
 * ran. The line is written at the program's first record, because its command line can be read only
 * while it runs.
 */
#ifndef USER_RECORD_PROCESSES_H
#define USER_RECORD_PROCESSES_H

#include "user/record/recording.h"

struct buf;
struct image;

/*
 * Append the image's command line, with blanks between its arguments. If the process has ended,
 * append its name. The result is never empty.
 */
void process_command(const struct image *im, struct buf *ret);
/* Write the line of an image; its packets are in `p`. */
void process_note(struct recording *b, struct output *p, const struct image *im,
		  const char *command);

#endif
