/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From user frames (bpf/frame.h) to the addresses that an experiment shows. An experiment of
 * one process shows that process's own addresses.
 */
#ifndef USER_RECORD_ADDRESSES_H
#define USER_RECORD_ADDRESSES_H

#include <stdint.h>

struct image;

enum { ADDRESS_UNKNOWN = 0 }; /* in no file and of no function: readers show <Unknown> */

/*
 * Where the frame is in the image: an address as it is, a place in a file where the image maps
 * it, by the newest mapping of it. ADDRESS_UNKNOWN: the image, so far as is known, does not.
 */
uint64_t address_in_image(const struct image *im, uint64_t frame);

#endif
