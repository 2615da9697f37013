/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .debug_frame of a file: like .eh_frame, but not mapped by the program, and therefore often
 * compressed. Go writes it so, and no .eh_frame. The file is untrusted bytes: what it claims
 * as the uncompressed size is bounded before memory is taken.
 */
#ifndef USER_UNWIND_DEBUGFRAME_H
#define USER_UNWIND_DEBUGFRAME_H

#include <stdbool.h>

#include "user/unwind/elftext.h"

enum { DEBUGFRAME_MAX = 32 << 20 }; /* bytes, uncompressed */

struct debugframe {
	struct ehframe_section section;
	void *room; /* the uncompressed bytes; NULL: they are the file's */
};

/*
 * False: the file has no .debug_frame, or one that is damaged, too large, or compressed by
 * another method than zlib's. Close it if true.
 */
bool debugframe_open(struct debugframe *f, const struct elftext *e);
void debugframe_close(struct debugframe *f);

#endif
