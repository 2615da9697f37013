/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pools: sub-experiments that the processes of one program share. A process without a
 * sub-experiment of its own is recorded in the pool of its program, so a recording may have any
 * number of processes. A program is an executable file; beyond MAX_POOLS programs all others
 * share one more pool. A pool shows places instead of addresses (addresses.h), so equal stacks of
 * different processes are one stack. Its packets have the process in field LWPID, as those of the
 * founder.
 *
 * The files that processes map are remembered here while the processes exist: a stack may be
 * written after its process has ended.
 */
#ifndef USER_RECORD_POOLS_H
#define USER_RECORD_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "user/record/recording.h"

/*
 * The pool of the image's program; a new one is created. Remembers the image's mappings. NULL,
 * after counting, if the experiment cannot be created.
 */
struct output *recording_pool(struct recording *b, const struct image *im,
			      struct binaries *binaries);
/* Remember a mapping that came later. */
void pool_map(struct recording *b, struct binaries *binaries, pid_t pid, const struct mapping *m);
bool output_is_pool(const struct output *p);
/*
 * The address of a user frame, at that time, in an output with user frames. In a pool the segment
 * around the address is written first, if it is new there.
 */
uint64_t output_address(struct recording *b, struct output *p, uint64_t frame, uint64_t time_ns);
/*
 * The address in an output of data that the image has at `address`. In a pool, data of a file is
 * shown at the file's place, so that readers find the variable; other addresses are unchanged.
 */
uint64_t output_data(struct recording *b, struct output *p, const struct image *im,
		     uint64_t address);

#endif
