/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/addresses.h"

#include <linux/types.h>

#include "bpf/frame.h"
#include "user/space/procmap.h"
#include "user/space/space.h"

static const struct mapping *mapping_of(const struct image *im, uint64_t frame, uint64_t time_ns)
{
	return space_file_at(im->space, er_frame_file(frame), er_frame_offset(frame), time_ns);
}

uint64_t address_in_image(const struct image *im, uint64_t frame, uint64_t time_ns)
{
	const struct mapping *m;

	if (!(frame & ER_FRAME_FILE))
		return frame;
	m = mapping_of(im, frame, time_ns);
	return m ? m->start + (er_frame_offset(frame) - m->pgoff) : ADDRESS_UNKNOWN;
}

bool address_is_stale(const struct image *im, uint64_t frame, uint64_t time_ns)
{
	return frame & ER_FRAME_FILE && !er_frame_is_code(frame) && !mapping_of(im, frame, time_ns) &&
	       space_removed(im->space, er_frame_file(frame), er_frame_offset(frame), time_ns);
}

_Static_assert(ER_CODE_FILE + ER_MAX_CODES <= POOL_BASE >> ER_FRAME_OFFSET_BITS, "places stay below the kernel");

uint64_t address_in_pool(uint64_t frame)
{
	return frame & ER_FRAME_FILE ? POOL_BASE | (frame & ~ER_FRAME_FILE) : frame;
}
