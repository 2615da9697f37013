/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a thread's accounting begins. An iterator visits all threads that are older than the
 * recording. It takes a thread in its present state: CPU time so far counts as reported, and an
 * open wait begins now. A thread that is born later starts from 0 and first waits for a CPU. A
 * thread that was born after the recording began, but before er_newtask was attached, also starts
 * from 0.
 *
 * The same iterator ends a pause. Threads that the pause closed (end.bpf.h) begin again, as if the
 * recorder had just found them.
 */
#ifndef BEGIN_BPF_H
#define BEGIN_BPF_H

#include "bpf/edge.bpf.h"
#include "bpf/residual.bpf.h"
#include "bpf/sample.bpf.h"

/* True if the thread is running as er_switch sees it. on_cpu changes just after the tracepoint. */
static __always_inline bool task_runs(struct task_struct *p)
{
	struct rq *rq = task_rq_copy(p);

	return rq && BPF_CORE_READ(rq, curr) == p;
}

/* The run time of any thread up to `clk`. */
static __always_inline __u64 run_time_now(struct task_struct *p, __u64 clk)
{
	struct rq *rq;

	if (!task_runs(p))
		return p->se.sum_exec_runtime;
	rq = task_rq_copy(p);
	return run_time_at(p, clk - (BPF_CORE_READ(rq, clock) - BPF_CORE_READ(rq, clock_task)));
}

static __always_inline void begin_states(struct er_thread *t, struct task_struct *p, __u64 clk,
					 __u64 sum)
{
	__u32 st = p->__state;

	total_begin(t, p, clk);
	t->run0 = sum;
	t->delay = queue_wait_open(t, p, clk);
	t->wflags = ER_WAIT_OPEN_START;
	if (er_split)
		split_begin(t, p);
	if (task_runs(p)) {
		t->where = WHERE_ON;
	} else if (!st) {
		t->off_state = ER_OFF_CPU;
		t->where = WHERE_QUEUED;
	} else {
		t->off_state = off_state(t, p, st, false);
		t->where = WHERE_BLOCKED;
	}
}

/*
 * Its total so far was sent. The sample points begin anew, too: the weight of the next one would
 * include time that is in the old total.
 */
static __always_inline void begin_from_nothing(struct er_thread *t)
{
	for (int i = 0; i < OFF_SLOTS; i++) {
		t->off_ns[i] = t->weighed[i] = t->rest_stack[i] = 0;
		t->off_n[i] = t->points.left[i] = t->points.gap[i] = 0;
	}
	t->moved_ns = t->nmoved = 0;
}

/* The thread was closed by a pause that is over. */
static __always_inline void begin_reset(struct er_thread *t)
{
	begin_from_nothing(t);
	t->total_flags = ER_TOTAL_AGAIN;
	t->owed = t->kfault = 0;
	t->ncalls = 0;
	t->where = WHERE_UNKNOWN;
}

/* From here on its edges count again. One that began to exit during the pause is awaited. */
static __always_inline void begin_reopen(struct er_thread *t, struct er_cpu *c)
{
	if (__sync_fetch_and_and(&t->state, ~(THREAD_CLOSED | THREAD_SAMPLED)) & THREAD_DYING)
		__sync_fetch_and_add(&c->dying, 1);
}

static __always_inline void begin_thread(struct er_thread *t, struct task_struct *p,
					 struct er_cpu *c)
{
	__u64 clk = clock_now(), sum = run_time_now(p, clk);
	bool dead = p->__state & TASK_DEAD_STATE, closed = t->state & THREAD_CLOSED;

	if (closed ? dead : t->where != WHERE_UNKNOWN) /* er_newtask saw it */
		return;
	if (closed)
		begin_reset(t);
	t->tid = p->pid;
	if (!thread_is_new(p))
		t->reported = sum;
	if (er_states)
		begin_states(t, p, clk, sum);
	if (er_states && thread_is_new(p))
		edge_since_birth(t, p, clk);
	/* Threads that are already dead are ignored. */
	t->state |= dead ? THREAD_KNOWN | THREAD_CLOSED : THREAD_KNOWN;
	residual_begin(t, p, thread_user(t, p));
	if (closed)
		begin_reopen(t, c);
}

/* The parent runs this, before the child can run. */
static __always_inline void begin_child(struct er_thread *t, struct task_struct *p,
					struct task_struct *parent)
{
	total_begin(t, p, p->start_time - er_offset);
	residual_begin(t, p, 0);
	t->run0 = t->delay = 0;
	t->total_flags = ER_TOTAL_BORN;
	t->state |= THREAD_KNOWN;
	t->wflags = ER_WAIT_NEW;
	t->split_in = true;
	t->off_state = ER_OFF_SLEEP;
	t->where = WHERE_BLOCKED;
	t->waker_tgid = parent->tgid;
	t->waker_tid = parent->pid;
	t->waker_start = leader_start(parent);
}

/* The total under the old number was sent. The thread continues as another thread. */
static __always_inline void begin_again(struct er_thread *t, struct task_struct *p, __u64 clk,
					__u64 sum)
{
	begin_from_nothing(t);
	total_begin(t, p, clk);
	t->run0 = sum;
	t->total_flags = ER_TOTAL_BORN;
}

#endif
