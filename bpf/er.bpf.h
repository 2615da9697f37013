/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by all our BPF programs: the rings, the counters, the table of losses, and the functions
 * that reserve, number and submit a record. loaders/rings.c creates the maps and binds them by
 * name, so that all programs use the same rings.
 */
#ifndef ER_BPF_H
#define ER_BPF_H

#include "bpf/er_event.h"

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* By CPU id. A CPU that was not present at the start has no ring. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} er_rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct er_cpu);
} er_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ER_MAX_LOSSES);
	__type(key, struct er_loss_key);
	__type(value, __u64);
} er_losses SEC(".maps");

/* Wake the reader when a ring holds this many bytes; 0: never. Set before loading. */
const volatile __u32 er_wake_bytes;

static __always_inline struct er_cpu *er_this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&er_cpus, &cpu);
}

static __always_inline void *er_this_ring(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&er_rings, &cpu);
}

/* The next number of this kind on this CPU. Atomic, because an interrupt may come in between. */
static __always_inline __u32 er_number(struct er_cpu *c, enum er_kind seq_kind)
{
	return __sync_fetch_and_add(&c->counts.produced[seq_kind], 1);
}

/* Readers poll at intervals. They are woken only if a ring fills faster. */
static __always_inline __u64 er_wakeup(void *ring)
{
	if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= er_wake_bytes)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

/*
 * A record found no room: count it by thread and second. The function is not static, so the
 * verifier checks it once, and not again on each path that reaches it.
 */
__noinline int er_lost(struct er_cpu *c, enum er_kind kind, __u64 now, __u32 tgid, __u32 tid)
{
	struct er_loss_key key = {
		.tgid = tgid,
		.tid = tid,
		.second = now / 1000000000,
		.kind = kind,
	};
	__u64 one = 1, *n;

	if (!c)
		return 0;
	if (kind < ER_KIND_COUNT) /* the verifier needs this check */
		__sync_fetch_and_add(&c->counts.lost[kind], 1);
	n = bpf_map_lookup_elem(&er_losses, &key);
	if (n)
		__sync_fetch_and_add(n, 1);
	else if (bpf_map_update_elem(&er_losses, &key, &one, BPF_NOEXIST))
		__sync_fetch_and_add(&c->counts.loss_unattributed, 1);
	return 0;
}

/* Write into the file of the iterator at the end of the recording. */
static __always_inline bool last_write(struct seq_file *seq, const void *record, __u32 size)
{
	struct er_last head = { .size = size, .cpu = bpf_get_smp_processor_id() };

	return !bpf_seq_write(seq, &head, sizeof(head)) && !bpf_seq_write(seq, (void *)record, size);
}

#endif
