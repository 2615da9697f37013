/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/addresses.h"

#include <linux/types.h>

#include "bpf/frame.h"
#include "user/space/procmap.h"

uint64_t address_in_image(const struct image *im, uint64_t frame)
{
	uint32_t file = er_frame_file(frame);
	uint64_t offset = er_frame_offset(frame);
	const struct mapping *found = NULL;

	if (!(frame & ER_FRAME_FILE))
		return frame;
	vec_for_each(m, &im->space->maps) {
		if (m->file == file && offset - m->pgoff < m->len &&
		    (!found || m->time_ns > found->time_ns))
			found = m;
	}
	return found ? found->start + (offset - found->pgoff) : ADDRESS_UNKNOWN;
}

_Static_assert(ER_MAX_FILES <= POOL_BASE >> ER_FRAME_OFFSET_BITS, "places stay below the kernel");

uint64_t address_in_pool(uint64_t frame)
{
	return frame & ER_FRAME_FILE ? POOL_BASE | (frame & ~ER_FRAME_FILE) : frame;
}
