/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of the functions that GCC puts into each program and library (crtbegin.o):
 * deregister_tm_clones, register_tm_clones, __do_global_dtors_aux and frame_dummy. They have no
 * call frame information and, in stripped files, no names. Each process runs them when it begins
 * and when it exits. The bytes are untrusted, and only an exact match counts.
 */
#ifndef USER_UNWIND_CRTCODE_H
#define USER_UNWIND_CRTCODE_H

#include "user/unwind/knowncode.h"

/* Report the rules of these functions in code at file offsets [begin, end), which are in the file.
 */
void crtcode_in(const struct elftext *e, uint64_t begin, uint64_t end, knowncode_fn *found,
		void *ctx);

#endif
