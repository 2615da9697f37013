/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds return addresses that a uretprobe has replaced. Such a probe overwrites the function's
 * return address on the stack with the address of the kernel's trampoline (the mapping [uprobes]).
 * The true address is in a list of the thread's task, together with the address of its slot on the
 * stack.
 */
#ifndef UPROBE_BPF_H
#define UPROBE_BPF_H

#include "bpf/er.bpf.h"

enum { RETURNS_MAX = 64 }; /* the kernel's MAX_URETPROBE_DEPTH */

struct returns {
	__u64 first;   /* the newest struct return_instance; 0: none */
	__u64 trampoline;
	__u64 at;      /* state of a search: the next instance, */
	__u64 slot;    /* the address of the slot, */
	__u64 address; /* and the address found; 0: none */
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

static long returns_look(__u32 i, struct returns **ctx)
{
	struct returns *r = *ctx;
	struct return_instance *ri = (void *)r->at;

	if (!ri)
		return 1;
	if (BPF_CORE_READ(ri, stack) == r->slot) {
		r->address = BPF_CORE_READ(ri, orig_ret_vaddr);
		return 1;
	}
	r->at = (__u64)BPF_CORE_READ(ri, next);
	return 0;
}

/* The return address that stood in the stack's word `slot`, which now holds `ra`. */
__noinline __u64 er_return_true(struct returns *r, __u64 slot, __u64 ra)
{
	if (!r || !r->first || ra != r->trampoline)
		return ra;
	r->at = r->first;
	r->slot = slot;
	r->address = 0;
	bpf_loop(RETURNS_MAX, returns_look, &r, 0);
	return r->address ? r->address : ra;
}

#endif
