/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks: both are walked, hashed into an id together with the address
 * space they belong to, and sent when nobody has sent them before. A record then
 * refers to them by the id.
 */
#ifndef STACK_BPF_H
#define STACK_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/er.bpf.h"
#include "bpf/thread.bpf.h"

enum {
	SEEN_LINES = 8192, /* a power of two */
	SEEN_WAYS = 8,     /* a cache line of ids */
	FEW_FRAMES = 32,
	HASH_BLOCK = 8, /* frames hashed at a time */
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
	__u64 room[sizeof(struct er_stack) / 8 + 2 * ER_MAX_FRAMES + HASH_BLOCK];
};

/* Who may be at a stack at the same time on one CPU: each interrupts those behind it. */
enum scratch_user {
	SCRATCH_CLOCK,  /* the timer's interrupt */
	SCRATCH_WAKING, /* interrupts are off */
	SCRATCH_SWITCH,
	SCRATCH_EXEC,
	SCRATCH_ITER,   /* one at a time, but may be put off the CPU */
	SCRATCH_COUNT
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_COUNT);
	__type(key, __u32);
	__type(value, union stack_scratch);
} er_scratch SEC(".maps");

const volatile __u64 er_hash_seed; /* secret, so that nobody can make stacks collide */
const volatile __u32 er_max_frames = ER_MAX_FRAMES;

/* What a sample is made of, gathered once and before any branch: see task_rq. */
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
	bool no_user;  /* leave out the user's part */
};

static __always_inline __u64 mix(__u64 h, __u64 x)
{
	h = (h ^ x) * 0x9fb21c651e98df25ULL;
	return h ^ (h >> 32);
}

struct hash_walk {
	const union stack_scratch *st;
	__u64 h;
};

static long hash_block(__u32 block, struct hash_walk *w)
{
	__u32 at = block * HASH_BLOCK;
	__u64 h = w->h;

	if (at > 2 * ER_MAX_FRAMES)
		return 1;
	for (int i = 0; i < HASH_BLOCK; i++)
		h = mix(h, w->st->s.pcs[at + i]);
	w->h = h;
	return 0;
}

/*
 * Of `n` frames. In blocks, the last one filled up with zeros: of a plain loop the verifier
 * goes through each turn, 2,500 instructions in each program.
 */
__noinline __u64 er_stack_hash(union stack_scratch *st, __u32 n, __u64 exec_id)
{
	struct hash_walk w = { .st = st };
	__u64 h;

	if (!st || n > 2 * ER_MAX_FRAMES)
		return 0;
	for (int i = 0; i < HASH_BLOCK; i++)
		st->s.pcs[n + i] = 0;
	h = mix(er_hash_seed, st->s.start_time);
	h = mix(h, (__u64)st->s.tgid << 32 | st->s.flags);
	h = mix(h, exec_id);
	w.h = mix(h, (__u64)st->s.nkernel << 16 | st->s.nuser);
	bpf_loop((n + HASH_BLOCK - 1) / HASH_BLOCK, hash_block, &w, 0);
	h = mix(w.h, w.h >> 29);
	return h ? h : 1;
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

/* Say of the kernel's frames, `got` bytes of them, what is to be known; their number. */
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

/* A frame as code with frame pointers leaves it: the caller's, and where it returns to. */
struct user_frame {
	__u64 fp, ret;
};

struct user_walk {
	union stack_scratch *st;
	struct task_struct *asleep; /* whose memory is read; NULL: the current thread's */
	__u64 fp;
	__u32 at, n, max;
};

/* `asleep` is known when this is compiled: the helper behind it is for sleepable programs only. */
static __always_inline bool read_frame(struct user_frame *f, const struct user_walk *w, bool asleep)
{
	if (asleep)
		return !bpf_copy_from_user_task(f, sizeof(*f), (void *)w->fp, w->asleep, 0);
	return !bpf_probe_read_user(f, sizeof(*f), (void *)w->fp);
}

static __always_inline long walk_on(struct user_walk *w, bool asleep)
{
	__u32 to = w->at + w->n;
	struct user_frame f;

	if (w->n >= w->max || to >= 2 * ER_MAX_FRAMES || w->fp & 7 || !read_frame(&f, w, asleep) ||
	    !f.ret)
		return 1;
	w->st->s.pcs[to] = f.ret;
	w->n++;
	if (f.fp <= w->fp)
		return 1;
	w->fp = f.fp;
	return 0;
}

static long walk_step(__u32 i, struct user_walk *w)
{
	return walk_on(w, false);
}

static long asleep_step(__u32 i, struct user_walk *w)
{
	return walk_on(w, true);
}

/*
 * The user's frames by frame pointers, behind the `at` of the kernel; their
 * number. Half the time that the kernel's own walk takes, which clears its
 * buffer and checks each address by itself.
 */
__noinline __u32 er_walk_user(union stack_scratch *st, __u64 ip, __u64 fp, __u32 at)
{
	struct user_walk w = { .st = st, .fp = fp, .at = at, .n = 1, .max = er_max_frames };

	if (!st || at >= 2 * ER_MAX_FRAMES)
		return 0;
	st->s.pcs[at] = ip;
	bpf_loop(ER_MAX_FRAMES, walk_step, &w, 0);
	return w.n;
}

/* The same of a thread that sleeps, by its own page tables. Programs that may sleep only. */
static __always_inline __u32 walk_asleep(union stack_scratch *st, struct task_struct *p, __u64 ip,
					 __u64 fp, __u32 at)
{
	struct user_walk w = { .st = st, .asleep = p, .fp = fp, .at = at, .n = 1,
			       .max = er_max_frames };

	if (at >= 2 * ER_MAX_FRAMES)
		return 0;
	st->s.pcs[at] = ip;
	bpf_loop(ER_MAX_FRAMES, asleep_step, &w, 0);
	return w.n;
}

static __always_inline bool has_user_stack(const struct sample *sm)
{
	return !(sm->task->flags & (TASK_PF_KTHREAD | TASK_PF_IO_WORKER)) && sm->mm && !sm->no_user;
}

/* Say of the user's frames, `got` of them, what is to be known; their number. */
__noinline __u32 er_user_walked(union stack_scratch *st, struct er_cpu *c, __u32 got, bool exact)
{
	if (!st || !c)
		return 0;
	if (!got) {
		st->s.flags |= ER_STACK_USER_FAILED;
		c->counts.stack_user_failed++;
	}
	if (got >= er_max_frames) {
		st->s.flags |= ER_STACK_USER_TRUNCATED;
		c->counts.stack_user_truncated++;
	}
	if (got && exact)
		st->s.flags |= ER_STACK_USER_EXACT;
	return got;
}

/* After a system call the user's pc is where it returns to; else where it was. */
static __always_inline bool user_exact(const struct sample *sm, const struct pt_regs *regs)
{
	return sm->flags & ER_CLOCK_USER || arch_syscall(regs) < 0;
}

static __always_inline __u32 walk_user(void *ctx, union stack_scratch *st, __u32 at,
				       const struct sample *sm)
{
	struct pt_regs *regs;
	long got;

	if (!has_user_stack(sm) || at > ER_MAX_FRAMES)
		return 0;
	regs = arch_user_regs(sm->task);
	if (arch_is_32bit(regs)) {
		barrier_var(at); /* bounded right before its use, as in send_stack */
		if (at > ER_MAX_FRAMES)
			return 0;
		got = get_stack(ctx, st->s.pcs + at, BPF_F_USER_STACK);
		got = got < 0 ? 0 : (__u32)got / 8;
	} else {
		got = er_walk_user(st, regs->ip, regs->bp, at);
	}
	return er_user_walked(st, sm->cpu, got, user_exact(sm, regs));
}

/* Into the ring; `seq` is known when this is compiled, NULL but in the last iterator. */
static __always_inline bool stack_write(const union stack_scratch *st, __u32 size,
					struct seq_file *seq)
{
	void *ring;

	if (seq)
		return last_write(seq, st, size);
	ring = er_this_ring();
	return ring && !bpf_ringbuf_output(ring, (void *)st, size, er_wakeup(ring));
}

/* A stack is seen only once it is written: a lost definition is tried again. */
static __always_inline void send_stack(union stack_scratch *st, __u32 n, struct er_cpu *c,
				       __u32 tid, struct seen_line *line, struct seq_file *seq)
{
	__u32 size = sizeof(st->s) + n * 8;

	st->s.h.kind = ER_KIND_STACK;
	st->s.h.seq = er_number(c, ER_KIND_STACK);
	barrier_var(size); /* bounded right before its use, or 6.1 loses the bound in a spill */
	if (size <= sizeof(*st) && stack_write(st, size, seq))
		seen_add(line, st->s.id, st->s.h.time_ns >> 4);
	else
		er_lost(c, ER_KIND_STACK, st->s.h.time_ns, st->s.tgid, tid);
}

/* Give the stack its id, which is returned, and send it if it is new. */
static __always_inline __u64 stack_publish(union stack_scratch *st, struct er_cpu *c,
					  __u64 exec_id, __u32 tid, struct seq_file *seq)
{
	__u32 n = st->s.nkernel + st->s.nuser, at;
	struct seen_line *line;

	st->s.id = er_stack_hash(st, n, exec_id);
	at = st->s.id % SEEN_LINES;
	line = bpf_map_lookup_elem(&er_seen, &at);
	if (line && !seen_has(line, st->s.id))
		send_stack(st, n, c, tid, line, seq);
	return st->s.id;
}

__noinline __u64 er_stack_publish(union stack_scratch *st, struct er_cpu *c, __u64 exec_id,
				 __u32 tid)
{
	return st && c ? stack_publish(st, c, exec_id, tid, NULL) : 0;
}

/* Send the stack that was walked, if it is new; its id, 0 when there is no frame at all. */
static __always_inline __u64 stack_finish(union stack_scratch *st, const struct sample *sm,
					  __u32 nkernel, __u32 nuser, struct seq_file *seq)
{
	st->s.nkernel = nkernel;
	st->s.nuser = nuser;
	if (!(nkernel + nuser) && !st->s.flags)
		return 0;
	if (seq)
		return stack_publish(st, sm->cpu, sm->task->self_exec_id, sm->tid, seq);
	return er_stack_publish(st, sm->cpu, sm->task->self_exec_id, sm->tid);
}

static __always_inline union stack_scratch *stack_begin(const struct sample *sm,
							enum scratch_user user)
{
	union stack_scratch *st;
	__u32 key = user;

	st = bpf_map_lookup_elem(&er_scratch, &key);
	if (!st)
		return NULL;
	st->s.flags = 0;
	st->s.pad = 0;
	st->s.h.time_ns = sm->now;
	st->s.tgid = sm->tgid;
	st->s.start_time = sm->start_time;
	return st;
}

/* Walk both stacks, send them if they are new; the id, 0 when there is no frame at all. */
static __always_inline __u64 sample_stack(void *ctx, const struct sample *sm,
					  enum scratch_user user)
{
	union stack_scratch *st = stack_begin(sm, user);
	__u32 nkernel, nuser;

	if (!st)
		return 0;
	nkernel = walk_kernel(ctx, st, sm, 0);
	nuser = walk_user(ctx, st, nkernel, sm);
	return stack_finish(st, sm, nkernel, nuser, NULL);
}

#endif
