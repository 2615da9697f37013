/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends the command line of a program when it begins. Its pages have just been written, so they are
 * in memory. Later it can be read in /proc only while the process lives, and many live for too short
 * a time.
 */
#ifndef COMMAND_BPF_H
#define COMMAND_BPF_H

#include "bpf/command.h"
#include "bpf/er.bpf.h"
#include "bpf/thread.bpf.h"

/* A function of its own: the caller's other work has nothing to do with it. */
__noinline int er_command_send(struct er_cpu *c)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u64 at = BPF_CORE_READ(p, mm, arg_start), size = BPF_CORE_READ(p, mm, arg_end) - at;
	struct er_command *r = NULL;
	void *ring = er_this_ring();
	__u64 n = size < ER_COMMAND_TEXT ? size : ER_COMMAND_TEXT;

	if (!c || !n)
		return 0;
	if (ring)
		r = bpf_ringbuf_reserve(ring, sizeof(*r), 0);
	if (!r) {
		er_number(c, ER_KIND_COMMAND);
		er_lost(c, ER_KIND_COMMAND, bpf_ktime_get_ns(), p->tgid, p->pid);
		return 0;
	}
	barrier_var(n); /* bound it right before its use, or 6.1 loses the bound */
	if (n > ER_COMMAND_TEXT || bpf_probe_read_user(r->text, n, (void *)at)) {
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		return 0;
	}
	r->h.kind = ER_KIND_COMMAND;
	r->h.seq = er_number(c, ER_KIND_COMMAND);
	r->h.time_ns = bpf_ktime_get_ns();
	r->start_time = leader_start(p);
	r->tgid = p->tgid;
	r->n = n;
	r->whole = n == size;
	r->pad = 0;
	bpf_ringbuf_submit(r, er_wakeup(ring));
	return 0;
}

#endif
