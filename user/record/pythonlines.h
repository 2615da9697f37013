/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the table of a Python function (co_linetable, since 3.11) that gives the source line of each
 * instruction. The table comes from a recorded process: any byte may be wrong.
 */
#ifndef USER_RECORD_PYTHONLINES_H
#define USER_RECORD_PYTHONLINES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/experiment/expwriter.h"

/*
 * Stores where lines begin, in order of instructions; consecutive entries have different lines.
 * Instructions without a line have that of the instruction before. Returns the number of entries,
 * at most `max`. It stops at the end of the table and at the first damaged entry.
 */
size_t python_lines(const uint8_t *table, size_t size, int32_t first_line, struct exp_line *ret,
		    size_t max);

#endif
