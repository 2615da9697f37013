/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls by which our libraries in a program talk to the recorder. They are none of the program's I/O, so
 * I/O tracing leaves them out (bpf/io_own.bpf.h). It knows them by the begin of the token from the program's
 * environment, in two argument registers that such a call does not use.
 */
#ifndef USER_PRELOAD_OWN_CALL_H
#define USER_PRELOAD_OWN_CALL_H

#include <stdint.h>
#include <string.h>

#include "user/preload/raw_call.h"

/* In the token's place, of a process to which the recorder attached: it has no token. */
#define OWN_ATTACHED "er: is attached."

/* The token has at least 16 characters. */
static inline void own_mark(const char *token, uint64_t mark[2])
{
	memcpy(mark, token, 2 * sizeof(*mark));
}

/* A call with at most three arguments. Returns the result, or -errno. */
static inline long own_call(const char *token, long nr, long a, long b, long c)
{
	uint64_t mark[2];

	own_mark(token, mark);
	return raw_call(nr, a, b, c, 0, mark[0], mark[1]);
}

#endif
