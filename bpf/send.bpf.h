/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends a stack to user space. */
#ifndef SEND_BPF_H
#define SEND_BPF_H

#include "bpf/walk.bpf.h"

/* Send into the ring. `seq` is a compile-time constant: NULL except in the last iterator. */
static __always_inline bool stack_write(const union stack_scratch *st, __u32 size, bool wake,
					struct seq_file *seq)
{
	void *ring = seq ? NULL : er_this_ring();
	__u64 flags;

	if (!seq && !ring)
		return false;
	flags = wake || !ring ? BPF_RB_FORCE_WAKEUP : er_wakeup(ring);
	barrier_var(size); /* bound it right before its use, or 6.1 loses the bound in a spill */
	if (size > sizeof(*st))
		return false;
	return seq ? last_write(seq, st, size) : !bpf_ringbuf_output(ring, (void *)st, size, flags);
}

/* Wake the reader at once, so that it publishes the tables that a raw stack needs. */
static __always_inline bool send_stack(union stack_scratch *st, struct er_cpu *c, __u32 tid,
				       struct seq_file *seq)
{
	bool raw = st->s.flags & ER_STACK_RAW;
	__u32 size = sizeof(st->s) + (st->s.nkernel + st->s.nuser) * 8;

	if (raw)
		size += raw_size(st, st->s.nkernel);
	st->s.h.kind = ER_KIND_STACK;
	st->s.h.seq = er_number(c, ER_KIND_STACK);
	if (stack_write(st, size, raw, seq))
		return true;
	er_lost(c, ER_KIND_STACK, st->s.h.time_ns, st->s.tgid, tid);
	return false;
}

#endif
