/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The variables that every skeleton has whose programs send stacks (bpf/stack.bpf.h, thread.bpf.h). */
#ifndef LOADERS_KNOBS_H
#define LOADERS_KNOBS_H

#include "loaders/capture.h"
#include "loaders/rings.h"
#include "loaders/targets.h"

/*
 * Set them from the capture_plan, before the load, and size the map of targets. `again`: programs
 * have threads walk again (bpf/again.bpf.h). A macro, because each skeleton is a type of its own.
 */
#define knobs_set(skel, plan, rings, again)                                                        \
	do {                                                                                       \
		(skel)->rodata->er_wake_bytes = rings_wake_bytes(rings);                           \
		(skel)->rodata->er_hash_seed = rings_hash_seed(rings);                             \
		(skel)->rodata->er_ring_bytes = rings_bytes(rings);                                \
		(skel)->rodata->er_raws = (plan)->raw_stacks;                                      \
		(skel)->rodata->er_again = (again) && (plan)->raw_stacks;                          \
		bpf_map__set_autocreate((skel)->maps.er_agains, (skel)->rodata->er_again);         \
		bpf_map__set_autocreate((skel)->maps.er_again_walks, (skel)->rodata->er_again);    \
		bpf_map__set_autocreate((skel)->maps.er_again_stacks, (skel)->rodata->er_again);   \
		(skel)->rodata->er_max_frames = stack_limit();                                     \
		(skel)->rodata->er_user_frames = user_stack_limit();                               \
		(skel)->rodata->er_has_targets = (plan)->ntargets > 0 || (plan)->family;           \
		(skel)->rodata->er_has_family = (plan)->family;                                    \
		(skel)->rodata->er_copy = (plan)->family ? (plan)->family->copy : 0;               \
		(skel)->rodata->er_self = (plan)->exclude_self ? (plan)->self : 0;                 \
		for (int i_ = 0; i_ < ER_HELPERS; i_++)                                            \
			(skel)->rodata->er_helpers[i_] = (plan)->helpers[i_];                      \
		targets_size((skel)->maps.er_targets, plan);                                       \
	} while (0)

/* For er_seen_key: no id that was combined with the value before is found with the new one. */
static inline void resend_stacks(__u64 *key)
{
	__atomic_add_fetch(key, 0x9e3779b97f4a7c15ULL, __ATOMIC_RELAXED);
}

#endif
