/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns user frames (bpf/frame.h) into the addresses that an experiment shows. The experiment
 * of a process shows that process's own addresses. Processes that share an experiment (pools.h)
 * have mapped the same file at different addresses, so there each file has a place that no
 * process can use: POOL_BASE + (the file's number << 40) + offset in the file.
 */
#ifndef USER_RECORD_ADDRESSES_H
#define USER_RECORD_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

struct image;

enum { ADDRESS_UNKNOWN = 0 }; /* in no file and no function: reports show <Unknown> */

/* Above all addresses of processes, below those of the kernel. */
#define POOL_BASE (1ULL << 62)

/*
 * Returns the frame's address in the image at that time. A frame that is an address is returned as
 * it is; a frame that is an offset in a file is looked up in the newest mapping of that offset.
 * ADDRESS_UNKNOWN if no known mapping of the image had it.
 */
uint64_t address_in_image(const struct image *im, uint64_t frame, uint64_t time_ns);
/*
 * Whether the frame's file had been unmapped by that time. The walk then used mappings that were
 * out of date: the frame is not true, nor are its callers.
 */
bool address_is_stale(const struct image *im, uint64_t frame, uint64_t time_ns);
/*
 * Returns the frame's address in a shared experiment. A frame that is an address is returned as
 * it is: it is below POOL_BASE, and reports show <Unknown>.
 */
uint64_t address_in_pool(uint64_t frame);

#endif
