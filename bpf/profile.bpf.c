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
#include "bpf/thread.bpf.h"

char LICENSE[] SEC("license") = "GPL";

enum {
	SEEN_LINES = 8192, /* a power of two */
	SEEN_WAYS = 8,     /* a cache line of ids */
	FEW_FRAMES = 32,
	RUNNING_MAX_NS = 2000000000, /* beyond it the clocks cannot be the same */
	TASK_DEAD_STATE = 0x80,
};

/*
 * Ids of stacks that were sent, in the line that their low bits name. In a full
 * line a new one takes the place of any other, which is sent again when it comes
 * again; so it is when two CPUs write to one line at a time. An LRU hash cost
 * 0.5 us more a sample, and 5 MB to clear at each start.
 */
struct seen_line {
	__u64 ids[SEEN_WAYS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SEEN_LINES);
	__type(key, __u32);
	__type(value, struct seen_line);
} er_seen SEC(".maps");

union stack_scratch {
	struct er_stack s;
	__u64 room[sizeof(struct er_stack) / 8 + 2 * ER_MAX_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, union stack_scratch);
} er_scratch SEC(".maps");

const volatile __u64 er_interval_ns;
const volatile __u64 er_hash_seed; /* secret, so that nobody can make stacks collide */
const volatile __u32 er_max_frames = ER_MAX_FRAMES;

/*
 * What a sample is made of, gathered once and before any branch: for each
 * pointer that a program follows the verifier searches the kernel's BTF from
 * end to end, each time that a way through the program comes by.
 */
struct sample {
	struct task_struct *task;
	struct mm_struct *mm;
	struct rq *rq; /* NULL: not to be had on this kernel */
	struct er_cpu *cpu;
	void *ring;
	__u64 now;
	__u64 start_time;
	__u32 tgid, tid;
	__u32 flags;
};

static __always_inline __u64 mix(__u64 h, __u64 x)
{
	h = (h ^ x) * 0x9fb21c651e98df25ULL;
	return h ^ (h >> 32);
}

/*
 * Not static, so that the verifier takes it by itself: looked at in the place
 * of its call it was walked again for each way that leads there, 175,000
 * instructions and a tenth of a second at each start.
 */
__noinline __u64 er_stack_hash(union stack_scratch *st, __u32 n, __u64 exec_id)
{
	__u64 h;

	if (!st)
		return 0;
	h = mix(er_hash_seed, st->s.start_time);
	h = mix(h, (__u64)st->s.tgid << 32 | st->s.flags);
	h = mix(h, exec_id);
	h = mix(h, (__u64)st->s.nkernel << 16 | st->s.nuser);
	for (__u32 i = 0; i < 2 * ER_MAX_FRAMES; i++) {
		if (i >= n)
			break;
		h = mix(h, st->s.pcs[i]);
	}
	h = mix(h, h >> 29);
	return h ? h : 1;
}

/* After a system call the user's pc is where it returns to; after an interrupt, where it was. */
static __always_inline bool user_pc_exact(const struct sample *sm)
{
	struct pt_regs *regs;

	if (sm->flags & ER_CLOCK_USER)
		return true;
	regs = (struct pt_regs *)bpf_task_pt_regs(sm->task);
	return (long)BPF_CORE_READ(regs, orig_ax) < 0;
}

static __always_inline bool seen_has(const struct seen_line *line, __u64 id)
{
	for (int i = 0; i < SEEN_WAYS; i++)
		if (line->ids[i] == id)
			return true;
	return false;
}

/* In a free place, or in one that chance names. */
static __always_inline void seen_add(struct seen_line *line, __u64 id, __u64 chance)
{
	for (int i = 0; i < SEEN_WAYS; i++) {
		if (!line->ids[i]) {
			line->ids[i] = id;
			return;
		}
	}
	line->ids[chance % SEEN_WAYS] = id;
}

/*
 * The kernel clears what it does not fill, 1 KiB for a stack of ten frames:
 * ask for a few frames, and for all of them when there are more.
 */
static __always_inline long get_stack(void *ctx, __u64 *pcs, __u64 flags)
{
	if (er_max_frames > FEW_FRAMES) {
		long got = bpf_get_stack(ctx, pcs, FEW_FRAMES * 8, flags);

		if (got < FEW_FRAMES * 8)
			return got;
	}
	return bpf_get_stack(ctx, pcs, er_max_frames * 8, flags);
}

static __always_inline __u32 walk_kernel(void *ctx, union stack_scratch *st,
					 const struct sample *sm)
{
	long got;

	if (sm->flags & ER_CLOCK_USER)
		return 0;
	got = get_stack(ctx, st->s.pcs, 0);
	if (got <= 0) {
		st->s.flags |= ER_STACK_KERNEL_FAILED;
		sm->cpu->counts.stack_kernel_failed++;
		return 0;
	}
	if (got / 8 >= er_max_frames) {
		st->s.flags |= ER_STACK_KERNEL_TRUNCATED;
		sm->cpu->counts.stack_kernel_truncated++;
	}
	return got / 8;
}

static __always_inline __u32 walk_user(void *ctx, union stack_scratch *st, __u32 at,
				       const struct sample *sm)
{
	long got;

	if (sm->task->flags & (TASK_PF_KTHREAD | TASK_PF_IO_WORKER) || !sm->mm)
		return 0;
	if (at > ER_MAX_FRAMES)
		return 0;
	got = get_stack(ctx, st->s.pcs + at, BPF_F_USER_STACK);
	if (got <= 0) {
		st->s.flags |= ER_STACK_USER_FAILED;
		sm->cpu->counts.stack_user_failed++;
		return 0;
	}
	if (got / 8 >= er_max_frames) {
		st->s.flags |= ER_STACK_USER_TRUNCATED;
		sm->cpu->counts.stack_user_truncated++;
	}
	if (user_pc_exact(sm))
		st->s.flags |= ER_STACK_USER_EXACT;
	return got / 8;
}

/* A stack is seen only once it is in a ring: a lost definition is tried again. */
static __always_inline void send_stack(union stack_scratch *st, __u32 n, const struct sample *sm,
				       struct seen_line *line)
{
	__u32 size = sizeof(st->s) + n * 8;

	st->s.h.kind = ER_KIND_STACK;
	st->s.h.seq = er_number(sm->cpu, ER_KIND_STACK);
	st->s.h.time_ns = sm->now;
	if (size <= sizeof(*st) && sm->ring &&
	    !bpf_ringbuf_output(sm->ring, st, size, er_wakeup(sm->ring)))
		seen_add(line, st->s.id, sm->now >> 4);
	else
		er_lost(sm->cpu, ER_KIND_STACK, sm->now, sm->tgid, sm->tid);
}

/* Walk both stacks, send them if they are new; the id, 0 when there is no frame at all. */
static __always_inline __u64 sample_stack(void *ctx, const struct sample *sm)
{
	union stack_scratch *st;
	struct seen_line *line;
	__u32 zero = 0, nkernel, nuser, n, at;

	st = bpf_map_lookup_elem(&er_scratch, &zero);
	if (!st)
		return 0;
	st->s.flags = 0;
	st->s.pad = 0;
	st->s.tgid = sm->tgid;
	st->s.start_time = sm->start_time;
	nkernel = walk_kernel(ctx, st, sm);
	nuser = walk_user(ctx, st, nkernel, sm);
	st->s.nkernel = nkernel;
	st->s.nuser = nuser;
	n = nkernel + nuser;
	if (!n && !st->s.flags)
		return 0;
	st->s.id = er_stack_hash(st, n, sm->task->self_exec_id);
	at = st->s.id % SEEN_LINES;
	line = bpf_map_lookup_elem(&er_seen, &at);
	if (line && !seen_has(line, st->s.id))
		send_stack(st, n, sm, line);
	return st->s.id;
}

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
