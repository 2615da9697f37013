/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the drain has counted, for recorder.xml, usage samples and the status. */
#include "analysis/experiment/usage.h"
#include "user/record/drain_impl.h"

void drain_usage(const struct drain *dr, struct exp_usage *u)
{
	for (int i = 0; i < MS_COUNT; i++)
		if (!mstate_descs[i].on_cpu)
			*mstate_usage(u, &mstate_descs[i]) = dr->state_ns[i];
	if (!dr->parts.targets)
		return;
	/* With targets only their waits are recorded, so count only their time on the CPUs. */
	u->user_ns = dr->state_ns[MS_USER];
	u->system_ns = dr->state_ns[MS_SYSTEM] + dr->state_ns[MS_KERNEL_CPU];
	u->trap_ns = 0;
}

const struct ring_count *drain_ring(const struct drain *dr, int cpu)
{
	return &dr->rings[cpu];
}

void drain_walks(const struct drain *dr, struct buf *b)
{
	ends_write(dr->ends, b);
	unread_write(dr->unread, b);
	if (!dr->unwinder)
		return;
	unwinder_write(dr->unwinder, b);
	raws_write(dr->raws, b);
	if (dr->jit)
		jit_names_write(dr->jit, b);
}

bool drain_forgot_stacks(struct drain *dr)
{
	return stacks_resend(dr->stacks);
}

uint64_t drain_oldest(const struct drain *dr, uint64_t now_ns)
{
	now_ns = unread_oldest(dr->unread, now_ns);
	return dr->raws ? raws_oldest(dr->raws, now_ns) : now_ns;
}

uint64_t drain_mended(const struct drain *dr)
{
	return unread_mended(dr->unread);
}

uint64_t drain_written(const struct drain *dr, enum er_kind kind)
{
	return dr->nwritten[kind];
}

uint64_t drain_stacks(const struct drain *dr)
{
	return stacks_count(dr->stacks);
}

size_t drain_nprograms(const struct drain *dr)
{
	return dr->nprograms;
}
