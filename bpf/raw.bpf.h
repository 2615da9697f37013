/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw stacks: registers and a copy of the stack, which user space walks. Two cases need one: a
 * table or a mapping is not known yet, or the thread sleeps when the recording ends. A sleeping
 * thread's memory can be read only by a helper that walks cannot use. The number of raw stacks of a
 * process is limited within a period: a process whose tables never come must not fill the rings.
 */
#ifndef RAW_BPF_H
#define RAW_BPF_H

#include "bpf/unwind.bpf.h"

enum {
	RAW_BLOCK = 1024,   /* bytes copied at a time */
	RAW_PIECE_MIN = 64, /* the smallest piece, copied near the end of the stack */
	RAW_PROCESSES = 1024,
	RAW_BURST = 64,     /* of one process within RAW_PERIOD_NS */
	RAW_PERIOD_NS = 500000000,
};

struct raw_budget {
	__u64 since;
	__u64 n;
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
	__u64 now = bpf_ktime_get_ns(); /* a wait's record has the time when it began */
	struct raw_budget fresh = { .since = now, .n = 1 }, *b;

	b = bpf_map_lookup_elem(&er_raw_budgets, &tgid);
	if (!b) {
		bpf_map_update_elem(&er_raw_budgets, &tgid, &fresh, BPF_ANY);
		return true;
	}
	if (now - b->since > RAW_PERIOD_NS)
		*b = fresh;
	else if (b->n++ >= RAW_BURST)
		return false;
	return true;
}

/* False if the ring is half full: other records would soon be lost. */
static __always_inline bool raw_fits(void *ring)
{
	return ring && bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) < er_ring_bytes / 2;
}

struct raw_copy {
	union stack_scratch *st;
	struct task_struct *asleep; /* whose memory is copied; NULL: the current thread's */
	__u64 sp;
	__u32 to;                   /* word of the scratch */
	__u32 nbytes;
};

/* Scratch of the iterator; there is only one. */
struct asleep_scratch {
	__u64 raw[RAW_WORDS + (ER_RAW_ASLEEP_BYTES - ER_RAW_BYTES) / 8];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct asleep_scratch);
} er_asleep SEC(".maps");

/*
 * `asleep` is known at compile time: the helper that it selects is allowed in sleepable programs
 * only.
 */
static __always_inline bool raw_read(struct raw_copy *w, __u32 size, bool asleep)
{
	const __u32 most = asleep ? ER_RAW_ASLEEP_BYTES : ER_RAW_BYTES;
	const __u32 words = RAW_WORDS + (most - ER_RAW_BYTES) / 8;
	__u32 to = w->to + w->nbytes / 8;
	const void *from = (void *)(w->sp + w->nbytes);
	void *at;

	if (w->nbytes + size > most || to > words - size / 8)
		return false;
	at = (__u64 *)w->st + to;
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

static __always_inline void raw_end(struct raw_copy *w, bool asleep)
{
	for (__u32 size = RAW_BLOCK / 2; size >= RAW_PIECE_MIN; size /= 2)
		raw_read(w, size, asleep);
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

	returns_begin(&r, p, p->mm);
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

/* Write registers, code and stack behind the `at` kernel frames. */
static __always_inline void raw_take(union stack_scratch *st, const struct pt_regs *regs,
				     struct task_struct *asleep, __u32 at, bool sleeps)
{
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
	bpf_loop((sleeps ? ER_RAW_ASLEEP_BYTES : ER_RAW_BYTES) / RAW_BLOCK,
		 sleeps ? raw_block_asleep : raw_block, &w, 0);
	raw_end(&w, sleeps);
	raw_patch(&w, asleep ? asleep : bpf_get_current_task_btf());
	raw->nbytes = w.nbytes;
	st->s.flags |= ER_STACK_RAW;
}

__noinline int er_raw_take(union stack_scratch *st, __u32 at)
{
	if (st)
		raw_take(st, arch_user_regs(bpf_get_current_task_btf()), NULL, at, false);
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
