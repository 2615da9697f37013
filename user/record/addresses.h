/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns user frames (bpf/frame.h) into the addresses that an experiment shows. The experiment
 * of a process shows that process's own addresses.
 */
#ifndef USER_RECORD_ADDRESSES_H
#define USER_RECORD_ADDRESSES_H

#include <stdint.h>

struct image;

enum { ADDRESS_UNKNOWN = 0 }; /* in no file and no function: reports show <Unknown> */

/*
 * Returns the frame's address in the image. A frame that is an address is returned as it is; a
 * frame that is an offset in a file is looked up in the image's newest mapping of that offset.
 * ADDRESS_UNKNOWN if no known mapping of the image has it.
 */
uint64_t address_in_image(const struct image *im, uint64_t frame);

#endif
