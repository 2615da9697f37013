/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A clock sample: the running thread, its stack, and the CPU time that the sample represents.
 *
 * Weights. The scheduler keeps the run time of each thread in se.sum_exec_runtime, to the
 * nanosecond, and updates it at each switch and tick. `reported` is the part that has been sent. A
 * sample sends the difference, so the records of a thread add up to the kernel's own figure,
 * whatever the timer does. Between two scheduler ticks the figure does not change: with a 1 ms
 * clock most samples would weigh nothing and every fourth one 4 ms. So the time since the last
 * update is added. The event's prev_count is local_clock() at this moment; exec_start is in the
 * same clock, less what the run queue deducts for interrupts and stolen time. If the sum runs ahead
 * of the kernel's figure, the next sample weighs less; a thread without a next one would have more
 * time in samples than the kernel counted. A sample is sent even if its weight is 0.
 */
#ifndef SAMPLE_BPF_H
#define SAMPLE_BPF_H

#include "bpf/clock.bpf.h"
#include "bpf/er.bpf.h"
#include "bpf/split.bpf.h"
#include "bpf/stack.bpf.h"
#include "bpf/thread.bpf.h"

enum {
	RUNNING_MAX_NS = 2000000000, /* with a larger value the clocks cannot be the same */
	RQ_SKIPS_UPDATE = 1,         /* in rq->clock_update_flags; the kernel's RQCF_REQ_SKIP */
};

const volatile __u64 er_interval_ns;

/* local_clock() at this event: perf has just read it to count the event. */
static __always_inline __u64 event_clock(void *ctx)
{
	struct bpf_perf_event_data_kern *kern = ctx;
	struct perf_event *event;
	__u64 clock = 0;

	if (bpf_core_read(&event, sizeof(event), &kern->event) ||
	    bpf_core_read(&clock, sizeof(clock), &event->hw.prev_count))
		return 0;
	return clock;
}

/* The run time up to `clock` (run queue's clock), as the kernel's next update will compute it. */
static __always_inline __u64 run_time_at(struct task_struct *p, __u64 clock)
{
	__u64 began = p->se.exec_start, sum = p->se.sum_exec_runtime;
	__s64 running;

	barrier();
	if (p->se.exec_start != began) /* another CPU is updating it */
		return sum;
	running = clock - began;
	if (running < 0 || running > RUNNING_MAX_NS)
		return sum;
	return sum + running;
}

/*
 * A wakeup that preempts the thread saves the switch an update of the clock: the switch counts run
 * time up to the wakeup only, and the rest is charged to the next thread.
 */
static __always_inline bool clock_stands(const struct rq *rq)
{
	return rq->clock_update_flags & RQ_SKIPS_UPDATE;
}

static __always_inline __u64 sample_run_time(void *ctx, const struct sample *sm)
{
	__u64 clock = !sm->rq ? 0 : clock_stands(sm->rq) ? sm->rq->clock : event_clock(ctx);

	if (!clock)
		return sm->task->se.sum_exec_runtime;
	return run_time_at(sm->task, clock - (sm->rq->clock - sm->rq->clock_task));
}

static __always_inline __u64 sample_weight(void *ctx, const struct sample *sm, __u64 stack)
{
	struct er_thread *t = thread_get(sm->task, sm->start_time);
	__u64 sum;

	if (!t) {
		sm->cpu->counts.no_storage++;
		return 0;
	}
	t->stack = stack;
	t->exec_id = sm->task->self_exec_id;
	t->flags = sm->flags;
	t->state |= THREAD_SAMPLED;
	if (er_split && sm->flags & ER_CLOCK_USER)
		split_seen(sm->cpu, sm->now);
	sum = sample_run_time(ctx, sm);
	if (!thread_know(t, sm->task, sum)) {
		sm->cpu->counts.no_storage++;
		return 0; /* its states begin now, too, or soon */
	}
	return thread_take(t, sum);
}

/* Fill in the fields that a clock sample and a counter's overflow have in common. */
static __always_inline void sample_fill(struct er_clock *r, const struct sample *sm,
					enum er_kind kind, __u32 seq, __u64 stack, __u64 weight)
{
	r->h.kind = kind;
	r->h.seq = seq;
	r->h.time_ns = sm->now;
	task_fill(&r->task, sm->task, sm->start_time, sm->tid);
	r->stack = stack;
	r->weight = weight;
	r->cpu = bpf_get_smp_processor_id();
	r->flags = sm->flags;
	r->goroutine = sm->goroutine;
}

static __always_inline void send_sample(const struct sample *sm, __u64 stack, __u64 weight)
{
	__u32 seq = er_number(sm->cpu, ER_KIND_CLOCK);
	struct er_clock *r = NULL;

	if (sm->ring)
		r = bpf_ringbuf_reserve(sm->ring, sizeof(*r), 0);
	if (!r) {
		er_lost(sm->cpu, ER_KIND_CLOCK, sm->now, sm->tgid, sm->tid);
		return;
	}
	sample_fill(r, sm, ER_KIND_CLOCK, seq, stack, weight);
	bpf_ringbuf_submit(r, er_wakeup(sm->ring));
}

/*
 * A function of its own, so that the verifier does not check all later code for each return value.
 */
__noinline __u32 er_sample_flags(__u64 cs)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u32 flags = 0;

	if ((cs & 3) == 3)
		flags |= ER_CLOCK_USER;
	if (!p->pid)
		flags |= ER_CLOCK_IDLE;
	else if (p->flags & TASK_PF_KTHREAD)
		flags |= ER_CLOCK_KTHREAD;
	return flags;
}

static __always_inline void gather(struct sample *sm)
{
	struct task_struct *p = bpf_get_current_task_btf();

	sm->task = p;
	sm->mm = BPF_CORE_READ(p, mm);
	sm->rq = task_rq(p);
	sm->start_time = leader_start(p);
	sm->tgid = p->tgid;
	sm->tid = p->pid;
	sm->now = bpf_ktime_get_ns();
	sm->no_user = false;
	sm->goroutine = 0;
}

static __always_inline void clock_sample(struct bpf_perf_event_data *ctx, struct er_cpu *c,
					 bool again)
{
	struct sample sm;
	__u64 last, stack, weight;

	gather(&sm);
	sm.cpu = c;
	last = c->tick_ns;
	c->tick_ns = sm.now;
	if (!thread_wanted(sm.task))
		return;
	sm.ring = er_this_ring();
	sm.flags = er_sample_flags(ctx->regs[ER_REG_CS]);
	stack = sample_stack(ctx, &sm, SCRATCH_CLOCK, again);
	/* The last tick may have been before a pause. */
	if (sm.flags & ER_CLOCK_IDLE)
		weight = last > er_start_ns ? sm.now - last : er_interval_ns;
	else
		weight = sample_weight(ctx, &sm, stack);
	send_sample(&sm, stack, weight);
}

#endif
