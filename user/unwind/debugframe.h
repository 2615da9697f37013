/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads .debug_frame. It is like .eh_frame, but no program maps it, so it is often compressed. Go
 * writes it instead of .eh_frame. The file is untrusted: the uncompressed size that it claims is
 * checked before memory is allocated.
 */
#ifndef USER_UNWIND_DEBUGFRAME_H
#define USER_UNWIND_DEBUGFRAME_H

#include <stdbool.h>

#include "user/unwind/elftext.h"

enum { DEBUGFRAME_MAX = 32 << 20 }; /* bytes, uncompressed */

struct debugframe {
	struct ehframe_section section;
	void *room; /* the uncompressed bytes; NULL: not compressed */
};

/*
 * Returns false if the file has no .debug_frame, or if it is damaged, too large, or compressed by a
 * method other than zlib's. If true, close it afterwards.
 */
bool debugframe_open(struct debugframe *f, const struct elftext *e);
void debugframe_close(struct debugframe *f);

#endif
