/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Return addresses that a uretprobe has replaced. Such a probe writes the address of the kernel's
 * trampoline (in the mapping [uprobes]) over the function's return address on the stack. The true
 * address is in a list of the thread's task, with the address of its slot on the stack.
 */
#ifndef UPROBE_BPF_H
#define UPROBE_BPF_H

#include "bpf/er.bpf.h"

enum { RETURNS_MAX = 64 }; /* the kernel's MAX_URETPROBE_DEPTH */

struct returns {
	__u64 first;      /* the newest struct return_instance; 0: none */
	__u64 trampoline;
};

/* A search for one slot. */
struct returns_walk {
	struct return_instance *ri;
	__u64 slot;
	__u64 address; /* the true one; 0: not found */
};

static __always_inline void returns_begin(struct returns *r, struct task_struct *p,
					  struct mm_struct *mm)
{
	r->first = r->trampoline = 0;
	if (bpf_core_field_exists(p->utask) && BPF_CORE_READ(p, utask))
		r->first = (__u64)BPF_CORE_READ(p, utask, return_instances);
	if (r->first)
		r->trampoline = BPF_CORE_READ(mm, uprobes_state.xol_area, vaddr);
}

static long returns_look(__u32 i, struct returns_walk *w)
{
	struct return_instance *ri = w->ri;

	if (!ri)
		return 1;
	if (BPF_CORE_READ(ri, stack) == w->slot) {
		w->address = BPF_CORE_READ(ri, orig_ret_vaddr);
		return 1;
	}
	w->ri = BPF_CORE_READ(ri, next);
	return 0;
}

/* What stood in the stack's word `slot`, which now holds `ra`. */
static __always_inline __u64 returns_true(const struct returns *r, __u64 slot, __u64 ra)
{
	struct returns_walk w = { .ri = (void *)r->first, .slot = slot };

	if (!r->first || ra != r->trampoline)
		return ra;
	bpf_loop(RETURNS_MAX, returns_look, &w, 0);
	return w.address ? w.address : ra;
}

#endif
