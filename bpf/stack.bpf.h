/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks. The kernel stack and the user stack are walked and hashed into one id. A stack is
 * sent if it was not sent before. Records refer to it by the id.
 */
#ifndef STACK_BPF_H
#define STACK_BPF_H

#include "bpf/again.bpf.h"
#include "bpf/send.bpf.h"
#include "bpf/walk.bpf.h"

enum {
	SEEN_LINES = 8192, /* a power of two */
	SEEN_WAYS = 8,     /* a cache line of ids */
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

/* User space changes it to have all stacks sent again: in er_seen the ids are combined with it. */
__u64 er_seen_key;

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

/* An id is noted only after its stack was sent, so a lost definition is sent again. */
static __always_inline void send_new(union stack_scratch *st, struct er_cpu *c, __u32 tid,
				     struct seq_file *seq)
{
	__u32 at = st->s.id % SEEN_LINES;
	struct seen_line *line = bpf_map_lookup_elem(&er_seen, &at);

	if (line && !seen_has(line, st->s.id ^ er_seen_key) && send_stack(st, c, tid, seq))
		seen_add(line, st->s.id ^ er_seen_key, st->s.h.time_ns >> 4);
}

/* The unique id of a stack whose user frames are still to come. */
static __always_inline __u64 raw_id(const union stack_scratch *st)
{
	__u64 h = mix(er_hash_seed, st->s.h.time_ns);

	h = mix(h, (__u64)bpf_get_smp_processor_id() << 32 | st->s.h.seq);
	h = mix(h, (__u64)st->s.tgid << 32 | ER_STACK_RAW);
	return h ? h : 1;
}

/* Give the stack its id and send it if it is new. Returns the id. */
static __always_inline __u64 stack_publish(union stack_scratch *st, struct er_cpu *c, __u32 tid,
					   struct seq_file *seq)
{
	if (st->s.flags & ER_STACK_RAW) {
		st->s.h.seq = c->counts.produced[ER_KIND_STACK];
		st->s.id = raw_id(st);
	} else if (!(st->s.flags & ER_STACK_UNREAD)) {
		st->s.id = er_stack_hash(st, st->s.nkernel + st->s.nuser);
		send_new(st, c, tid, seq);
		return st->s.id;
	}
	send_stack(st, c, tid, seq);
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

/*
 * Have the thread walk again if memory could not be read. If that is not possible the stack is one
 * like others. Not in a global function: the verifier would take it for one that may sleep.
 */
static __always_inline void unread_ask(union stack_scratch *st, struct er_cpu *c)
{
	if (!(st->s.flags & ER_STACK_UNREAD))
		return;
	st->s.h.seq = c->counts.produced[ER_KIND_STACK];
	st->s.id = raw_id(st);
	if (!er_again || !again_ask(st))
		st->s.flags &= ~ER_STACK_UNREAD;
}

/*
 * Walk both stacks and send them if they are new. Returns the id, or 0 if there is no frame.
 * `again`, known at compile time: the thread may walk again.
 */
static __always_inline __u64 sample_stack(void *ctx, struct sample *sm,
					  enum scratch_user user, bool again)
{
	union stack_scratch *st = stack_begin(sm, user);
	__u32 nkernel, nuser;

	if (!st)
		return 0;
	nkernel = walk_kernel(ctx, st, sm, 0);
	nuser = walk_user(ctx, st, nkernel, sm, user, again);
	if (again)
		unread_ask(st, sm->cpu);
	return stack_finish(st, sm, nkernel, nuser, NULL);
}

#endif
