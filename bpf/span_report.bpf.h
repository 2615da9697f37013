/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens to a span that is over: it is added to the sums of its name, and its record is sent
 * if it is chosen.
 *
 * A program of a uprobe may be preempted by other threads' on the same CPU, so sums of a CPU are
 * added atomically.
 */
#ifndef SPAN_REPORT_BPF_H
#define SPAN_REPORT_BPF_H

#include "bpf/span_times.bpf.h"

/* The id of a call that does not pass the tests of its SPEC: it is not counted. */
enum { SPAN_MUTED = 1 };

struct span_slot {
	__u64 id;     /* 0: closed */
	__u64 parent;
	__u64 sp;     /* user stack pointer at its begin */
	struct span_times at;
	__s64 args[ER_SPAN_ARGS];
	__u32 name, depth;
	__u32 place;  /* er_span_site */
	__u8 kind;    /* enum er_span_kind */
	__u8 below;   /* the next older open span, or the next free slot: index + 1; 0: none */
	__u8 ntext;
	__u8 switched; /* er_span_site */
	char text[ER_SPAN_TEXT];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct er_span_sums);
} er_span_sums SEC(".maps");

struct span_hist {
	__u64 n[ER_SPAN_BUCKETS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct span_hist);
} er_span_hist SEC(".maps");

/* The choice of records, on each CPU. */
struct span_pace {
	__u64 ids;    /* given so far: the number of calls that began */
	__u64 since;  /* begin of the present window */
	__u32 share;  /* of the calls, in 2^-32, that are chosen; 0: all */
	__u32 calls, sent; /* in the window */
	__u32 random; /* the last random number */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct span_pace);
} er_span_pace SEC(".maps");

enum { SPAN_WINDOWS = 10 }; /* in a second */

const volatile __u32 er_span_limit; /* records on a CPU in a window; 0: unlimited */
const volatile __u64 er_span_over_ns; /* longer calls are recorded before others; 0: none */

/* --- sums --- */

static __always_inline void span_add(__u64 *sum, __u64 n)
{
	if (n)
		__sync_fetch_and_add(sum, n);
}

static __always_inline __u32 span_bucket(__u64 ns)
{
	__u32 octave = 0;
	__u64 rest = ns;

	if (ns >> ER_SPAN_HIST_TOP)
		return ER_SPAN_BUCKETS - 1;
	for (int step = 32; step; step /= 2) {
		if (rest >> step) {
			rest >>= step;
			octave += step;
		}
	}
	if (octave < ER_SPAN_HIST_BITS)
		return ns;
	octave -= ER_SPAN_HIST_BITS;
	return (octave << ER_SPAN_HIST_BITS) + (ns >> octave);
}

static __always_inline void span_count(struct er_span_sums *sums, const struct span_result *r,
				       __u32 name)
{
	struct span_hist *hist = bpf_map_lookup_elem(&er_span_hist, &name);
	__u32 bucket = span_bucket(r->dur_ns);

	if (hist && bucket < ER_SPAN_BUCKETS)
		__sync_fetch_and_add(&hist->n[bucket], 1);
	if (r->dur_ns > sums->max_ns)
		sums->max_ns = r->dur_ns;
	span_add(&sums->run_ns, r->run_ns);
	span_add(&sums->user_ns, r->user_ns);
	span_add(&sums->waits, r->waits);
	span_add(&sums->minflt, r->minflt);
	span_add(&sums->majflt, r->majflt);
	if (r->dur_ns == r->run_ns)
		return;
	for (int i = 0; i < ER_OFF_STATES; i++)
		span_add(&sums->off_ns[i], r->off_ns[i]);
	if (r->stolen_ns > 0)
		span_add(&sums->stolen_ns, r->stolen_ns);
}

/* --- the choice of records --- */

enum span_choice { CHOICE_NONE, CHOICE_ALL, CHOICE_SAMPLED, CHOICE_OVER, CHOICE_OVERDRAWN };

/* A new window. Long calls may need half of the budget. */
static __always_inline void pace_turn(struct span_pace *pace, __u64 now)
{
	__u32 budget = er_span_over_ns ? er_span_limit / 2 : er_span_limit, calls = pace->calls;

	pace->share = calls > budget ? ((__u64)budget << 32) / calls : 0;
	pace->calls = pace->sent = 0;
	pace->since = now;
}

/* The kernel's own generator takes 10 ns more. Only the upper bits of this one are random. */
static __always_inline __u32 pace_random(struct span_pace *pace)
{
	pace->random = pace->random * 1664525 + 1013904223;
	return pace->random;
}

static __always_inline enum span_choice span_choose(struct span_pace *pace, __u64 now, __u64 dur_ns)
{
	bool over = er_span_over_ns && dur_ns >= er_span_over_ns;

	if (!er_span_limit)
		return over ? CHOICE_OVER : CHOICE_ALL;
	if (now - pace->since > 1000000000 / SPAN_WINDOWS)
		pace_turn(pace, now);
	pace->calls++;
	if (!over && pace->share && pace_random(pace) >= pace->share)
		return CHOICE_NONE;
	if (pace->sent >= er_span_limit)
		return over ? CHOICE_OVERDRAWN : CHOICE_NONE;
	pace->sent++;
	return over ? CHOICE_OVER : CHOICE_SAMPLED;
}

static __always_inline __u32 choice_flags(enum span_choice choice)
{
	return choice == CHOICE_OVER ? ER_SPAN_OVER : choice == CHOICE_SAMPLED ? ER_SPAN_SAMPLED : 0;
}

/* --- records --- */

/* Everything except the number and the text. */
static __always_inline void span_fill(struct er_span *r, struct task_struct *p, __u64 start_time, __u32 tid,
				      const struct span_slot *slot, const struct span_result *res,
				      __u64 now, __u64 id)
{
	r->h.kind = ER_KIND_SPAN;
	r->h.time_ns = now;
	r->task.start_time = start_time;
	r->task.tgid = p->tgid;
	r->task.tid = tid;
	__builtin_memcpy(r->task.comm, p->comm, sizeof(r->task.comm));
	r->id = id;
	r->parent = slot->parent;
	r->dur_ns = res->dur_ns;
	r->run_ns = res->run_ns;
	r->user_ns = res->user_ns;
	for (int i = 0; i < ER_OFF_STATES; i++)
		r->off_ns[i] = res->off_ns[i];
	r->stolen_ns = res->stolen_ns;
	for (int i = 0; i < ER_SPAN_ARGS; i++)
		r->args[i] = slot->args[i];
	r->waits = res->waits;
	r->minflt = res->minflt;
	r->majflt = res->majflt;
	r->name = slot->name;
	r->depth = slot->depth;
	r->cpu = bpf_get_smp_processor_id();
	r->ntext = 0;
}

static __always_inline void span_text(struct er_span *r, const struct span_slot *slot)
{
	r->ntext = slot->ntext;
	__builtin_memcpy(r->text, slot->text, ER_SPAN_TEXT);
}

/* False: there was no room. */
static __always_inline bool span_send(struct er_cpu *c, struct task_struct *p, __u32 tid,
				      const struct span_slot *slot, const struct span_result *res,
				      __u64 now, __u64 id, __u32 flags)
{
	enum { SHORT = __builtin_offsetof(struct er_span, text) };
	__u32 seq = er_number(c, ER_KIND_SPAN);
	void *ring = er_this_ring();
	__u64 start = p->group_leader->start_time;
	struct er_span *r;

	if (!ring)
		return false;
	if (slot->ntext) {
		r = bpf_ringbuf_reserve(ring, sizeof(*r), 0);
		if (!r)
			return false;
		span_fill(r, p, start, tid, slot, res, now, id);
		span_text(r, slot);
	} else {
		r = bpf_ringbuf_reserve(ring, SHORT, 0);
		if (!r)
			return false;
		span_fill(r, p, start, tid, slot, res, now, id);
	}
	r->flags = flags;
	r->h.seq = seq;
	bpf_ringbuf_submit(r, er_wakeup(ring));
	return true;
}

static __always_inline struct er_span_sums *span_sums(__u32 name)
{
	return bpf_map_lookup_elem(&er_span_sums, &name);
}

static __always_inline struct span_pace *span_pace(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&er_span_pace, &key);
}

/* Count a call that is over, with the times `res` up to `now`, and send its record if it is chosen. */
static __always_inline void span_report(struct er_cpu *c, struct task_struct *p, struct span_slot *slot,
					__u64 now, struct span_result *res, __u64 id, __u32 tid, __u32 how)
{
	struct er_span_sums *sums = span_sums(slot->name);
	struct span_pace *pace = span_pace();
	enum span_choice choice;

	if (!pace || !sums)
		return;
	if (how & ER_SPAN_RETURNED)
		span_count(sums, res, slot->name);
	else
		span_add(&sums->unended, 1);
	choice = span_choose(pace, now, res->dur_ns);
	if (choice == CHOICE_NONE)
		return;
	how |= choice_flags(choice) | (er_split ? ER_SPAN_SPLIT : 0);
	if (choice == CHOICE_OVERDRAWN)
		er_number(c, ER_KIND_SPAN);
	else if (span_send(c, p, tid, slot, res, now, id, how))
		return;
	span_add(&sums->lost, 1);
	er_lost(c, ER_KIND_SPAN, now, p->tgid, tid);
}

/* The same for calls that end in an unusual way: the verifier checks it once. */
__noinline int er_span_report(struct span_slot *slot, const struct span_times *now, __u64 id,
			      __u32 tid, __u32 how)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct er_cpu *c = er_this_cpu();
	struct span_result res;

	if (!slot || !now || !c)
		return 0;
	span_difference(&res, &slot->at, now);
	span_report(c, p, slot, now->now, &res, id, tid, how);
	return 0;
}

#endif
