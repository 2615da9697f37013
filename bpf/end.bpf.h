/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of the recording, and the beginning of a pause. An iterator visits all threads: it closes
 * open waits and takes their stacks, then it writes totals and residuals. All of this goes into the
 * iterator's own file, so that no ring can overflow, however many threads there are. A struct
 * er_last precedes each record.
 *
 * A thread is closed first; from then on its edges no longer count, until the end of a pause opens
 * it again (begin.bpf.h). Its next total then begins there, so no total contains paused time. The
 * thread may still run. Code that takes CPU time out of its storage does so by compare and swap, so
 * that a thread that ends meanwhile has its time sent once.
 *
 * The user stack of a sleeping thread is copied through the thread's page tables. That may sleep,
 * so the iterator is sleepable. User space walks the copy (raw.bpf.h). A thread in uninterruptible
 * sleep may hold a lock that the copy needs, so only its kernel frames are taken.
 */
#ifndef END_BPF_H
#define END_BPF_H

#include "bpf/begin.bpf.h"
#include "bpf/residual.bpf.h"

/* Copy what user space needs to walk the user frames. */
static __always_inline void asleep_user(union stack_scratch *st, const struct sample *sm, __u32 at)
{
	struct task_struct *p = sm->task;
	struct pt_regs *regs;

	if (!er_raws || !has_user_stack(sm) || at > ER_MAX_KERNEL_FRAMES ||
	    p->flags & TASK_PF_EXITING ||
	    p->__state & TASK_UNINTERRUPTIBLE)
		return;
	regs = arch_user_regs(p);
	if (arch_is_32bit(regs))
		return;
	if (user_exact(sm, regs))
		st->s.flags |= ER_STACK_USER_EXACT;
	raw_take(st, regs, p, at, ER_RAW_BYTES, true);
}

/* The stack of a sleeping thread; written if it is new. */
static __always_inline __u64 asleep_stack(struct seq_file *seq, const struct sample *sm)
{
	union stack_scratch *st;
	__u32 key = 0, n;
	long got;

	st = bpf_map_lookup_elem(&er_asleep, &key);
	if (!st)
		return 0;
	stack_init(st, sm);
	got = bpf_get_task_stack(sm->task, st->s.pcs, er_max_frames * 8, 0);
	n = got > 0 ? (__u32)got / 8 : 0;
	if (!n)
		st->s.flags |= ER_STACK_KERNEL_FAILED;
	if (n >= er_max_frames)
		st->s.flags |= ER_STACK_KERNEL_TRUNCATED;
	asleep_user(st, sm, n);
	return stack_finish(st, sm, n, 0, seq);
}

/* Write the record of the thread's open wait. False: there was no room, and it is counted as lost. */
static __always_inline bool last_wait(struct seq_file *seq, struct er_cpu *c,
				      struct task_struct *p, struct er_thread *t, __u64 stack)
{
	struct er_wait *r = record_scratch(SCRATCH_ITER);

	if (!r)
		return false;
	__builtin_memset(r, 0, sizeof(*r));
	wait_fill(r, p, t);
	r->stack = stack;
	r->h.seq = er_number(c, ER_KIND_WAIT);
	r->h.time_ns = clock_monotonic(t->since);
	if (last_write(seq, r, sizeof(*r)))
		return true;
	er_lost(c, ER_KIND_WAIT, r->h.time_ns, r->task.tgid, r->task.tid);
	return false;
}

static __always_inline void end_record(struct seq_file *seq, struct er_cpu *c,
				       struct task_struct *p, struct er_thread *t, __u64 stack)
{
	if (last_wait(seq, c, p, t, stack))
		wait_sent(t, stack);
}

static __always_inline void end_wait(struct seq_file *seq, struct er_cpu *c, struct task_struct *p,
				     struct er_thread *t)
{
	struct sample sm;

	t->wflags |= ER_WAIT_OPEN_END;
	t->early_stack = t->goroutine = 0;
	wait_sample(&sm, p, t, c);
	end_record(seq, c, p, t, er_stack_method == ER_STACKS_NONE ? 0 : asleep_stack(seq, &sm));
}

static __always_inline void end_owed(struct seq_file *seq, struct er_cpu *c, struct task_struct *p,
				     struct er_thread *t)
{
	if (er_stack_method != ER_STACKS_LEAVE)
		t->goroutine = 0;
	if (t->owed)
		end_record(seq, c, p, t, er_stack_method == ER_STACKS_LEAVE ? t->early_stack : 0);
	t->owed = 0;
}

static __always_inline void end_states(struct seq_file *seq, struct er_cpu *c,
				       struct task_struct *p, struct er_thread *t, __u64 clk,
				       __u64 sum)
{
	struct er_total *r;

	if (t->where == WHERE_UNKNOWN) {
		c->counts.nmissed++;
		return;
	}
	if (t->where == WHERE_ON)
		end_owed(seq, c, p, t);
	else if (interval_until(t, clk, queue_wait_open(t, p, clk)))
		end_wait(seq, c, p, t);
	if (er_split && t->where == WHERE_ON)
		split_peek(t, p, p->pid);
	if (er_only_locks)
		return;
	r = record_scratch(SCRATCH_ITER);
	if (!r)
		return;
	total_fill(r, p, t, clk, sum - t->run0, p->pid);
	r->h.seq = er_number(c, ER_KIND_TOTAL);
	if (!last_write(seq, r, sizeof(*r)))
		er_lost(c, ER_KIND_TOTAL, r->h.time_ns, r->task.tgid, r->task.tid);
}

/*
 * Write the residual into the file, which has room: the loader reads it in small pieces. `user` is thread_user now,
 * `ran` was last_run before the open wait was closed.
 */
static __always_inline void end_residual(struct seq_file *seq, struct er_cpu *c,
					 struct task_struct *p, struct er_thread *t, __u64 sum, __u64 user,
					 __u64 ran)
{
	__u64 weight = thread_take(t, sum);
	struct er_residual *r = record_scratch(SCRATCH_ITER);

	if (r && weight && !er_only_locks) {
		__builtin_memset(r, 0, sizeof(*r));
		r->at.weight = weight;
		fill_residual(r, p, t, c, p->pid, user, ran);
		if (!last_write(seq, r, sizeof(*r)))
			er_lost(c, ER_KIND_CLOCK, r->at.h.time_ns, r->at.task.tgid, r->at.task.tid);
	}
	residual_begin(t, p, user);
}

#endif
