/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns user frames (bpf/frame.h) into the addresses that an experiment shows. The experiment of
 * one process shows that process's own addresses. Processes that share an experiment (pools.h) map
 * the same file at different addresses. In a shared experiment each file therefore has an address
 * that no process can use: POOL_BASE + (the file's number << 40) + offset in the file.
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
 * Returns the frame's address in the image at that time. If the frame is an address, it is returned
 * as it is. If it is an offset in a file, the newest mapping of that offset is used.
 * ADDRESS_UNKNOWN if no known mapping of the image has the offset.
 */
uint64_t address_in_image(const struct image *im, uint64_t frame, uint64_t time_ns);
/*
 * Whether the frame's file had been unmapped by that time. The walk then used outdated mappings:
 * the frame and its callers are wrong.
 */
bool address_is_stale(const struct image *im, uint64_t frame, uint64_t time_ns);
/*
 * Returns the frame's address in a shared experiment. If the frame is an address, it is returned as
 * it is; it is below POOL_BASE, and reports show <Unknown>.
 */
uint64_t address_in_pool(uint64_t frame);

#endif
