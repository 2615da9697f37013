/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of the recording, seen by an iterator over all threads: open waits are
 * closed and get their stacks, then come totals and residuals. All of it is
 * written into the iterator's own file: no ring to overflow however many threads
 * there are. Each record stands behind a struct er_last.
 *
 * A thread is closed first, and no edge counts any more. It may run all the
 * time; whoever takes CPU time out of its storage does so with a compare and swap,
 * so that a thread that ends meanwhile has its time sent once.
 *
 * The user's frames of a sleeping thread are read with its own page tables, which may
 * sleep; therefore the iterator is a sleepable one. A thread that sleeps
 * uninterruptibly may hold what that needs, and has its kernel frames only.
 */
#ifndef END_BPF_H
#define END_BPF_H

#include "bpf/begin.bpf.h"
#include "bpf/residual.bpf.h"

static __always_inline bool last_write(struct seq_file *seq, const void *record, __u32 size)
{
	struct er_last head = { .size = size, .cpu = bpf_get_smp_processor_id() };

	return !bpf_seq_write(seq, &head, sizeof(head)) && !bpf_seq_write(seq, (void *)record, size);
}

struct asleep_walk {
	union stack_scratch *st;
	struct task_struct *task;
	__u64 fp;
	__u32 at, n, max;
};

static long asleep_step(__u32 i, struct asleep_walk *w)
{
	__u32 to = w->at + w->n;
	struct user_frame f;

	if (w->n >= w->max || to >= 2 * ER_MAX_FRAMES || w->fp & 7 ||
	    bpf_copy_from_user_task(&f, sizeof(f), (void *)w->fp, w->task, 0) || !f.ret)
		return 1;
	w->st->s.pcs[to] = f.ret;
	w->n++;
	if (f.fp <= w->fp)
		return 1;
	w->fp = f.fp;
	return 0;
}

static __always_inline __u32 asleep_user(union stack_scratch *st, struct task_struct *p,
					 const struct sample *sm, __u32 at)
{
	struct asleep_walk w = { .st = st, .task = p, .at = at, .n = 1, .max = er_max_frames };
	struct pt_regs *regs;

	if (p->flags & (TASK_PF_KTHREAD | TASK_PF_IO_WORKER | TASK_PF_EXITING) || !sm->mm ||
	    sm->no_user || at >= ER_MAX_FRAMES || p->__state & TASK_UNINTERRUPTIBLE)
		return 0;
	regs = arch_user_regs(p);
	if (arch_is_32bit(regs))
		return 0;
	st->s.pcs[at] = regs->ip;
	if (arch_syscall(regs) < 0)
		st->s.flags |= ER_STACK_USER_EXACT;
	w.fp = regs->bp;
	bpf_loop(ER_MAX_FRAMES, asleep_step, &w, 0);
	return w.n;
}

/* The stack of a thread that sleeps; written out when it is new. */
static __always_inline __u64 asleep_stack(struct seq_file *seq, const struct sample *sm)
{
	union stack_scratch *st = stack_begin(sm, SCRATCH_ITER);
	struct seen_line *line;
	__u32 n, nuser, at, size;
	long got;

	if (!st)
		return 0;
	got = bpf_get_task_stack(sm->task, st->s.pcs, er_max_frames * 8, 0);
	n = got > 0 ? (__u32)got / 8 : 0;
	if (!n)
		st->s.flags |= ER_STACK_KERNEL_FAILED;
	if (n >= er_max_frames)
		st->s.flags |= ER_STACK_KERNEL_TRUNCATED;
	nuser = asleep_user(st, sm->task, sm, n);
	st->s.nkernel = n;
	st->s.nuser = nuser;
	n += nuser;
	st->s.id = er_stack_hash(st, n, sm->task->self_exec_id);
	at = st->s.id % SEEN_LINES;
	line = bpf_map_lookup_elem(&er_seen, &at);
	size = sizeof(st->s) + n * 8;
	barrier_var(size); /* or the bound is taken of another register, and lost */
	if (!line || seen_has(line, st->s.id) || size > sizeof(*st))
		return st->s.id;
	st->s.h.kind = ER_KIND_STACK;
	st->s.h.seq = er_number(sm->cpu, ER_KIND_STACK);
	st->s.h.time_ns = sm->now;
	if (last_write(seq, st, size))
		seen_add(line, st->s.id, sm->now >> 4);
	else
		er_lost(sm->cpu, ER_KIND_STACK, sm->now, sm->tgid, sm->tid);
	return st->s.id;
}

static __always_inline void end_record(struct seq_file *seq, struct er_cpu *c,
				       struct task_struct *p, struct er_thread *t, __u64 stack)
{
	struct er_wait r = {};

	wait_fill(&r, p, t);
	r.stack = stack;
	r.h.seq = er_number(c, ER_KIND_WAIT);
	r.h.time_ns = clock_monotonic(t->since);
	if (last_write(seq, &r, sizeof(r)))
		wait_sent(t, stack);
	else
		er_lost(c, ER_KIND_WAIT, r.h.time_ns, r.tgid, r.tid);
}

static __always_inline void end_wait(struct seq_file *seq, struct er_cpu *c, struct task_struct *p,
				     struct er_thread *t)
{
	struct sample sm;

	t->wflags |= ER_WAIT_OPEN_END;
	t->early_stack = 0;
	wait_sample(&sm, p, t, c);
	end_record(seq, c, p, t, er_way == ER_WAY_NONE ? 0 : asleep_stack(seq, &sm));
}

static __always_inline void end_owed(struct seq_file *seq, struct er_cpu *c, struct task_struct *p,
				     struct er_thread *t)
{
	if (t->owed)
		end_record(seq, c, p, t, er_way == ER_WAY_LEAVE ? t->early_stack : 0);
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
	else if (stay_until(t, clk, queue_wait_open(p, clk)))
		end_wait(seq, c, p, t);
	if (er_split && t->where == WHERE_ON)
		split_peek(t, p, p->pid);
	r = total_scratch(SCRATCH_ITER);
	if (!r)
		return;
	total_fill(r, p, t, clk, sum - t->run0, p->pid);
	r->h.seq = er_number(c, ER_KIND_TOTAL);
	if (!last_write(seq, r, sizeof(*r)))
		er_lost(c, ER_KIND_TOTAL, r->h.time_ns, r->tgid, r->tid);
}

/* The residual into the file, which has room: the loader reads in small pieces. */
static __always_inline void end_residual(struct seq_file *seq, struct er_cpu *c,
					 struct task_struct *p, struct er_thread *t, __u64 sum)
{
	__u64 weight = thread_take(t, sum);
	struct er_clock r = {};

	if (!weight)
		return;
	fill_residual(&r, p, t, c, p->pid);
	r.weight_ns = weight;
	if (!last_write(seq, &r, sizeof(r)))
		er_lost(c, ER_KIND_CLOCK, r.h.time_ns, r.tgid, r.tid);
}

#endif
