// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The clock. A perf event on each CPU runs er_clock, which sends who ran, where
 * and how much CPU time of the thread the sample stands for.
 *
 * Weights. The scheduler keeps the run time of each thread, to the nanosecond,
 * in se.sum_exec_runtime, brought up to date at each switch and tick. `reported`
 * is how much of it has been sent; a sample sends the rest, and so the records
 * of a thread add up to the kernel's own figure whatever the timer does. Between
 * two scheduler ticks the figure stands still, and most samples of a 1 ms clock
 * would weigh nothing and every fourth one 4 ms; therefore the running part is
 * added: the event's prev_count is local_clock() of this very moment, the clock
 * that exec_start is in, less what the run queue deducts for interrupts and
 * steal. Should the sum be ahead of the kernel by that, the next sample weighs
 * less. A sample is sent also when its weight is 0.
 *
 * Beginnings. A thread that is older than the recording has its sum taken as
 * reported by er_begin, an iterator over all threads. One born later starts
 * from 0.
 *
 * Ends. The last piece of a thread, since its last sample, is a residual. The
 * sum is final only when the thread has been switched away for good, so
 * er_switch looks for a dead thread at each switch. Tried instead:
 * sched_process_free, which comes a grace period later and costs nothing at
 * other switches. It left 3 to 50 of 1,000 threads of a process without an end
 * for more than 6 s after the last of them was gone (6.18, idle CPUs), so that
 * a recording could neither wait for them nor do without. er_exit puts by, while
 * the thread is whole, whose it is: at the last switch its group leader may be
 * gone. Threads between the two are counted (dying, dead); the loader waits a
 * moment for them at the stop.
 *
 * Stop. er_end writes the residual of each thread into the iterator's own
 * file: no ring to overflow however many threads there are. Whoever takes time
 * out of a thread's storage does so with a compare and swap, so that a thread
 * that ends while er_end looks at it has its time sent once.
 *
 * Cost. Of 5 to 6 us a sample at 1 kHz between 100,000 switches a second (6.18,
 * 2 virtual CPUs; 2.3 us at 10 kHz, the rest is caches gone cold) the user walk
 * is 1.8 us, the kernel walk 1.5, the id and its look-up 0.5, the thread's
 * storage 0.3, entry and clocks 0.3, the ring 0.15. With PERF_SAMPLE_CALLCHAIN
 * in the event BPF's account shows 0.8 us instead of 2.3, for perf then walks
 * before the program is entered; the load took as long, so it is not done.
 *
 * er_clock runs in the timer's interrupt and is never interrupted by itself;
 * er_exit, er_switch and er_end can be, by er_clock. They share nothing but the
 * numbers, which are atomic, and the thread's storage, which er_clock touches
 * only while the thread runs.
 */
#include "bpf/vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/er.bpf.h"
#include "bpf/stack.bpf.h"
#include "bpf/thread.bpf.h"

char LICENSE[] SEC("license") = "GPL";

enum {
	RUNNING_MAX_NS = 2000000000, /* beyond it the clocks cannot be the same */
	TASK_DEAD_STATE = 0x80,
};

const volatile __u64 er_interval_ns;

/* local_clock() of this event: perf has just read it to count the event. */
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

/* The thread's run time up to this moment, as the kernel will say when it looks. */
static __always_inline __u64 run_time(void *ctx, const struct sample *sm)
{
	struct task_struct *p = sm->task;
	__u64 began = p->se.exec_start, sum = p->se.sum_exec_runtime, clock;
	__s64 running;

	if (!sm->rq)
		return sum;
	barrier();
	if (p->se.exec_start != began) /* another CPU is bringing it up to date */
		return sum;
	clock = event_clock(ctx);
	running = clock - (sm->rq->clock - sm->rq->clock_task) - began;
	if (!clock || running < 0 || running > RUNNING_MAX_NS)
		return sum;
	return sum + running;
}

/* By a copy, not a pointer: see struct sample. */
static __always_inline __u64 leader_start(struct task_struct *p)
{
	return BPF_CORE_READ(p, group_leader, start_time);
}

static __always_inline struct er_thread *thread_get(struct task_struct *p, __u64 start_time)
{
	struct er_thread *t;

	t = bpf_task_storage_get(&er_threads, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (t)
		t->start_time = start_time;
	return t;
}

/* False for a thread older than the recording that er_begin missed: it is known from now on. */
static __always_inline bool thread_know(struct er_thread *t, struct task_struct *p, __u64 sum)
{
	if (t->state & THREAD_KNOWN)
		return true;
	t->state |= THREAD_KNOWN;
	if (thread_is_new(p))
		return true;
	t->reported = sum;
	return false;
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
	sum = run_time(ctx, sm);
	if (!thread_know(t, sm->task, sum)) {
		sm->cpu->counts.no_storage++;
		return er_interval_ns;
	}
	return thread_take(t, sum);
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
	r->h.kind = ER_KIND_CLOCK;
	r->h.seq = seq;
	r->h.time_ns = sm->now;
	r->start_time = sm->start_time;
	r->stack = stack;
	r->weight_ns = weight;
	r->cpu = bpf_get_smp_processor_id();
	r->tgid = sm->tgid;
	r->tid = sm->tid;
	r->flags = sm->flags;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	bpf_ringbuf_submit(r, er_wakeup(sm->ring));
}

static __always_inline __u32 sample_flags(struct bpf_perf_event_data *ctx, struct task_struct *p)
{
	__u32 flags = 0;

	if ((ctx->regs[ER_REG_CS] & 3) == 3)
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
	sm->mm = p->mm;
	sm->rq = bpf_core_field_exists(p->se.cfs_rq) ? p->se.cfs_rq->rq : NULL;
	sm->start_time = p->group_leader->start_time;
	sm->tgid = p->tgid;
	sm->tid = p->pid;
	sm->now = bpf_ktime_get_ns();
}

SEC("perf_event")
int er_clock(struct bpf_perf_event_data *ctx)
{
	struct sample sm;
	__u64 last, stack, weight;

	gather(&sm);
	sm.cpu = er_this_cpu();
	if (!sm.cpu)
		return 0;
	last = sm.cpu->tick_ns;
	sm.cpu->tick_ns = sm.now;
	if (!thread_wanted(sm.task))
		return 0;
	sm.ring = er_this_ring();
	sm.flags = sample_flags(ctx, sm.task);
	stack = sample_stack(ctx, &sm);
	if (sm.flags & ER_CLOCK_IDLE)
		weight = last ? sm.now - last : er_interval_ns;
	else
		weight = sample_weight(ctx, &sm, stack);
	send_sample(&sm, stack, weight);
	return 0;
}

SEC("iter/task")
int er_begin(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct er_cpu *c = er_this_cpu();
	struct er_thread *t;

	if (!p || !c || thread_is_new(p) || !thread_wanted(p))
		return 0;
	t = thread_get(p, leader_start(p));
	if (!t)
		return 0; /* its first sample finds and counts that */
	t->reported = p->se.sum_exec_runtime;
	t->state |= THREAD_KNOWN;
	return 0;
}

/* The last sample says nothing about a program that was started since. */
static __always_inline bool sample_holds(const struct er_thread *t, struct task_struct *p)
{
	return t->state & THREAD_SAMPLED && t->exec_id == p->self_exec_id;
}

static __always_inline void fill_residual(struct er_clock *r, struct task_struct *p,
					  const struct er_thread *t, struct er_cpu *c)
{
	r->h.kind = ER_KIND_RESIDUAL;
	r->h.seq = er_number(c, ER_KIND_CLOCK);
	r->h.time_ns = bpf_ktime_get_ns();
	r->start_time = t->start_time;
	r->stack = sample_holds(t, p) ? t->stack : 0;
	r->cpu = bpf_get_smp_processor_id();
	r->tgid = p->tgid;
	r->tid = p->pid;
	r->flags = sample_holds(t, p) ? t->flags : ER_CLOCK_UNSAMPLED;
	if (p->flags & TASK_PF_KTHREAD)
		r->flags |= ER_CLOCK_KTHREAD;
	bpf_core_read_str(r->comm, sizeof(r->comm), &p->comm);
}

/* Too late for the recording, or not of interest. */
static __always_inline bool thread_ignored(struct task_struct *p)
{
	return (er_stop_ns && p->start_time >= er_stop_ns) || !thread_wanted(p);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(er_exit, struct task_struct *p)
{
	struct er_cpu *c = er_this_cpu();
	struct er_thread *t;

	if (!c || thread_ignored(p))
		return 0;
	t = thread_get(p, leader_start(p));
	if (!t || !thread_know(t, p, p->se.sum_exec_runtime))
		__sync_fetch_and_add(&c->counts.no_storage, 1);
	if (t && !(__sync_fetch_and_or(&t->state, THREAD_DYING) & THREAD_CLOSED))
		__sync_fetch_and_add(&c->dying, 1);
	return 0;
}

static __always_inline void thread_close(struct er_thread *t, struct er_cpu *c)
{
	__u32 was = __sync_fetch_and_or(&t->state, THREAD_CLOSED);

	if ((was & THREAD_DYING) && !(was & THREAD_CLOSED))
		__sync_fetch_and_add(&c->dead, 1);
}

static __always_inline void send_residual(struct task_struct *p, struct er_thread *t,
					  struct er_cpu *c)
{
	__u64 weight = thread_take(t, p->se.sum_exec_runtime);
	void *ring = er_this_ring();
	struct er_clock r = {};

	if (!weight)
		return;
	fill_residual(&r, p, t, c);
	r.weight_ns = weight;
	if (!ring || bpf_ringbuf_output(ring, &r, sizeof(r), er_wakeup(ring)))
		er_lost(c, ER_KIND_CLOCK, r.h.time_ns, r.tgid, r.tid);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(er_switch, bool preempt, struct task_struct *p)
{
	struct er_cpu *c;
	struct er_thread *t;

	if (!(p->__state & TASK_DEAD_STATE))
		return 0;
	c = er_this_cpu();
	t = bpf_task_storage_get(&er_threads, p, 0, 0);
	if (!c || !t || (t->state & THREAD_CLOSED))
		return 0;
	send_residual(p, t, c);
	thread_close(t, c);
	return 0;
}

/* The residual into the iterator's file, which has room: the loader reads in small pieces. */
static __always_inline void write_residual(struct bpf_iter__task *ctx, struct task_struct *p,
					  struct er_thread *t, struct er_cpu *c)
{
	__u64 weight = thread_take(t, p->se.sum_exec_runtime);
	struct er_clock r = {};

	if (!weight)
		return;
	fill_residual(&r, p, t, c);
	r.weight_ns = weight;
	if (bpf_seq_write(ctx->meta->seq, &r, sizeof(r)))
		er_lost(c, ER_KIND_CLOCK, r.h.time_ns, r.tgid, r.tid);
}

SEC("iter/task")
int er_end(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct er_cpu *c = er_this_cpu();
	struct er_thread *t;

	if (!p || !c || thread_ignored(p))
		return 0;
	t = thread_get(p, leader_start(p));
	if (!t || !thread_know(t, p, p->se.sum_exec_runtime)) {
		__sync_fetch_and_add(&c->counts.no_storage, 1);
		return 0;
	}
	write_residual(ctx, p, t, c);
	thread_close(t, c);
	return 0;
}
