/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the probes of marks (user/api/er_span.h): in the binary that the SPEC names, or else in the
 * recorded processes or the load, and in the library libcollectorAPI.so.
 */
#ifndef USER_PROBE_MARKS_H
#define USER_PROBE_MARKS_H

#include "user/probe/sites.h"

/*
 * Find the sites of a SPEC of kind PROBE_MARK; the id of a mark is their first value. `program` is the
 * load, as it was given; NULL: there is none. The rest is as for probe_sites_find.
 */
int marks_find(const struct probe_spec *s, const char *program, const pid_t *pids, size_t n, struct diag *d,
	       struct probe_sites *ret);
/*
 * Find where the collector API is in a process (user/api/collector_call.h). No site if the process does not
 * use it.
 */
void marks_find_collector(pid_t pid, struct probe_sites *ret);
/* The same for the library that counts locks, which the user may have preloaded (user/preload/heap_ring.h). */
void marks_find_locks(pid_t pid, struct probe_sites *ret);
/* Where a mark has the hash of its name. */
struct er_place marks_hash_place(void);

#endif
