/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses a jitdump file, in which a runtime keeps its generated code: when each function was made,
 * where, its name, its lines, and its code. The format is described in Linux's
 * tools/perf/Documentation/jitdump-specification.txt. The collector API's library (user/api/func_dump.h)
 * adds two kinds of records, which other readers skip. Every byte is hostile.
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

enum jitdump_kind {
	JITDUMP_LOAD = 0,
	JITDUMP_LINES = 2,          /* of the next function: u64 address, u64 number of rows; each with u64 address,
				       u32 line, u32 column, and the path of its source or "\377": as before */
	JITDUMP_ALIAS = 0x45520001, /* ours, of the next function: another name for it, with a NUL */
	JITDUMP_GONE = 0x45520002,  /* ours: u64 address of a function that is gone */
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
 * its name is in the piece, and the result is larger than n. 0 also if the file is damaged there. A
 * function whose record does not have all of its code has no code.
 *
 * A function's lines and alias are added before it (JIT_LINES, JIT_ALIAS). Their records stay unused until
 * that of the function is there, unless all of them together are larger than `full` bytes: then they are left out.
 * Lines count only if the first one begins at the first byte of the code and all are in their order. V8's do not: its
 * addresses are 64 too large, and of code that its baseline compiler made they are those of bytecodes.
 */
size_t jitdump_parse(const struct jitdump *d, const void *piece, size_t n, size_t full,
		     uint64_t offset, struct jit_batch *to);

#endif
