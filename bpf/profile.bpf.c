// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The programs that record the clock and the states of threads.
 *
 * The clock: a perf event on each CPU runs er_clock. It sends the running thread, its stacks, and
 * the thread's CPU time since its last record (sample.bpf.h).
 *
 * States, if asked for: each thread's time on and off the CPU is counted exactly in its storage, at
 * the edges (edge.bpf.h). er_switch runs when a thread leaves the CPU or comes back; er_waking
 * notes the waker. Waits that contain a sample point (points.bpf.h) are recorded with their stacks.
 * The stack cannot be walked in er_switch, because the thread that comes back is not yet the
 * current one. er_back walks it at the end of the scheduler (6.16), or er_back_kprobe right after
 * the switch. If the kernel allows neither, the stack is taken when the thread leaves and a long
 * wait is predicted. A switch with nothing to record reads no clock and walks no stack.
 *
 * Ends: when a thread ends, its CPU time since its last sample is sent as a residual, and its times
 * by state as a total. Both are final only at its last switch, so er_switch checks at each switch
 * whether the thread is dead. The alternative is sched_process_free, which comes a grace period
 * later and costs nothing at other switches. But of 1,000 threads of a process it missed 3 to 50
 * for more than 6 s after the last had ended (6.18, idle CPUs): too long to wait for, and too many
 * to leave out. er_exit saves the identity of the thread while it is complete, because at the last
 * switch its group leader may be gone. Threads between the two are counted (dying, dead); at the
 * stop the loader waits for them for a moment. end.bpf.h has the end of the recording.
 *
 * Concurrency: er_clock runs in the timer's interrupt and never interrupts itself. er_waking runs
 * with interrupts off, also in interrupts. These two can interrupt all others. The programs share
 * only the record numbers, which are atomic, and the thread's storage. There er_clock touches only
 * its own fields, and only while the thread runs; er_waking touches only the waker.
 *
 * Cost, by our own measurement (6.18, 2 virtual CPUs), with "sched pipe" on one CPU, and with
 * "sched messaging", where 400 threads keep the caches cold: er_switch 77 and 350 ns, er_waking 44
 * and 180 ns; a recorded wait with both stacks 1.1 us if every wait is recorded, 5 to 7 us if few
 * are; a clock sample at 1 kHz 3.1 us with either. By the kernel's statistics, which show 55 ns for
 * an empty program: er_switch 87, er_waking 75 to 86, er_back with nothing to do 56 ns. Parts:
 * reading the clock 29 ns, copying kernel memory 7, an atomic addition 6, finding a thread's
 * storage 4, everything else 1 to 2.
 *
 * PERF_SAMPLE_CALLCHAIN is not used. With it perf walks the kernel stack itself, before it calls
 * the program. BPF's statistics then show 1.5 us less for a clock sample, because they do not
 * count the walk. The measured load ran no faster.
 */
#include "bpf/vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/begin.bpf.h"
#include "bpf/calls.bpf.h"
#include "bpf/command.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/cut.bpf.h"
#include "bpf/snapshot.bpf.h"
#include "bpf/edge.bpf.h"
#include "bpf/end.bpf.h"
#include "bpf/hotplug.bpf.h"
#include "bpf/residual.bpf.h"
#include "bpf/sample.bpf.h"
#include "bpf/waker.bpf.h"

char LICENSE[] SEC("license") = "GPL";

enum { LEFT_MAX_NS = 100000000 }; /* a longer search for work means that the clocks are not the same */

static __always_inline void tick(struct bpf_perf_event_data *ctx, bool again)
{
	struct er_cpu *c = er_this_cpu();
	__u64 began;

	if (!c)
		return;
	began = cost_begin(c, ER_PROG_CLOCK);
	clock_sample(ctx, c, again);
	cost_end(c, ER_PROG_CLOCK, began);
}

SEC("perf_event")
int er_clock(struct bpf_perf_event_data *ctx)
{
	tick(ctx, false);
	return 0;
}

/* Kernels without second walks count their calls as if they were nested in this one: too deep for the verifier. */
SEC("perf_event")
int er_clock_again(struct bpf_perf_event_data *ctx)
{
	tick(ctx, true);
	return 0;
}

static __always_inline void thread_close(struct er_thread *t, struct er_cpu *c)
{
	__u32 was = __sync_fetch_and_or(&t->state, THREAD_CLOSED);

	if ((was & THREAD_DYING) && !(was & THREAD_CLOSED))
		__sync_fetch_and_add(&c->dead, 1);
}

/* The last edge of the current thread. */
__noinline int er_dead(struct er_thread *t, struct er_cpu *c, __u64 clk)
{
	struct task_struct *p = bpf_get_current_task_btf();

	if (!t || !c || t->state & THREAD_CLOSED)
		return 0;
	if (er_states) {
		edge_finish(t, c, clk);
		if (er_split)
			split_leave(t, p, c, clk);
		total_send(c, p, t, clk, p->se.sum_exec_runtime, t->tid, SCRATCH_SWITCH);
	}
	residual_send(p, t, c, p->se.sum_exec_runtime);
	thread_close(t, c);
	return 0;
}

/*
 * STACKS_LEAVE: take the stack of the thread that leaves, if its wait is predicted to be recorded.
 */
static __always_inline void early_stack(void *ctx, struct er_cpu *c, struct task_struct *p,
					struct er_thread *t)
{
	struct sample sm;

	t->early_stack = t->goroutine = 0;
	if (!leave_foretold(t))
		return;
	wait_sample(&sm, p, t, c);
	t->early_stack = wait_stack(ctx, &sm, &er_skip_leave, false);
	t->goroutine = sm.goroutine;
}

static __always_inline void switch_out(void *ctx, struct er_cpu *c, bool preempt,
				       struct task_struct *p, struct cfs_rq *queue, __u64 clk)
{
	struct er_thread *t = p->pid ? thread_find(p) : NULL;

	if (!t)
		return;
	if (p->__state & TASK_DEAD_STATE) {
		er_dead(t, c, clk);
		return;
	}
	if (!er_states || t->state & THREAD_CLOSED)
		return;
	er_leave(t, c, clk, preempt);
	if (t->where == WHERE_QUEUED) {
		throttle_leave(t, queue);
		throttle_deadline(t, p);
	}
	if (er_stack_method == ER_STACKS_LEAVE)
		early_stack(ctx, c, p, t);
}

static __always_inline void switch_in(struct er_cpu *c, struct task_struct *p, __u64 clk)
{
	struct er_thread *t = p->pid ? thread_find(p) : NULL;
	__u64 delay = queue_wait(p, clk);
	enum come come;

	if (er_split)
		split_come(t, p, c);
	if (!t || t->state & THREAD_CLOSED || t->where == WHERE_UNKNOWN)
		return; /* a thread seen for the first time begins when it leaves */
	come = er_come(t, c, clk, delay);
	if (come == COME_BACK)
		c->back = p->pid;
	if (come && t->wflags & ER_WAIT_PREEMPTED)
		throttle_come(t, p);
}

/* The kernel's own count of switches for the thread that leaves. */
static __always_inline void count_switch(struct er_cpu *c, bool involuntary)
{
	if (involuntary)
		c->counts.ninvoluntary++;
	else
		c->counts.nvoluntary++;
}

/*
 * The run queue's clock when the kernel last charged run time to the thread that leaves. It is the present, except
 * before the CPU becomes idle: then the scheduler looks for work on other CPUs and reads the clock again, up to 0.1 ms
 * later. A thread that blocks sleeps meanwhile. One that is preempted waits from the present on by the kernel's own
 * figure, too.
 */
static __always_inline __u64 clock_left(const struct rq *rq, const struct task_struct *prev, bool preempt)
{
	__u64 past = rq->clock_task - prev->se.exec_start;

	return preempt || !prev->__state || past > LEFT_MAX_NS ? rq->clock : rq->clock - past;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(er_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct er_cpu *c = er_this_cpu();
	struct cfs_rq *queue = task_queue(prev);
	struct rq *rq = queue ? queue->rq : NULL;
	__u64 began, clk, left;

	if (!c || !rq)
		return 0;
	clk = rq->clock;
	left = clock_left(rq, prev, preempt);
	clock_note(clk);
	began = cost_begin(c, ER_PROG_SWITCH);
	if (began || !er_offset)
		clock_measure(began ? began : bpf_ktime_get_ns(), clk);
	if (er_states && prev->pid)
		count_switch(c, preempt || !prev->__state);
	if (er_states || prev->__state & TASK_DEAD_STATE)
		switch_out(ctx, c, preempt, prev, queue, left);
	if (er_states) {
		ran_note(c, prev, clk);
		switch_in(c, next, clk);
	}
	cost_end(c, ER_PROG_SWITCH, began);
	return 0;
}

static __always_inline void back(void *ctx, bool again)
{
	struct er_cpu *c = er_this_cpu();
	__u64 began;

	if (!c || !c->back)
		return;
	began = cost_begin(c, ER_PROG_BACK);
	wait_back(ctx, c, again);
	cost_end(c, ER_PROG_BACK, began);
}

SEC("tp_btf/sched_exit_tp")
int er_back(void *ctx)
{
	back(ctx, false);
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int er_back_again(void *ctx)
{
	back(ctx, true);
	return 0;
}

SEC("kprobe/finish_task_switch")
int er_back_kprobe(void *ctx)
{
	back(ctx, false);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(er_waking, struct task_struct *p)
{
	struct task_struct *waker = bpf_get_current_task_btf(), *leader = waker->group_leader;
	struct er_cpu *c = er_this_cpu();
	struct er_thread *t;
	__u64 began;

	barrier_var(leader); /* before any branch: see task_rq */
	if (!c)
		return 0;
	began = cost_begin(c, ER_PROG_WAKING);
	t = thread_find(p);
	if (t) {
		edge_woken(t, p);
		waker_note(ctx, c, t, waker, leader);
	}
	cost_end(c, ER_PROG_WAKING, began);
	return 0;
}

SEC("tp_btf/task_newtask")
int BPF_PROG(er_newtask, struct task_struct *p)
{
	struct er_cpu *c = er_this_cpu();
	struct er_thread *t;
	__u64 began;

	if (!c)
		return 0;
	began = cost_begin(c, ER_PROG_NEWTASK);
	/* er_stop_ns: nobody would close a thread that is born after the recording has ended. */
	t = er_stop_ns || thread_ignored(p) ? NULL : thread_get(p, leader_start(p));
	if (t)
		begin_child(t, p, bpf_get_current_task_btf());
	cost_end(c, ER_PROG_NEWTASK, began);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(er_exit, struct task_struct *p)
{
	struct er_cpu *c = er_this_cpu();
	struct er_thread *t;
	__u64 began;

	if (!c || thread_ignored(p) || (er_stop_ns && !thread_find(p)))
		return 0;
	began = cost_begin(c, ER_PROG_EXIT);
	t = thread_get(p, leader_start(p));
	if (t)
		t->tid = p->pid;
	if (!t || !thread_know(t, p, p->se.sum_exec_runtime))
		__sync_fetch_and_add(&c->counts.no_storage, 1);
	if (t && !(__sync_fetch_and_or(&t->state, THREAD_DYING) & THREAD_CLOSED))
		__sync_fetch_and_add(&c->dying, 1);
	cost_end(c, ER_PROG_EXIT, began);
	return 0;
}

static __always_inline void exec_renumber(struct er_cpu *c, struct task_struct *p,
					  struct er_thread *t, __u32 old_tid)
{
	__u64 clk = clock_now(), sum = run_time_now(p, clk);

	if (er_split)
		split_peek(t, p, old_tid);
	total_send(c, p, t, clk, sum, old_tid, SCRATCH_EXEC);
	begin_again(t, p, clk, sum);
	if (er_split)
		split_again(t, p, c);
}

/*
 * A thread that was not the leader takes the leader's number. Its accounting under the old number
 * ends.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(er_exec, struct task_struct *p, pid_t old_tid)
{
	struct er_cpu *c = er_this_cpu();
	struct er_thread *t;
	__u64 began;

	if (!c)
		return 0;
	began = cost_begin(c, ER_PROG_EXEC);
	if (thread_wanted(p))
		er_command_send(c);
	t = p->pid == old_tid ? NULL : thread_find(p);
	if (t && er_states && t->where == WHERE_ON && !(t->state & THREAD_CLOSED))
		exec_renumber(c, p, t, old_tid);
	cost_end(c, ER_PROG_EXEC, began);
	return 0;
}

/* Faults of reads that may fail, ours and those of other BPF programs, are not counted. */
SEC("tp_btf/page_fault_kernel")
int BPF_PROG(er_fault, unsigned long address)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct er_cpu *c = er_this_cpu();
	struct er_thread *t;
	__u64 began;

	if (!c || p->pagefault_disabled || p->flags & TASK_PF_KTHREAD)
		return 0;
	began = cost_begin(c, ER_PROG_FAULT);
	t = thread_find(p);
	if (t) {
		t->kfault = task_faults(p) + 1;
		t->touched = address;
	}
	cost_end(c, ER_PROG_FAULT, began);
	return 0;
}

/* Tracing only: what a fault from user mode touched. */
SEC("tp_btf/page_fault_user")
int BPF_PROG(er_fault_user, unsigned long address)
{
	struct er_cpu *c = er_this_cpu();
	struct er_thread *t;
	__u64 began;

	if (!c)
		return 0;
	began = cost_begin(c, ER_PROG_FAULT);
	t = thread_find(bpf_get_current_task_btf());
	if (t)
		t->touched = address;
	cost_end(c, ER_PROG_FAULT, began);
	return 0;
}

SEC("raw_tp/sys_enter")
int er_sys_enter(void *ctx)
{
	struct er_cpu *c = er_this_cpu();
	__u64 began;

	if (!c)
		return 0;
	began = cost_begin(c, ER_PROG_SYS_ENTER);
	split_enter(c, bpf_ktime_get_ns());
	cost_end(c, ER_PROG_SYS_ENTER, began);
	return 0;
}

SEC("raw_tp/sys_exit")
int BPF_PROG(er_sys_exit, struct pt_regs *regs, long ret)
{
	struct er_cpu *c = er_this_cpu();
	__u64 began;

	if (!c)
		return 0;
	began = cost_begin(c, ER_PROG_SYS_EXIT);
	split_exit(c, bpf_ktime_get_ns());
	calls_count(ret);
	cost_end(c, ER_PROG_SYS_EXIT, began);
	return 0;
}

/* Runs too rarely for its cost to matter. */
SEC("tp_btf/signal_deliver")
int BPF_PROG(er_signal)
{
	struct er_cpu *c = er_this_cpu();

	if (c)
		__sync_fetch_and_add(&c->counts.nsignals, 1);
	return 0;
}

/* The loader runs it once. Reading /proc/kallsyms would take far longer. */
SEC("syscall")
int er_look_up(void *ctx)
{
	static const char name[] = "__schedule";

	return bpf_kallsyms_lookup_name(name, sizeof(name), 0, &er_schedule_pc);
}

SEC("iter/task")
int er_begin(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct er_cpu *c = er_this_cpu();
	struct er_thread *t;

	if (!p || !c || !thread_wanted(p))
		return 0;
	t = thread_get(p, leader_start(p));
	if (t) /* otherwise its first sample finds that no storage is left, and counts it */
		begin_thread(t, p, c);
	return 0;
}

SEC("iter.s/task")
int er_end(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *p = ctx->task;
	struct er_cpu *c = er_this_cpu();
	struct er_thread *t;
	__u64 clk, sum, ran;

	barrier_var(seq); /* before any branch: see task_rq */
	if (!p || !c || thread_ignored(p))
		return 0;
	clk = clock_now();
	sum = run_time_now(p, clk);
	t = thread_get(p, leader_start(p));
	ran = t ? last_run(t) : 0;
	if (!t || !thread_know(t, p, sum)) {
		__sync_fetch_and_add(&c->counts.no_storage, 1);
		return 0;
	}
	if (t->state & THREAD_CLOSED)
		return 0;
	thread_close(t, c);
	if (er_states)
		end_states(seq, c, p, t, clk, sum);
	end_residual(seq, c, p, t, sum, thread_user(t, p), ran);
	t->where = WHERE_UNKNOWN; /* er_waking has nothing to note for it any more */
	return 0;
}

SEC("iter.s/task")
int er_cut(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *p = ctx->task;
	struct er_cpu *c = er_this_cpu();
	struct er_thread *t;

	barrier_var(seq); /* before any branch: see task_rq */
	if (!p || !c || thread_ignored(p))
		return 0;
	t = thread_find(p);
	if (t)
		cut_thread(seq, c, p, t);
	return 0;
}

SEC("iter/task")
int er_snapshot(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *p = ctx->task;
	struct er_thread *t;

	barrier_var(seq); /* before any branch: see task_rq */
	t = p ? thread_find(p) : NULL; /* others than wanted threads have no storage */
	if (t)
		snap_thread(seq, p, t);
	return 0;
}
