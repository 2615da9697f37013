/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists generated functions in /tmp/perf-PID.map, as runtimes do. The recorder reads it
 * (user/jit/perfmap.h). The file stays when the program has ended.
 */
#ifndef USER_API_FUNC_MAP_H
#define USER_API_FUNC_MAP_H

/*
 * Another process may have had this number before: make its file empty. Call it before there are
 * threads; a forked child does that itself, at its first function.
 */
__attribute__((visibility("hidden"))) void func_map_begin(void);
/* Add a function. Nothing happens if the file cannot be written, or is not the user's own. */
__attribute__((visibility("hidden"))) void func_map_add(const char *name, const void *start, unsigned size);
/*
 * The function at this address is gone now. The line is the address and the time of CLOCK_MONOTONIC in
 * ns, both in hexadecimal: without a name, so that other readers of perf maps skip it.
 */
__attribute__((visibility("hidden"))) void func_map_remove(const void *start);

#endif
