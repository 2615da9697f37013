// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Spans: named calls, each with its own times by state. These programs are an object of their own,
 * which is loaded only if spans are recorded. It shares the rings and the storage of threads with
 * profile.bpf.c.
 *
 * A call begins and ends at sites: uprobes, uretprobes, or the tracepoints of system calls. The
 * link's cookie is the index of the site. At the begin the thread's counters are copied into a
 * slot of the thread (span.bpf.h). At the end the difference is added to the sums of its name, and
 * to the histogram of its durations. Then a record is sent, if this call is chosen.
 *
 * How a begin finds its end:
 *
 * - A function's return: by the stack pointer, as the kernel finds a return that it probes. A call
 *   whose frame is below the stack pointer of a later call or return has been left, by longjmp or
 *   an exception. Its end is dated when this is noticed. If exceptions may pass through it, there is
 *   no return probe: the ends are breakpoints on the instructions that return or jump out. So they are
 *   if the thread may switch its stack inside; then stack pointers are only compared for equality.
 * - A pair of functions or probes: the end belongs to the newest open begin of its name. A begin
 *   whose name is open, in a frame that is not deeper, replaces it: the first one was left.
 * - A system call: there is one at most.
 *
 * A thread's end and an exec close all its spans. A system call of an exec goes on in the new
 * program. The end of the recording, and a pause, close the spans of all threads.
 */
#include "bpf/vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/cost.bpf.h"
#include "bpf/span.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* The system calls that are sites: the index of the begin + 1. The end is the next site. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ER_MAX_SYSCALLS);
	__type(key, __u32);
	__type(value, __u32);
} er_span_calls SEC(".maps");

static __always_inline void span_enter(const struct pt_regs *regs, __u32 key, __u64 sp)
{
	const struct er_span_site *site = span_site(key);
	bool passes;

	if (!site)
		return;
	passes = span_passes(regs, site);
	if (!passes && site->mark)
		return;
	if (span_begin(site, key, sp, !passes))
		span_arguments(regs, site, sp, false);
}

static __always_inline void span_leave(struct er_cpu *c, const struct pt_regs *regs, __u32 key, __u64 sp)
{
	const struct er_span_site *site = span_site(key);
	bool passes;

	if (!site || !span_leaves(regs, site))
		return;
	passes = span_passes(regs, site);
	if (!passes && site->mark)
		return;
	if (passes)
		span_arguments(regs, site, sp, true);
	span_end(c, site, key, sp, !passes);
}

SEC("uprobe")
int er_span_enter(struct pt_regs *regs)
{
	__u64 site = bpf_get_attach_cookie(regs), began;
	struct er_cpu *c = er_this_cpu();

	if (!c)
		return 0;
	began = cost_begin(c, ER_PROG_SPAN);
	span_enter(regs, site, regs->sp);
	cost_end(c, ER_PROG_SPAN, began);
	return 0;
}

SEC("uprobe")
int er_span_leave(struct pt_regs *regs)
{
	__u64 site = bpf_get_attach_cookie(regs), began;
	struct er_cpu *c = er_this_cpu();

	if (!c)
		return 0;
	began = cost_begin(c, ER_PROG_SPAN);
	span_leave(c, regs, site, regs->sp);
	cost_end(c, ER_PROG_SPAN, began);
	return 0;
}

/* 32-bit programs have other numbers; their system calls are not recorded. */
static __always_inline __u32 call_site(const struct pt_regs *user, __u32 nr)
{
	__u32 *site = bpf_map_lookup_elem(&er_span_calls, &nr);

	return site && !arch_is_32bit(user) ? *site : 0;
}

SEC("raw_tp/sys_enter")
int BPF_PROG(er_span_sys_enter, struct pt_regs *regs, long nr)
{
	const struct pt_regs *user = arch_user_regs(bpf_get_current_task_btf());
	struct er_cpu *c = er_this_cpu();
	__u64 began;
	__u32 site;

	if (!c)
		return 0;
	began = cost_begin(c, ER_PROG_SPAN);
	site = call_site(user, nr);
	if (site)
		span_enter(user, site - 1, 0);
	cost_end(c, ER_PROG_SPAN, began);
	return 0;
}

/* The return from a signal handler has lost its number by then. */
SEC("raw_tp/sys_exit")
int BPF_PROG(er_span_sys_exit, struct pt_regs *regs, long ret)
{
	const struct pt_regs *user = arch_user_regs(bpf_get_current_task_btf());
	struct er_cpu *c = er_this_cpu();
	long nr = arch_syscall(user);
	__u64 began;
	__u32 site;

	if (!c)
		return 0;
	began = cost_begin(c, ER_PROG_SPAN);
	site = call_site(user, nr < 0 ? ARCH_SIGRETURN : nr);
	if (site)
		span_leave(c, user, site, 0);
	cost_end(c, ER_PROG_SPAN, began);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(er_span_exit, struct task_struct *p)
{
	span_close_all(p, p->pid, ER_SPAN_THREAD_END, WALK_ALL);
	return 0;
}

/*
 * A thread that was not the leader takes the leader's number, and its counters begin again: then
 * the system call ends, too. Attached before the program that does that (loaders/spans.c).
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(er_span_exec, struct task_struct *p, pid_t old_tid)
{
	span_close_all(p, old_tid, ER_SPAN_EXEC, p->pid == old_tid ? WALK_NOT_CALLS : WALK_ALL);
	return 0;
}

SEC("iter/task")
int er_span_last(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *p = ctx->task;

	barrier_var(seq); /* before any branch: see task_rq */
	if (p)
		span_last(seq, p);
	return 0;
}
