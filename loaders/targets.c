/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/targets.h"

#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "loaders/capture.h"
#include "loaders/perf_event.h"

void targets_size(struct bpf_map *map, const struct capture_plan *plan)
{
	bpf_map__set_max_entries(map, plan->ntargets ? plan->ntargets : 1);
}

int targets_fill(const struct bpf_map *map, const struct capture_plan *plan)
{
	for (size_t i = 0; i < plan->ntargets; i++) {
		struct {
			__u32 tgid, tid;
		} key = { plan->targets[i].pid, plan->targets[i].tid };
		__u32 one = 1;

		if (bpf_map_update_elem(bpf_map__fd(map), &key, &one, BPF_ANY))
			return -errno;
	}
	return 0;
}

uint32_t stack_limit(void)
{
	long frames = kernel_sysctl("perf_event_max_stack", ER_MAX_KERNEL_FRAMES);

	return frames > 0 && frames < ER_MAX_KERNEL_FRAMES ? frames : ER_MAX_KERNEL_FRAMES;
}
