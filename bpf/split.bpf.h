/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exact user time, measured at the edges of system calls. There may be millions of edges a second,
 * so the user time of the running thread is kept per CPU in one word, and an edge costs one clock
 * reading and one addition. Inside a system call the word is the thread's user time so far. In user
 * mode it is that minus CLOCK_MONOTONIC at the thread's entry to user mode, which is below 0,
 * because no thread has run for longer than the machine. Another CPU may read the word at any time;
 * one word is never half written.
 *
 * The thread's number is next to the word. If a thread finds another thread's word, its switch in
 * was not seen (edge.bpf.h), or it was running when the recording began. The edge itself tells what
 * the thread did since then: a system call is entered from user mode only. If the other thread left
 * unseen, its word is saved for its return before it is overwritten.
 *
 * Faults and interrupts in user mode count as user time here: tracing each of them would cost more
 * than they take.
 */
#ifndef SPLIT_BPF_H
#define SPLIT_BPF_H

#include "bpf/clock.bpf.h"
#include "bpf/er.bpf.h"
#include "bpf/state.bpf.h"
#include "bpf/thread.bpf.h"

const volatile bool er_split;

static __always_inline __u64 split_user(__s64 word, __u64 now)
{
	return word < 0 ? word + now : word;
}

/* How long `p` has been on its CPU up to `clk`, counted within the recording. */
static __always_inline __u64 split_since(const struct er_thread *t, struct task_struct *p,
					 __u64 clk)
{
	__u64 came = p->sched_info.last_arrival;

	if (came < t->since)
		came = t->since;
	return clk > came ? clk - came : 0;
}

/*
 * The current thread was in user mode until now, and the word is another thread's. Returns the
 * current thread's user time.
 */
__noinline __u64 er_split_take(struct er_cpu *c, __u64 now, bool user)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct er_thread *t = thread_find(p);

	if (!c)
		return 0;
	c->left = c->split;
	c->split.tid = p->pid;
	c->split.calls = 0;
	if (!t)
		return 0;
	return t->split_user + (user ? split_since(t, p, now - er_offset) : 0);
}

static __always_inline bool split_owned(const struct er_cpu *c)
{
	return c->split.tid == (__u32)bpf_get_current_task_btf()->pid;
}

static __always_inline void split_enter(struct er_cpu *c, __u64 now)
{
	if (!split_owned(c))
		c->split.word = er_split_take(c, now, true);
	else if (c->split.word < 0)
		c->split.word += now;
	c->split.calls++;
}

static __always_inline void split_exit(struct er_cpu *c, __u64 now)
{
	if (!split_owned(c))
		c->split.word = er_split_take(c, now, false) - now;
	else if (c->split.word >= 0)
		c->split.word -= now;
}

/* A clock sample finds the current thread in user mode. No edge may have been seen for that. */
static __always_inline void split_seen(struct er_cpu *c, __u64 now)
{
	if (!split_owned(c))
		c->split.word = er_split_take(c, now, true) - now;
}

/* The current thread leaves its CPU. Call this before its last edge is overwritten. */
static __always_inline void split_leave(struct er_thread *t, struct task_struct *p,
					struct er_cpu *c, __u64 clk)
{
	if (c->split.tid == (__u32)p->pid) {
		t->split_in = c->split.word >= 0;
		t->split_user = t->split_in ? c->split.word :
					      split_user(c->split.word, bpf_ktime_get_ns());
		t->ncalls += c->split.calls;
		c->split.tid = 0;
		return;
	}
	t->split_in = !p->mm || task_syscall(p) >= 0;
	if (!t->split_in)
		t->split_user += split_since(t, p, clk);
}

/*
 * The thread left without being seen, at the latest when it was queued. Use the word that the CPU
 * saved.
 */
static __always_inline void split_recover(struct er_thread *t, struct task_struct *p)
{
	__u32 cpu = t->split_cpu, tid = p->pid;
	const struct er_cpu *c = bpf_map_lookup_elem(&er_cpus, &cpu);
	struct er_split s;

	if (!c || (c->split.tid != tid && c->left.tid != tid))
		return;
	s = c->split.tid == tid ? c->split : c->left;
	t->split_in = s.word >= 0;
	t->split_user = split_user(s.word, clock_monotonic(p->sched_info.last_queued));
	t->ncalls += s.calls;
}

/* The thread `p` gets the CPU. If t is NULL nothing is known about it. */
static __always_inline void split_come(struct er_thread *t, struct task_struct *p,
				       struct er_cpu *c)
{
	if (t && t->where == WHERE_ON)
		split_recover(t, p);
	if (c->split.tid)
		c->left = c->split;
	c->split.tid = 0;
	if (!t || t->where == WHERE_UNKNOWN)
		return;
	c->split.tid = p->pid;
	c->split.calls = 0;
	c->split.word = t->split_user - (t->split_in ? 0 : bpf_ktime_get_ns());
	t->split_cpu = bpf_get_smp_processor_id();
}

/* The user time of `tid` as if it left now. It runs, perhaps on another CPU. */
static __always_inline void split_peek(struct er_thread *t, struct task_struct *p, __u32 tid)
{
	struct rq *rq = task_rq_copy(p);
	const struct er_cpu *c;
	__u32 cpu;

	if (!rq)
		return;
	cpu = BPF_CORE_READ(rq, cpu);
	c = bpf_map_lookup_elem(&er_cpus, &cpu);
	if (!c || c->split.tid != tid)
		return;
	t->split_user = split_user(c->split.word, bpf_ktime_get_ns());
	t->ncalls += c->split.calls;
}

/* The recording of a thread begins: its user time so far does not count. */
static __always_inline void split_begin(struct er_thread *t, struct task_struct *p)
{
	t->split_in = !p->mm || task_syscall(p) >= 0;
	split_peek(t, p, p->pid);
	t->split_user0 = t->split_user;
	t->ncalls = -t->ncalls;
}

/* An exec gave the current thread another number: its accounting begins again. */
static __always_inline void split_again(struct er_thread *t, struct task_struct *p,
					struct er_cpu *c)
{
	t->split_user0 = t->split_user;
	t->ncalls = 0;
	c->split.calls = 0;
	c->split.tid = p->pid;
}

#endif
