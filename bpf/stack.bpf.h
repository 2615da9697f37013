/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks: both are walked, hashed into an id together with the address
 * space they belong to, and sent when nobody has sent them before. A record then
 * refers to them by the id.
 */
#ifndef STACK_BPF_H
#define STACK_BPF_H

#include "bpf/er.bpf.h"
#include "bpf/thread.bpf.h"

enum {
	SEEN_LINES = 8192, /* a power of two */
	SEEN_WAYS = 8,     /* a cache line of ids */
	FEW_FRAMES = 32,
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

#endif
