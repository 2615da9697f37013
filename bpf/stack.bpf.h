/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks. The kernel stack and the user stack are walked and hashed into one id. A stack is
 * sent if it was not sent before. Records refer to it by the id.
 */
#ifndef STACK_BPF_H
#define STACK_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/er.bpf.h"
#include "bpf/raw.bpf.h"
#include "bpf/thread.bpf.h"
#include "bpf/unwind.bpf.h"

enum {
	SEEN_LINES = 8192, /* a power of two */
	SEEN_WAYS = 8,     /* a cache line of ids */
	FEW_FRAMES = 32,
};

/*
 * The ids of stacks that were sent. The low bits of an id choose its line. In a full line a new id
 * replaces a random one, whose stack is sent again when it comes again. Two CPUs that write to one
 * line at the same time may also cause that. An LRU hash would cost 0.5 us more per sample, and
 * clearing 5 MB at each start.
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

/* User space changes it to have all stacks sent again: in er_seen the ids are combined with it. */
__u64 er_seen_key;
const volatile __u64 er_hash_seed; /* secret, so that programs cannot make stacks collide */
const volatile __u32 er_stack_method; /* of waits: enum er_stack_method */
const volatile __u32 er_max_frames = ER_MAX_KERNEL_FRAMES; /* of kernel frames */

/* The data for a sample, gathered once and before any branch; see task_rq. */
struct sample {
	struct task_struct *task;
	struct mm_struct *mm;
	struct rq *rq; /* NULL: not available on this kernel */
	struct er_cpu *cpu;
	void *ring;
	__u64 now;
	__u64 start_time;
	__u32 tgid, tid;
	__u32 flags;
	bool no_user;  /* leave out user frames */
};

static __always_inline __u64 mix(__u64 h, __u64 x)
{
	h = (h ^ x) * 0x9fb21c651e98df25ULL;
	return h ^ (h >> 32);
}

struct hash_walk {
	const union stack_scratch *st;
	__u64 h, all; /* bits that all frames have */
};

static long hash_block(__u32 block, struct hash_walk *w)
{
	__u32 at = block * HASH_BLOCK;
	__u64 h = w->h, all = w->all;

	if (at > ER_MAX_FRAMES)
		return 1;
	for (int i = 0; i < HASH_BLOCK; i++) {
		h = mix(h, w->st->s.pcs[at + i]);
		all &= w->st->s.pcs[at + i];
	}
	w->h = h;
	w->all = all;
	return 0;
}

/*
 * Hashes `n` frames, in blocks; the last block is filled up with ones. The verifier would check
 * each round of a plain loop, 2,500 instructions in each program. Kernel addresses have the bit
 * ER_FRAME_FILE set too. A frame without it is a user address, which is valid only in this program
 * of this process.
 */
__noinline __u64 er_stack_hash(union stack_scratch *st, __u32 n)
{
	struct hash_walk w = { .st = st, .all = ~0ULL };
	__u64 h;

	if (!st || n > ER_MAX_FRAMES)
		return 0;
	for (int i = 0; i < HASH_BLOCK; i++)
		st->s.pcs[n + i] = ~0ULL;
	h = mix(er_hash_seed, (__u64)st->s.end << 16 | st->s.flags);
	w.h = mix(h, (__u64)st->s.nkernel << 16 | st->s.nuser);
	bpf_loop((n + HASH_BLOCK - 1) / HASH_BLOCK, hash_block, &w, 0);
	h = w.h;
	if (!(w.all & ER_FRAME_FILE)) {
		h = mix(h, st->s.start_time);
		h = mix(h, (__u64)st->s.tgid << 32 | st->s.exec_id);
	}
	h = mix(h, h >> 29);
	return h ? h : 1;
}

static __always_inline bool seen_has(const struct seen_line *line, __u64 id)
{
	for (int i = 0; i < SEEN_WAYS; i++)
		if (line->ids[i] == id)
			return true;
	return false;
}

/* Store the id in a free slot, or in a random one. */
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
__noinline __u32 er_user_walked(union stack_scratch *st, struct er_cpu *c, __u32 got, __u32 end)
{
	if (!st || !c)
		return 0;
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
	return er_user_walked(st, sm->cpu, got, got >= er_max_frames ? ER_END_DEPTH : ER_END_FP_ZERO);
}

/* Prepare a walk of the current thread; it has no frames yet. */
static __always_inline void walk_begin(struct unwind_env *env, const struct sample *sm,
				       const struct pt_regs *regs)
{
	copy_regs(env->leaf, regs);
	env->r.ip = regs->ip;
	env->r.sp = regs->sp;
	env->r.bp = regs->bp;
	env->r.bx = env->r.saved = 0;
	env->r.flags = UNWIND_EXACT | UNWIND_LEAF;
	env->bytes = 0;
	env->second = sm->now / 1000000000;
	env->n = env->lacks = 0;
	env->untabled = !er_raws;
	env->vm_state = VM_UNASKED;
	env->guessed = false;
	env->blob.begin = env->blob.end = env->blob.kind = 0;
	env->java.bp = 0;
	code_reset(&env->code, er_hash_seed ^ sm->task->self_exec_id, sm->start_time, sm->tgid);
	python_reset(&env->py);
	returns_begin(&env->returns, sm->task, sm->mm);
	pc_begin(&env->pc, sm->start_time, sm->tgid, sm->task->self_exec_id, sm->mm);
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

/* Copy the stack for a walk in user space. Returns false if a copy is not allowed now. */
static __always_inline bool copy_user(union stack_scratch *st, __u32 at, const struct sample *sm,
				      __u32 end)
{
	__u32 room;

	if (!er_raws)
		return false;
	room = raw_room(sm->ring);
	if (!room) {
		sm->cpu->counts.copies_unfitted++;
		return false;
	}
	if (!raw_allowed(sm->tgid)) {
		sm->cpu->counts.copies_refused++;
		return false;
	}
	st->s.end = end;
	er_raw_take(st, at, room);
	raw_charge(sm->tgid, raw_size(st, at));
	return true;
}

static __always_inline __u32 walk_user(void *ctx, union stack_scratch *st, __u32 at,
				       const struct sample *sm, enum scratch_user user)
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
		if (er_raws && copy_user(st, at, sm, ER_END_NO_TABLE))
			return 0;
		return er_user_walked(st, sm->cpu, 0, ER_END_NO_TABLE);
	}
	walk_begin(env, sm, regs);
	if (st->s.flags & ER_STACK_RETURNS)
		walk_return(env);
	er_walk_user(st, env, at);
	if (end_is_for_now(env->end) && !env->untabled) {
		if (copy_user(st, at, sm, env->end))
			return 0;
		env->untabled = true;
		er_walk_user(st, env, at);
	}
	if (env->guessed)
		st->s.flags |= ER_STACK_GUESSED;
	if (env->py.base) {
		sm->cpu->counts.python_lost += python_is_lost(&env->py);
		sm->cpu->counts.python_unnamed += env->py.nunnamed;
	}
	return er_user_walked(st, sm->cpu, env->n, env->end);
}

/* Send into the ring. `seq` is a compile-time constant: NULL except in the last iterator. */
static __always_inline bool stack_write(const union stack_scratch *st, __u32 size, bool wake,
					struct seq_file *seq)
{
	void *ring;

	if (seq)
		return last_write(seq, st, size);
	ring = er_this_ring();
	return ring && !bpf_ringbuf_output(ring, (void *)st, size,
					   wake ? BPF_RB_FORCE_WAKEUP : er_wakeup(ring));
}

/* Wake the reader at once, so that it publishes the tables that a raw stack needs. */
static __always_inline bool send_stack(union stack_scratch *st, struct er_cpu *c, __u32 tid,
				       struct seq_file *seq)
{
	bool raw = st->s.flags & ER_STACK_RAW;
	__u32 size = sizeof(st->s) + (st->s.nkernel + st->s.nuser) * 8;

	if (raw)
		size += raw_size(st, st->s.nkernel);
	st->s.h.kind = ER_KIND_STACK;
	st->s.h.seq = er_number(c, ER_KIND_STACK);
	barrier_var(size); /* bound it right before its use, or 6.1 loses the bound in a spill */
	if (size <= sizeof(*st) && stack_write(st, size, raw, seq))
		return true;
	er_lost(c, ER_KIND_STACK, st->s.h.time_ns, st->s.tgid, tid);
	return false;
}

/* An id is noted only after its stack was sent, so a lost definition is sent again. */
static __always_inline void send_new(union stack_scratch *st, struct er_cpu *c, __u32 tid,
				     struct seq_file *seq)
{
	__u32 at = st->s.id % SEEN_LINES;
	struct seen_line *line = bpf_map_lookup_elem(&er_seen, &at);

	if (line && !seen_has(line, st->s.id ^ er_seen_key) && send_stack(st, c, tid, seq))
		seen_add(line, st->s.id ^ er_seen_key, st->s.h.time_ns >> 4);
}

/* The unique id of a raw stack. */
static __always_inline __u64 raw_id(const union stack_scratch *st)
{
	__u64 h = mix(er_hash_seed, st->s.h.time_ns);

	h = mix(h, (__u64)bpf_get_smp_processor_id() << 32 | st->s.h.seq);
	h = mix(h, (__u64)st->s.tgid << 32 | ER_STACK_RAW);
	return h ? h : 1;
}

/* Compute the stack's id and send the stack if it is new. Returns the id. */
static __always_inline __u64 stack_publish(union stack_scratch *st, struct er_cpu *c, __u32 tid,
					   struct seq_file *seq)
{
	if (st->s.flags & ER_STACK_RAW) {
		st->s.h.seq = c->counts.produced[ER_KIND_STACK];
		st->s.id = raw_id(st);
		send_stack(st, c, tid, seq);
	} else {
		st->s.id = er_stack_hash(st, st->s.nkernel + st->s.nuser);
		send_new(st, c, tid, seq);
	}
	return st->s.id;
}

__noinline __u64 er_stack_publish(union stack_scratch *st, struct er_cpu *c, __u32 tid)
{
	return st && c ? stack_publish(st, c, tid, NULL) : 0;
}

/* Send the walked stack if it is new. Returns its id, or 0 if it has no frame. */
static __always_inline __u64 stack_finish(union stack_scratch *st, const struct sample *sm,
					  __u32 nkernel, __u32 nuser, struct seq_file *seq)
{
	st->s.nkernel = nkernel;
	st->s.nuser = nuser;
	if (!(nkernel + nuser) && !st->s.flags)
		return 0;
	if (seq)
		return stack_publish(st, sm->cpu, sm->tid, seq);
	return er_stack_publish(st, sm->cpu, sm->tid);
}

static __always_inline void stack_init(union stack_scratch *st, const struct sample *sm)
{
	st->s.flags = 0;
	st->s.end = ER_END_NOT;
	st->s.h.time_ns = sm->now;
	st->s.tgid = sm->tgid;
	st->s.start_time = sm->start_time;
	st->s.exec_id = sm->task->self_exec_id;
}

static __always_inline union stack_scratch *stack_begin(const struct sample *sm,
							enum scratch_user user)
{
	union stack_scratch *st;
	__u32 key = user;

	st = bpf_map_lookup_elem(&er_scratch, &key);
	if (st)
		stack_init(st, sm);
	return st;
}

/* Walk both stacks and send them if they are new. Returns the id, or 0 if there is no frame. */
static __always_inline __u64 sample_stack(void *ctx, const struct sample *sm,
					  enum scratch_user user)
{
	union stack_scratch *st = stack_begin(sm, user);
	__u32 nkernel, nuser;

	if (!st)
		return 0;
	nkernel = walk_kernel(ctx, st, sm, 0);
	nuser = walk_user(ctx, st, nkernel, sm, user);
	return stack_finish(st, sm, nkernel, nuser, NULL);
}

#endif
