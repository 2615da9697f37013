/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walks of a sample: kernel frames by the kernel's own function, user frames by the tables of
 * unwind.bpf.h, or a copy of the user stack where a table is missing.
 */
#ifndef WALK_BPF_H
#define WALK_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/er.bpf.h"
#include "bpf/raw.bpf.h"
#include "bpf/thread.bpf.h"
#include "bpf/unwind.bpf.h"

enum { FEW_FRAMES = 32 };

/* The contexts that may take a stack at the same time on one CPU. Each may interrupt later ones. */
enum scratch_user {
	SCRATCH_CLOCK,  /* the timer's interrupt */
	SCRATCH_WAKING, /* interrupts are off */
	SCRATCH_SWITCH,
	SCRATCH_EXEC,
	SCRATCH_ITER,   /* one at a time, but it may be preempted */
	SCRATCH_COUNT
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_COUNT);
	__type(key, __u32);
	__type(value, union stack_scratch);
} er_scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_COUNT);
	__type(key, __u32);
	__type(value, struct unwind_env);
} er_walks SEC(".maps");

const volatile __u64 er_hash_seed; /* secret, so that programs cannot make stacks collide */
const volatile __u32 er_stack_method; /* of waits: enum er_stack_method */
const volatile __u32 er_max_frames = ER_MAX_KERNEL_FRAMES; /* of kernel frames */
const volatile bool er_again; /* threads may walk again: bpf/again.bpf.h */

/* The data for a sample, gathered once and before any branch; see task_rq. */
struct sample {
	struct task_struct *task;
	struct mm_struct *mm;
	struct rq *rq; /* NULL: not available on this kernel */
	struct er_cpu *cpu;
	void *ring;    /* for a record of the sample; a wait's and a waker's have none, and do not set it */
	__u64 now;
	__u64 start_time;
	__u32 tgid, tid;
	__u32 flags;
	bool no_user;  /* leave out user frames */
	__u64 goroutine; /* set by the walk of user frames; 0: none, or not known */
};

/*
 * The kernel clears the part of the buffer that it does not fill: 1 KiB for a stack of ten frames.
 * So a few frames are requested first, and all only if there are more.
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

/* Set number and flags for `got` bytes of kernel frames. Returns their number. */
__noinline __u32 er_kernel_walked(union stack_scratch *st, struct er_cpu *c, long got)
{
	if (!st || !c)
		return 0;
	if (got <= 0) {
		st->s.flags |= ER_STACK_KERNEL_FAILED;
		c->counts.stack_kernel_failed++;
		return 0;
	}
	if (got / 8 >= er_max_frames) {
		st->s.flags |= ER_STACK_KERNEL_TRUNCATED;
		c->counts.stack_kernel_truncated++;
	}
	return got / 8;
}

/* `skip` frames at the leaf are left out. */
static __always_inline __u32 walk_kernel(void *ctx, union stack_scratch *st,
					 const struct sample *sm, __u32 skip)
{
	if (sm->flags & ER_CLOCK_USER)
		return 0;
	return er_kernel_walked(st, sm->cpu, get_stack(ctx, st->s.pcs, skip & 0xff));
}

/* During an exec the registers are the old program's, but its memory may already be gone. */
static __always_inline bool in_execve(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, in_execve);
}

static __always_inline bool has_user_stack(const struct sample *sm)
{
	return !(sm->task->flags & (TASK_PF_KTHREAD | TASK_PF_IO_WORKER)) && sm->mm &&
	       !sm->no_user && !in_execve(sm->task);
}

/* Set number and flags for `got` user frames. Returns their number. */
static __always_inline __u32 user_walked(union stack_scratch *st, struct er_cpu *c, __u32 got, __u32 end)
{
	st->s.end = end;
	if (!got) {
		st->s.flags |= ER_STACK_USER_FAILED;
		c->counts.stack_user_failed++;
	}
	if (end == ER_END_DEPTH) {
		st->s.flags |= ER_STACK_USER_TRUNCATED;
		c->counts.stack_user_truncated++;
	}
	return got;
}

/* In a system call the user pc is its return address; else it is the interrupted instruction. */
static __always_inline bool user_exact(const struct sample *sm, const struct pt_regs *regs)
{
	return sm->flags & ER_CLOCK_USER || arch_syscall(regs) < 0;
}

/* For 32-bit code use the kernel's walk: it knows 32-bit frame pointers. */
static __always_inline __u32 walk_user32(void *ctx, union stack_scratch *st, __u32 at,
					 const struct sample *sm)
{
	long got;

	barrier_var(at); /* bound it right before its use, as in send_stack */
	if (at > ER_MAX_KERNEL_FRAMES)
		return 0;
	got = get_stack(ctx, st->s.pcs + at, BPF_F_USER_STACK);
	got = got < 0 ? 0 : (__u32)got / 8;
	return user_walked(st, sm->cpu, got, got >= er_max_frames ? ER_END_DEPTH : ER_END_FP_ZERO);
}

/*
 * Prepare a walk of the current thread for a stack of stack_init(); it has no frames yet. A function of its own, as
 * er_copy_user() and er_walk_end(): the verifier follows what is inlined for each way that leads there, and a function
 * once.
 */
__noinline int er_walk_begin(union stack_scratch *st, struct unwind_env *env)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const struct pt_regs *regs = arch_user_regs(p);
	struct mm_struct *mm = BPF_CORE_READ(p, mm);

	if (!st || !env)
		return 0;
	copy_regs(env->leaf, regs);
	env->r.ip = regs->ip;
	env->r.sp = regs->sp;
	env->r.bp = regs->bp;
	env->r.bx = env->r.saved = 0;
	env->r.flags = UNWIND_EXACT | UNWIND_LEAF;
	env->bytes = 0;
	env->second = st->s.h.time_ns / 1000000000;
	env->n = env->lacks = 0;
	env->missed = 0;
	env->untabled = !er_raws;
	env->vm_state = VM_UNASKED;
	env->guessed = env->went = false;
	env->goroutine = 0;
	env->blob.begin = env->blob.end = env->blob.kind = 0;
	env->java.bp = 0;
	code_reset(&env->code, er_hash_seed ^ p->self_exec_id, st->s.start_time, st->s.tgid);
	python_reset(&env->py);
	returns_begin(&env->returns, p, mm);
	pc_begin(&env->pc, st->s.start_time, st->s.tgid, p->self_exec_id, mm);
	return 0;
}

/*
 * The leaf is at an instruction that returns: begin with its caller. That needs no rule, which may be
 * missing, and the code cannot be looked at: a breakpoint hides the instruction.
 */
static __always_inline void walk_return(struct unwind_env *env)
{
	if (er_read(env, env->r.sp))
		return;
	env->r.ip = unwind_true_return(env, env->r.sp, env->word);
	env->r.sp += sizeof(__u64);
	env->r.flags &= ~(UNWIND_EXACT | UNWIND_LEAF);
}

/* From 6.13 on the kernel gives a tracing program a stack of its own for each call. */
struct bpf_prog_aux___private {
	void *priv_stack_ptr;
} __attribute__((preserve_access_index));

/*
 * True if a walk does not fit here. Kernels before 6.13 limit the stack of all nested calls to 512
 * bytes. The switch program's own calls and those of a walk need more.
 */
static __always_inline bool has_no_room(enum scratch_user user)
{
	return user == SCRATCH_SWITCH && er_stack_method == ER_STACKS_LEAVE &&
	       !bpf_core_field_exists(((struct bpf_prog_aux___private *)0)->priv_stack_ptr);
}

/* Copy the stack for a walk in user space. Returns whether that is allowed now. */
__noinline int er_copy_user(union stack_scratch *st, struct er_cpu *c, __u32 at, __u32 end)
{
	__u32 room;

	if (!er_raws || !st || !c)
		return false;
	room = raw_room(er_this_ring());
	if (!room) {
		c->counts.copies_unfitted++;
		return false;
	}
	if (!raw_allowed(st->s.tgid)) {
		c->counts.copies_refused++;
		return false;
	}
	st->s.end = end;
	er_raw_take(st, at, room);
	raw_charge(st->s.tgid, raw_size(st, at));
	return true;
}

/*
 * The walk is over: note what it found. `again`: if memory could not be read, flag the stack for unread_ask(), which
 * gives it an id. Returns the number of frames.
 */
__noinline __u32 er_walk_end(union stack_scratch *st, struct er_cpu *c, const struct unwind_env *env, bool again)
{
	if (!st || !c || !env)
		return 0;
	/* In a system call the thread may sleep for long before it returns, and keep others from walking again. */
	if (again && er_again && walk_is_unread(env) && st->s.flags & ER_STACK_USER_EXACT)
		st->s.flags |= ER_STACK_UNREAD;
	if (env->guessed)
		st->s.flags |= ER_STACK_GUESSED;
	if (env->py.base) {
		c->counts.python_lost += python_is_lost(&env->py);
		c->counts.python_unnamed += env->py.nunnamed;
	}
	return user_walked(st, c, env->n, env->end);
}

/* `again`: the thread may walk again. */
static __always_inline __u32 walk_user(void *ctx, union stack_scratch *st, __u32 at,
				       struct sample *sm, enum scratch_user user, bool again)
{
	struct unwind_env *env;
	struct pt_regs *regs;
	__u32 key = user;

	env = bpf_map_lookup_elem(&er_walks, &key);
	if (!env || !has_user_stack(sm) || at > ER_MAX_KERNEL_FRAMES)
		return 0;
	regs = arch_user_regs(sm->task);
	if (user_exact(sm, regs))
		st->s.flags |= ER_STACK_USER_EXACT;
	if (arch_is_32bit(regs))
		return walk_user32(ctx, st, at, sm);
	if (has_no_room(user)) {
		if (er_copy_user(st, sm->cpu, at, ER_END_NO_TABLE))
			return 0;
		return user_walked(st, sm->cpu, 0, ER_END_NO_TABLE);
	}
	er_walk_begin(st, env);
	if (st->s.flags & ER_STACK_RETURNS)
		walk_return(env);
	er_walk_user(st, env, at);
	sm->goroutine = env->goroutine;
	if (end_is_for_now(env->end) && !env->untabled) {
		if (er_copy_user(st, sm->cpu, at, env->end))
			return 0;
		env->untabled = true;
		er_walk_user(st, env, at);
	}
	return er_walk_end(st, sm->cpu, env, again);
}

#endif
