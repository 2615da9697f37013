/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/targets.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/unwind.h"
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

/* 0: the variable is not set. False: it is no possible limit. */
static bool read_limit(uint32_t *ret)
{
	const char *text = getenv("SP_COLLECTOR_STACKBUFSZ");
	char *end;
	long n;

	*ret = 0;
	if (!text)
		return true;
	n = strtol(text, &end, 10);
	if (end == text || *end || n < ER_UNWIND_USUAL || n > ER_UNWIND_FRAMES)
		return false;
	*ret = n;
	return true;
}

bool user_stack_limit_valid(int *least, int *most)
{
	uint32_t n;

	*least = ER_UNWIND_USUAL;
	*most = ER_UNWIND_FRAMES;
	return read_limit(&n);
}

uint32_t user_stack_limit(void)
{
	uint32_t n;

	read_limit(&n);
	return n ? n : ER_UNWIND_USUAL;
}
