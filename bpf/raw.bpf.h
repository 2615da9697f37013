/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw stacks: registers and a copy of the stack, which user space walks. Two cases need one: a
 * table or a mapping is not known yet, or the thread sleeps when the recording ends. A sleeping
 * thread's memory can be read only by a helper that walks cannot use. A copy ends where the stack
 * ends, and is small while the ring is half full. The bytes that a process may copy within a period
 * are limited: a process whose tables never come must not fill the rings.
 */
#ifndef RAW_BPF_H
#define RAW_BPF_H

#include "bpf/unwind.bpf.h"

enum {
	RAW_PIECES = 4,     /* copied near the end of the stack */
	RAW_PIECE_MIN = RAW_BLOCK >> RAW_PIECES,
	RAW_SMALL = 4096,   /* the largest copy while the ring is half full */
	RAW_PROCESSES = 1024,
	RAW_BURST = 4 << 20, /* bytes of one process within RAW_PERIOD_NS */
	RAW_PERIOD_NS = 500000000,
};

struct raw_budget {
	__u64 since;
	__u64 nbytes;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RAW_PROCESSES);
	__type(key, __u32);
	__type(value, struct raw_budget);
} er_raw_budgets SEC(".maps");

const volatile bool er_raws; /* user space walks raw stacks */
const volatile __u32 er_ring_bytes;

static __always_inline bool raw_allowed(__u32 tgid)
{
	struct raw_budget *b = bpf_map_lookup_elem(&er_raw_budgets, &tgid);

	/* A wait's record has the time when it began, so the clock is read here. */
	return !b || b->nbytes < RAW_BURST || bpf_ktime_get_ns() - b->since > RAW_PERIOD_NS;
}

static __always_inline void raw_charge(__u32 tgid, __u32 nbytes)
{
	struct raw_budget *b = bpf_map_lookup_elem(&er_raw_budgets, &tgid);
	struct raw_budget fresh = { .since = bpf_ktime_get_ns(), .nbytes = nbytes };

	if (!b)
		bpf_map_update_elem(&er_raw_budgets, &tgid, &fresh, BPF_ANY);
	else if (fresh.since - b->since > RAW_PERIOD_NS)
		*b = fresh;
	else
		b->nbytes += nbytes;
}

/*
 * The largest copy that may be written to the ring now. None when it is three quarters full: other
 * records would soon be lost.
 */
static __always_inline __u32 raw_room(void *ring)
{
	__u64 used = ring ? bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) : er_ring_bytes;

	if (used < er_ring_bytes / 2)
		return ER_RAW_BYTES;
	return used < er_ring_bytes / 4 * 3 ? RAW_SMALL : 0;
}

/*
 * Where the stack that contains `sp` ends, in bytes from `sp`, but at most `most`. The main thread's
 * stack ends at the arguments that the kernel wrote for the program. C libraries keep a thread's
 * control block at the end of the thread's stack; the base of the segment FS is its address.
 */
static __always_inline __u32 raw_extent(const struct task_struct *p, __u64 sp, __u32 most)
{
	__u64 to_args = BPF_CORE_READ(p, mm, start_stack) - sp;
	__u64 to_block = BPF_CORE_READ(p, thread.fsbase) - sp;

	if (to_args < most)
		most = (to_args + RAW_PIECE_MIN - 1) & -RAW_PIECE_MIN;
	if (to_block < most)
		most = (to_block + RAW_PIECE_MIN - 1) & -RAW_PIECE_MIN;
	return most;
}

struct raw_copy {
	union stack_scratch *st;
	struct task_struct *asleep; /* whose memory is copied; NULL: the current thread's */
	__u64 sp;
	__u32 to;                   /* word of the scratch */
	__u32 nbytes;
	__u32 most;                 /* bytes to copy */
};

/* Scratch of the iterator; there is only one. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, union stack_scratch);
} er_asleep SEC(".maps");

/*
 * `asleep` is known at compile time: the helper that it selects is allowed in sleepable programs
 * only.
 */
static __always_inline bool raw_read(struct raw_copy *w, __u32 size, bool asleep)
{
	__u32 to = w->to + w->nbytes / 8;
	const void *from = (void *)(w->sp + w->nbytes);
	void *at;

	if (w->nbytes + size > w->most || to > RAW_WORDS - RAW_BLOCK / 8)
		return false;
	at = (__u64 *)w->st + to;
	if (asleep && !vma_may_be_read(w->asleep, (__u64)from, (__u64)from + size, true))
		return false;
	if (asleep ? bpf_copy_from_user_task(at, size, from, w->asleep, 0) :
		     bpf_probe_read_user(at, size, from))
		return false;
	w->nbytes += size;
	return true;
}

static long raw_block(__u32 i, struct raw_copy *w)
{
	return !raw_read(w, RAW_BLOCK, false);
}

static long raw_block_asleep(__u32 i, struct raw_copy *w)
{
	return !raw_read(w, RAW_BLOCK, true);
}

/* Each piece is half of the one before. */
static __always_inline long raw_piece(__u32 i, struct raw_copy *w, bool asleep)
{
	__u32 size = RAW_BLOCK / 2 >> i;

	barrier_var(size); /* the verifier knows no bound of it */
	if (size > RAW_BLOCK)
		return 1;
	raw_read(w, size, asleep);
	return 0;
}

static long raw_piece_awake(__u32 i, struct raw_copy *w)
{
	return raw_piece(i, w, false);
}

static long raw_piece_asleep(__u32 i, struct raw_copy *w)
{
	return raw_piece(i, w, true);
}

struct raw_patch {
	union stack_scratch *st;
	struct return_instance *ri;
	__u64 sp, trampoline;
	__u32 to, nbytes;
};

static long raw_patch_one(__u32 i, struct raw_patch *w)
{
	struct return_instance *ri = w->ri;
	__u64 off;
	__u32 at;

	if (!ri)
		return 1;
	off = BPF_CORE_READ(ri, stack) - w->sp;
	at = w->to + off / 8;
	if (!(off & 7) && off < w->nbytes && at < RAW_WORDS && w->st->raw[at] == w->trampoline)
		w->st->raw[at] = BPF_CORE_READ(ri, orig_ret_vaddr);
	w->ri = BPF_CORE_READ(ri, next);
	return 0;
}

/* Undo in the copy what probes did to return addresses on the stack. */
static __always_inline void raw_patch(const struct raw_copy *w, struct task_struct *p)
{
	struct returns r;
	struct raw_patch patch = { .st = w->st, .sp = w->sp, .to = w->to, .nbytes = w->nbytes };

	returns_begin(&r, p, BPF_CORE_READ(p, mm));
	patch.ri = (void *)r.first;
	patch.trampoline = r.trampoline;
	if (r.first)
		bpf_loop(RETURNS_MAX, raw_patch_one, &patch, 0);
}

/*
 * Copy the code around `ip`: all of it or nothing. Only the current thread's, because a sleeping
 * thread's pc is behind a system call, which is seldom generated code.
 */
static __always_inline void raw_code(struct er_raw *raw, __u64 ip)
{
	__u64 at = ip - ER_RAW_CODE_BACK;

	raw->code_at = bpf_probe_read_user(raw->code, sizeof(raw->code), (void *)at) ? 0 : at;
}

/* Write registers, code and at most `most` bytes of stack behind the `at` kernel frames. */
static __always_inline void raw_take(union stack_scratch *st, const struct pt_regs *regs,
				     struct task_struct *asleep, __u32 at, __u32 most, bool sleeps)
{
	struct task_struct *p = asleep ? asleep : bpf_get_current_task_btf();
	struct raw_copy w = { .st = st, .asleep = asleep, .sp = regs->sp };
	struct er_raw *raw;

	barrier_var(at);
	if (at > ER_MAX_KERNEL_FRAMES)
		return;
	raw = (struct er_raw *)&st->s.pcs[at];
	copy_regs(raw->regs, regs);
	raw->copied_ns = bpf_ktime_get_ns();
	raw->code_at = 0;
	if (!sleeps)
		raw_code(raw, regs->ip);
	w.to = (sizeof(struct er_stack) + sizeof(struct er_raw)) / 8 + at;
	w.most = raw_extent(p, w.sp, most);
	bpf_loop(ER_RAW_BYTES / RAW_BLOCK, sleeps ? raw_block_asleep : raw_block, &w, 0);
	/* The verifier would follow each outcome of each round of a plain loop to the program's end. */
	bpf_loop(RAW_PIECES, sleeps ? raw_piece_asleep : raw_piece_awake, &w, 0);
	raw_patch(&w, p);
	raw->nbytes = w.nbytes;
	st->s.flags |= ER_STACK_RAW;
}

__noinline int er_raw_take(union stack_scratch *st, __u32 at, __u32 most)
{
	if (st)
		raw_take(st, arch_user_regs(bpf_get_current_task_btf()), NULL, at, most, false);
	return 0;
}

static __always_inline __u32 raw_size(const union stack_scratch *st, __u32 nkernel)
{
	const struct er_raw *raw;

	barrier_var(nkernel);
	if (nkernel > ER_MAX_KERNEL_FRAMES)
		return 0;
	raw = (const struct er_raw *)&st->s.pcs[nkernel];
	return sizeof(*raw) + (raw->nbytes & 0xffff);
}

#endif
