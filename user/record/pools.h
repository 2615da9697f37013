/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pools: sub-experiments that the processes of one program share. A process without a
 * sub-experiment of its own is recorded in its program's pool, so a recording may have any number
 * of processes. A program is an executable file, and what replaces it at its path. Beyond MAX_POOLS
 * programs all others share one more pool.
 *
 * A pool has one address for each place in a file (addresses.h), so equal stacks of different
 * processes are one stack. As in the founder, the field LWPID of its packets is the process. Mapped
 * files are remembered after a process has ended, because a stack may be written later.
 */
#ifndef USER_RECORD_POOLS_H
#define USER_RECORD_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "user/record/recording.h"

/*
 * Returns the pool of the image's program, and creates it if it is new. Remembers the image's
 * mappings. NULL if the experiment cannot be created; that is counted.
 */
struct output *recording_pool(struct recording *b, const struct image *im,
			      struct binaries *binaries);
/* Remember a mapping that was added later. */
void pool_map(struct recording *b, struct binaries *binaries, pid_t pid, const struct mapping *m);
/* The number will belong to another file. Call it only between two segments. */
void pool_forget_file(struct recording *b, uint32_t file);
/* The number stays, but the file's struct binary is about to be forgotten (binaries_next). */
void pool_keep_file(struct recording *b, uint32_t file);
bool output_is_pool(const struct output *p);
/*
 * The address of a user frame at that time, in an output with user frames. In a pool this first
 * writes the segment around the address, if the pool does not have it. An interpreted function has
 * the same address in every output, and is written first.
 */
uint64_t output_address(struct recording *b, struct output *p, uint64_t frame, uint64_t time_ns);
/*
 * The address, in the output, of data that the image has at `address`. In a pool, data of a file
 * gets the file's address there, so that readers find the variable. Other addresses are unchanged.
 */
uint64_t output_data(struct recording *b, struct output *p, const struct image *im,
		     uint64_t address);

#endif
