/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses a jitdump file, in which a runtime keeps its generated code: when each function was made,
 * where, its name, and its code. The format is described in Linux's
 * tools/perf/Documentation/jitdump-specification.txt. Every byte is hostile.
 */
#ifndef USER_JIT_JITDUMP_H
#define USER_JIT_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_batch;

enum {
	JITDUMP_HEADER = 40,            /* bytes */
	JITDUMP_RECORD_MAX = 16 << 20,  /* bytes; a file with a larger record is damaged */
};

struct jitdump {
	uint32_t first; /* offset of the first record */
	bool dated;     /* times are of CLOCK_MONOTONIC */
};

/* Parse the file's header. False: it is none, or not of an x86-64 program. */
bool jitdump_header(const void *p, size_t n, struct jitdump *ret);
/*
 * Add the functions of the records in a piece of the file, which begins with a record; `offset` is
 * the piece's place in the file. Returns the number of bytes that were used. A record that is not
 * complete is left for later, unless it is larger than `full` bytes: then its function is added, if
 * its name is in the piece, and the result is larger than n. 0 also if the file is damaged there.
 */
size_t jitdump_parse(const struct jitdump *d, const void *piece, size_t n, size_t full,
		     uint64_t offset, struct jit_batch *to);

#endif
