/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a file that takes long to read, as those do that the kernel writes
 * while it is asked: in blocks of whole lines, read by a thread of its own while
 * its owner works on those before. Without a thread it is the same, one after the
 * other.
 */
#ifndef SYMBOLS_TEXTBLOCKS_H
#define SYMBOLS_TEXTBLOCKS_H

#include <stddef.h>

struct textblocks;

/* From where fd stands on, at most `most` bytes. The descriptor is borrowed until the end. */
struct textblocks *textblocks_open(int fd, size_t most);
/*
 * The next block, ended by NUL, to be changed as its owner likes; valid until
 * textblocks_free. The last line may lack its newline. NULL at the end, and after
 * an error.
 */
char *textblocks_next(struct textblocks *t);
/* After the end: 0, or the errno; EFBIG when there was more than `most`. */
int textblocks_error(const struct textblocks *t);
void textblocks_free(struct textblocks *t);

#endif
