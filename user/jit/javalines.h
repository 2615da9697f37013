/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the line table of a Java method as HotSpot keeps it. The table comes from a recorded process:
 * any byte may be wrong.
 */
#ifndef USER_JIT_JAVALINES_H
#define USER_JIT_JAVALINES_H

#include <stddef.h>
#include <stdint.h>

struct cursor;

/* From this bytecode on, the code has this line. */
struct java_line {
	uint32_t offset, line;
};

/*
 * Stores where lines begin, in order of bytecodes; consecutive entries have different lines. `bias`: 1
 * if no byte of a number is 0, which is so from Java 20 on. Returns the number of entries, at most
 * `max`. It stops at the end of the table and at the first damaged entry.
 */
size_t java_lines(const uint8_t *table, size_t size, unsigned bias, struct java_line *ret, size_t max);

/* The next compressed number; 0, and c->bad, at the end. */
uint32_t java_number(struct cursor *c, unsigned bias);

#endif
