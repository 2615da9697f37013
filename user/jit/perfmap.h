/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses a perf map, in which a runtime lists its generated code: a line "START SIZE NAME" for each
 * function, with hexadecimal numbers. A line "START TIME" is of the collector API (user/api/func_map.h):
 * the function was removed. The file's owner chooses its content, so every byte is hostile.
 */
#ifndef USER_JIT_PERFMAP_H
#define USER_JIT_PERFMAP_H

#include <stddef.h>

struct jit_batch;

/*
 * Add the functions of all whole lines in `text`. Lines of another form are skipped. Returns the
 * number of bytes that were used: up to the last newline, or up to the line for which the batch
 * has no room. The caller goes on from there. If there is no newline in `full` bytes, all of them
 * are one long line, and they are skipped.
 */
size_t perfmap_parse(const char *text, size_t n, size_t full, struct jit_batch *to);

#endif
