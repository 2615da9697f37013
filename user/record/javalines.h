/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the line table of a Java method as HotSpot keeps it. The table comes from a recorded process:
 * any byte may be wrong.
 */
#ifndef USER_RECORD_JAVALINES_H
#define USER_RECORD_JAVALINES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/experiment/expwriter.h"

/*
 * Stores where lines begin, in order of bytecodes; consecutive entries have different lines. `bias` is
 * that of struct er_code. Returns the number of entries, at most `max`. It stops at the end
 * of the table and at the first damaged entry.
 */
size_t java_lines(const uint8_t *table, size_t size, unsigned bias, struct exp_line *ret, size_t max);

#endif
