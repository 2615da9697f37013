/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads text that arrives slowly, such as kernel files that are generated while they
 * are read. A second thread reads blocks of whole lines while the caller processes
 * earlier blocks. If no thread can be started the caller reads the blocks itself.
 */
#ifndef SYMBOLS_TEXTBLOCKS_H
#define SYMBOLS_TEXTBLOCKS_H

#include <stddef.h>

struct textblocks;

/* Read fd from its current offset, at most `most` bytes. fd is borrowed until textblocks_free. */
struct textblocks *textblocks_open(int fd, size_t most);
/*
 * The next block, ended by NUL; its last line may lack the newline. The caller may
 * modify it; it is valid until textblocks_free. NULL at the end and after an error.
 */
char *textblocks_next(struct textblocks *t);
/* After the last block: 0 or an errno; EFBIG if there were more than `most` bytes. */
int textblocks_error(const struct textblocks *t);
void textblocks_free(struct textblocks *t);

#endif
