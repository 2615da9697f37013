/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of interpreted programs (struct er_code), as a walk meets them. The interpreter's record of
 * a function has an address and contents. Both together identify the function, because interpreters
 * free records and reuse the memory. A new one is read and sent at once. So its names belong to this
 * moment, and no other process needs the right to read this one's memory.
 */
#ifndef CODE_BPF_H
#define CODE_BPF_H

#include "bpf/code.h"
#include "bpf/er.bpf.h"

struct code_key {
	__u64 code;  /* its address */
	__u64 print; /* a hash of its contents, the process and its program */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct code_key);
	__type(value, __u32);
} er_codes SEC(".maps");

/* How many numbers were given to functions. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} er_ncodes SEC(".maps");

union code_record {
	struct er_code c;
	__u8 bytes[sizeof(struct er_code) + ER_CODE_TABLE];
};

/* The process that is walked, and the function that was met last. */
struct code_walk {
	struct code_key key;
	__u64 start_time, salt;
	__u32 tgid;
	union code_record record;
};

static __always_inline void code_reset(struct code_walk *w, __u64 salt, __u64 start_time, __u32 tgid)
{
	w->salt = salt;
	w->start_time = start_time;
	w->tgid = tgid;
}

static __always_inline __u64 code_mix(__u64 h, __u64 x)
{
	h = (h ^ x) * 0x9fb21c651e98df25ULL;
	return h ^ (h >> 32);
}

static __always_inline __u64 code_hash_begin(const struct code_walk *w)
{
	return code_mix(w->salt, w->start_time ^ (__u64)w->tgid << 32);
}

static __always_inline __u32 code_user(struct task_struct *p)
{
	__u32 uid = BPF_CORE_READ(p, cred, uid.val);

	return uid == BPF_CORE_READ(p, cred, euid.val) ? uid : -1;
}

/* Set what all languages have; the record has no text and no table yet. */
static __always_inline void code_begin(struct code_walk *w, enum er_code_language language)
{
	struct er_code *c = &w->record.c;

	c->start_time = w->start_time;
	c->tgid = w->tgid;
	c->uid = code_user(bpf_get_current_task_btf());
	c->language = language;
	c->first_line = 0;
	c->table_size = 0;
	c->name.n = c->path.n = c->signature.n = c->source.n = 0;
}

static __always_inline bool code_output(struct code_walk *w)
{
	struct er_cpu *cpu = er_this_cpu();
	struct er_code *c = &w->record.c;
	void *ring = er_this_ring();
	__u32 size;

	if (!cpu)
		return false;
	c->h.kind = ER_KIND_CODE;
	c->h.time_ns = bpf_ktime_get_ns();
	c->h.seq = er_number(cpu, ER_KIND_CODE);
	size = sizeof(*c) + c->table_size;
	barrier_var(size);
	if (ring && size <= sizeof(w->record) && !bpf_ringbuf_output(ring, c, size, er_wakeup(ring)))
		return true;
	er_lost(cpu, ER_KIND_CODE, c->h.time_ns, c->tgid, 0);
	return false;
}

/* Send the function in w->key, whose record is read. Returns its number; 0: that is not possible now. */
__noinline int er_code_send(struct code_walk *w)
{
	__u32 zero = 0, *last = bpf_map_lookup_elem(&er_ncodes, &zero), number;
	struct code_key key; /* on 6.1 a key must be on the stack */

	if (!w || !last || *last >= ER_MAX_CODES - 1)
		return 0;
	number = __sync_fetch_and_add(last, 1) + 1;
	if (number >= ER_MAX_CODES)
		return 0;
	w->record.c.number = number;
	if (!code_output(w))
		return 0;
	key = w->key;
	bpf_map_update_elem(&er_codes, &key, &number, BPF_ANY);
	return number;
}

/* The number of the function in w->key; 0: it was not sent. */
static __always_inline __u32 code_known(const struct code_walk *w)
{
	struct code_key key = w->key;
	__u32 *known = bpf_map_lookup_elem(&er_codes, &key);

	return known ? *known : 0;
}

#endif
