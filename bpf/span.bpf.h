/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The open spans of each thread, and what happens when one begins or ends.
 *
 * A thread has room for ER_SPAN_DEPTH open spans, in storage that only threads with spans have. A
 * begin copies the thread's counters into a slot; its end takes the difference.
 *
 * Concurrency: only the thread itself changes its spans, and the iterator of the end, which may run
 * beside it. Who sets the id of a slot to 0 has closed it.
 */
#ifndef SPAN_BPF_H
#define SPAN_BPF_H

#include "bpf/place.bpf.h"
#include "bpf/span_report.bpf.h"
#include "bpf/uprobe.bpf.h"

enum { ARCH_SIGRETURN = 15 };

struct span_stack {
	__u8 top, free; /* the newest open span, a free slot: index + 1; 0: none */
	__u8 used;      /* slots that were ever used */
	__u8 open;      /* that are not muted */
	__u8 mute;      /* the call that ends does not pass the tests */
	__u32 noroom;   /* calls that found no room since the outermost span began; their ends have no begin */
	__u32 tid, how; /* for spans that are being closed, */
	struct span_times now; /* and when */
	struct span_result res; /* of the span that ends; not on the stack: old kernels allow 512 bytes for all calls */
	struct span_slot slots[ER_SPAN_DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct span_stack);
} er_spans SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct er_span_site);
} er_span_sites SEC(".maps");

/* --- the list of open spans --- */

static __always_inline struct span_slot *slot_at(struct span_stack *s, __u32 i)
{
	return &s->slots[i & (ER_SPAN_DEPTH - 1)];
}

/* Take slot `i` (index + 1) out of the list; `above` is the next newer one, 0: none. */
static __always_inline void span_unlink(struct span_stack *s, __u32 i, __u32 above)
{
	struct span_slot *slot = slot_at(s, i - 1);

	if (above)
		slot_at(s, above - 1)->below = slot->below;
	else
		s->top = slot->below;
	slot->below = s->free;
	s->free = i;
}

static __always_inline void span_muted(__u32 name)
{
	struct er_span_sums *sums = span_sums(name);

	if (sums)
		span_add(&sums->muted, 1);
}

/* Close slot `i` (index + 1) by `how`, at the time s->now. True if it was still open. */
static __always_inline bool span_close(struct span_stack *s, __u32 i, __u32 above, __u32 tid, __u32 how)
{
	struct span_slot *slot = slot_at(s, i - 1);
	__u64 id = slot->id;
	bool open = id && __sync_val_compare_and_swap(&slot->id, id, 0) == id;

	if (id != SPAN_MUTED) {
		s->open--;
		if (open && s->mute && how == ER_SPAN_RETURNED)
			span_muted(slot->name);
		else if (open)
			er_span_report(slot, &s->now, id, tid, how);
	}
	span_unlink(s, i, above);
	return open;
}

/* True if the function at `sp` will return to a probe: it was jumped to by one that is probed. */
static __always_inline bool span_chained(struct task_struct *p, __u64 sp)
{
	struct returns r;
	__u64 ra;

	if (bpf_probe_read_user(&ra, sizeof(ra), (void *)sp))
		return false;
	returns_begin(&r, p, p->mm);
	return r.first && ra == r.trampoline;
}

/* --- walks over the open spans, newest first --- */

enum span_walk {
	WALK_BEGIN,      /* a span begins: close what this shows to have been left */
	WALK_END,        /* one ends: close it, and what this shows to have been left */
	WALK_ALL,        /* close all with s->how */
	WALK_NOT_CALLS,  /* the same, but leave system calls open */
};

/* Where a walk is, in one word: a step is a function that the verifier checks once. */
#define WALK_AT(i, above, found) ((i) | (above) << 8 | (__u32)(found) << 16)

static __always_inline bool left_at_begin(const struct span_slot *slot, const struct er_span_site *site,
					  __u64 sp)
{
	if (site->kind != ER_SPAN_FUNCTION)
		return slot->kind == site->kind && slot->name == site->name && slot->sp <= sp;
	if (slot->kind != ER_SPAN_FUNCTION || slot->sp > sp || (slot->switched && slot->sp < sp))
		return false;
	/* Another name of this call, or of one that was left: then that name's own begin closes it. */
	if (slot->sp == sp && slot->place == site->place && slot->name != site->name)
		return false;
	return slot->sp < sp || !span_chained(bpf_get_current_task_btf(), sp);
}

/* Whether the span in the slot is the one that ends at the site. */
static __always_inline bool ends_here(const struct span_slot *slot, const struct er_span_site *site,
				      __u64 sp)
{
	return slot->name == site->name && slot->kind == site->kind &&
	       (site->kind != ER_SPAN_FUNCTION || slot->sp + site->popped == sp);
}

static __always_inline bool left_at_end(const struct span_slot *slot, const struct er_span_site *site,
					__u64 sp)
{
	return site->kind == ER_SPAN_FUNCTION && slot->kind == ER_SPAN_FUNCTION && !slot->switched &&
	       slot->sp + site->popped < sp;
}

/* How to close the span in the slot; 0: not at all. */
static __always_inline __u32 walk_how(const struct span_stack *s, const struct span_slot *slot,
				      const struct er_span_site *site, __u64 sp, enum span_walk walk)
{
	switch (walk) {
	case WALK_BEGIN:
		return left_at_begin(slot, site, sp) ? ER_SPAN_LEFT : 0;
	case WALK_END:
		if (ends_here(slot, site, sp))
			return ER_SPAN_RETURNED;
		return left_at_end(slot, site, sp) ? ER_SPAN_LEFT : 0;
	case WALK_NOT_CALLS:
		return slot->kind == ER_SPAN_CALL ? 0 : s->how;
	default:
		return s->how;
	}
}

/* Slots that the end of a recording has closed are taken out of the list. */
__noinline __u32 er_span_step(struct span_stack *s, __u32 at, __u64 sp, __u32 key, __u32 walk)
{
	struct er_span_site *site = bpf_map_lookup_elem(&er_span_sites, &key);
	__u32 i = at & 0xff, above = at >> 8 & 0xff, below, how;
	struct span_slot *slot;
	bool closed;

	if (!s || !site)
		return 0;
	slot = slot_at(s, i - 1);
	below = slot->below;
	how = slot->id ? walk_how(s, slot, site, sp, walk) : ER_SPAN_OPEN_END;
	if (!how)
		return WALK_AT(below, i, false);
	closed = span_close(s, i, above, s->tid, how);
	return WALK_AT(below, above, closed && how == ER_SPAN_RETURNED);
}

/* True if the span that ends was found. s->now and s->tid are set. */
static __always_inline bool span_walk(struct span_stack *s, __u64 sp, __u32 key, enum span_walk walk)
{
	__u32 at = s->top;

	for (int n = 0; n < ER_SPAN_DEPTH && (at & 0xff) && !(at >> 16); n++)
		at = er_span_step(s, at, sp, key, walk);
	return at >> 16;
}

/* --- begin and end of the current thread's spans --- */

/* A free slot: index + 1; 0: there is none. */
static __always_inline __u32 span_take_slot(struct span_stack *s)
{
	__u32 i = s->free;

	if (i) {
		s->free = slot_at(s, i - 1)->below;
		return i;
	}
	if (s->used >= ER_SPAN_DEPTH)
		return 0;
	return ++s->used;
}

static __always_inline __u64 span_new_id(void)
{
	struct span_pace *pace = span_pace();

	if (!pace)
		return 0;
	return (__u64)(bpf_get_smp_processor_id() + 1) << 44 | __sync_fetch_and_add(&pace->ids, 1);
}

/* The id of the newest span that is not muted; 0: none. */
static __always_inline __u64 span_parent(struct span_stack *s)
{
	struct span_slot *top = slot_at(s, s->top - 1);

	if (!s->top)
		return 0;
	return top->id == SPAN_MUTED ? top->parent : top->id;
}

static __always_inline void span_no_room(__u32 name)
{
	struct er_span_sums *sums = span_sums(name);

	if (sums)
		span_add(&sums->noroom, 1);
}

static __always_inline bool span_records(const struct er_thread *t)
{
	return !er_stop_ns && !(t->state & THREAD_CLOSED) && t->where != WHERE_UNKNOWN;
}

/*
 * The recording ended while the span began, perhaps after the iterator had seen the thread. Who closes
 * it counts it.
 */
static __always_inline void span_too_late(struct span_slot *slot)
{
	struct er_span_sums *sums = span_sums(slot->name);
	__u64 id = slot->id;

	if (id && __sync_val_compare_and_swap(&slot->id, id, 0) == id && sums)
		span_add(&sums->unended, 1);
}

/*
 * True if a span has begun. Calls that do not pass the tests (`muted`) are open too, because their
 * ends must not end others. A thread that has storage for spans is wanted.
 */
static __always_inline bool span_begin(const struct er_span_site *site, __u32 key, __u64 sp, bool muted)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct span_stack *s = bpf_task_storage_get(&er_spans, p, 0, 0);
	struct span_slot *slot;
	struct er_thread *t;
	__u32 i;

	if ( er_stop_ns || (!s && !thread_wanted(p)))
		return false;
	t = thread_find(p);
	if (!t || !span_records(t))
		s = NULL;
	else if (!s)
		s = bpf_task_storage_get(&er_spans, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (s && !s->top)
		s->noroom = 0;
	if (s && t && s->top) {
		span_times(&s->now, p, t);
		s->tid = p->pid;
		span_walk(s, sp, key, WALK_BEGIN);
	}
	i = s ? span_take_slot(s) : 0;
	if (!i || !t) {
		if (s)
			s->noroom++;
		if (!muted)
			span_no_room(site->name);
		return false;
	}
	slot = slot_at(s, i - 1);
	slot->parent = span_parent(s);
	slot->sp = sp;
	slot->name = site->name;
	slot->place = site->place;
	slot->kind = site->kind;
	slot->switched = site->switched;
	slot->below = s->top;
	slot->ntext = 0;
	for (int j = 0; j < ER_SPAN_ARGS; j++)
		slot->args[j] = 0;
	s->top = i;
	if (muted) {
		slot->id = SPAN_MUTED;
		return false;
	}
	slot->depth = s->open++;
	span_times(&slot->at, p, t);
	slot->id = span_new_id();
	if (er_stop_ns)
		span_too_late(slot);
	return true;
}

/*
 * Keep an argument with the span: an integer, or the text that it points to. A text whose page is
 * not in memory is left out. The text of a system call is tried again at its end: the kernel has
 * read it by then.
 */
static __always_inline void span_keep(struct span_slot *slot, const struct er_place *at, const void *regs,
				      __u32 i)
{
	__u64 v = 0;
	long n;

	if (at->kind == ER_PLACE_NONE || !place_read(regs, at, &v))
		return;
	if (!at->is_string) {
		slot->args[i & (ER_SPAN_ARGS - 1)] = v;
		return;
	}
	if (slot->ntext)
		return;
	n = bpf_probe_read_user_str(slot->text, sizeof(slot->text), (void *)v);
	slot->ntext = n > 1 ? n - 1 : 0;
}

/* The newest span, which has just begun; or, at an end, the one that ends. NULL: there is none. */
static __always_inline struct span_slot *span_found(struct span_stack *s, const struct er_span_site *site,
						    __u64 sp, bool end)
{
	__u32 at = s->top;

	for (int n = 0; n < ER_SPAN_DEPTH && at; n++) {
		struct span_slot *slot = slot_at(s, at - 1);

		if (!end || ends_here(slot, site, sp))
			return slot;
		at = slot->below;
	}
	return NULL;
}

/* Read the arguments of a site into its span, before that is closed. */
static __always_inline void span_arguments(const void *regs, const struct er_span_site *site, __u64 sp,
					   bool end)
{
	struct span_stack *s;
	struct span_slot *slot;

	if (!site->kept)
		return;
	s = bpf_task_storage_get(&er_spans, bpf_get_current_task_btf(), 0, 0);
	slot = s ? span_found(s, site, sp, end) : NULL;
	if (!slot)
		return;
	for (int i = 0; i < ER_SPAN_ARGS; i++)
		if (site->kept & 1 << i)
			span_keep(slot, &site->places[i], regs, i);
}

/* Whether the arguments pass the tests of the site. One that cannot be read does not. */
static __always_inline bool span_passes(const void *regs, const struct er_span_site *site)
{
	for (__u32 i = 0; i < ER_PROBE_TESTS && i < site->ntests; i++) {
		const struct er_test *t = &site->tests[i];
		const struct er_place *p = &site->places[t->value & (ER_SPAN_ARGS - 1)];
		__u64 value;

		if (!place_read(regs, p, &value) || !test_passes(value, p->is_signed, t))
			return false;
	}
	return true;
}

/* Whether the instruction of an end leaves the function. */
static __always_inline bool span_leaves(const struct pt_regs *regs, const struct er_span_site *site)
{
	return place_leaves(regs, regs->ip, &site->jump, site->low, site->high);
}

/* The place that a program was called for. */
static __always_inline struct er_span_site *span_site(__u32 key)
{
	return bpf_map_lookup_elem(&er_span_sites, &key);
}

/*
 * A span that could have been open when the recording began had no begin. A mark may have none at any
 * time, by a mistake of its program; then t is NULL.
 */
static __always_inline void span_no_begin(struct task_struct *p, const struct er_thread *t, __u32 name)
{
	struct er_span_sums *sums = span_sums(name);

	if (sums && !er_stop_ns && thread_wanted(p) && !thread_is_copy(p) && !(t && t->total_flags & ER_TOTAL_BORN))
		span_add(&sums->nobegin, 1);
}

/* The times of the span in the slot, up to *now. False: the thread is not known. */
static __always_inline bool span_measure(struct span_stack *s, const struct span_slot *slot,
					 struct task_struct *p, __u64 *now)
{
	struct er_thread *t;

	if (span_stayed(&s->res, &slot->at, p, now))
		return true;
	t = thread_find(p);
	if (!t)
		return false;
	span_times(&s->now, p, t);
	span_difference(&s->res, &slot->at, &s->now);
	*now = s->now.now;
	return true;
}

/*
 * What most ends are: the newest span ends, and passes the tests. False: it was no such end, and nothing
 * has changed. The same as a walk, but without its calls.
 */
static __always_inline bool span_end_newest(struct er_cpu *c, struct task_struct *p, struct span_stack *s,
					    const struct er_span_site *site, __u64 sp)
{
	struct span_slot *slot = slot_at(s, s->top - 1);
	__u64 id = slot->id, now;

	if (!ends_here(slot, site, sp) || !id || id == SPAN_MUTED || !span_measure(s, slot, p, &now) ||
	    __sync_val_compare_and_swap(&slot->id, id, 0) != id)
		return false;
	s->open--;
	span_report(c, p, slot, now, &s->res, id, p->pid, ER_SPAN_RETURNED);
	span_unlink(s, s->top, 0);
	return true;
}

/* `muted`: the call does not pass the tests of its end. */
static __always_inline void span_end(struct er_cpu *c, const struct er_span_site *site, __u32 key, __u64 sp,
				     bool muted)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct span_stack *s = bpf_task_storage_get(&er_spans, p, 0, 0);
	struct er_thread *t;

	if (s && s->top && !muted && span_end_newest(c, p, s, site, sp))
		return;
	t = thread_find(p);
	if (s && t && s->top) {
		span_times(&s->now, p, t);
		s->tid = p->pid;
		s->mute = muted;
		if (span_walk(s, sp, key, WALK_END))
			return;
	}
	if (s && s->noroom)
		s->noroom--;
	else if (!site->quiet)
		span_no_begin(p, site->mark ? NULL : t, site->name);
}

/* Close all spans of the current thread, whose number was `tid`. */
static __always_inline void span_close_all(struct task_struct *p, __u32 tid, __u32 how, enum span_walk walk)
{
	struct span_stack *s = bpf_task_storage_get(&er_spans, p, 0, 0);
	struct er_thread *t = thread_find(p);

	if (!s || !t || !s->top)
		return;
	span_times(&s->now, p, t);
	s->tid = tid;
	s->how = how;
	span_walk(s, 0, 0, walk);
}

/* --- the end of the recording --- */

/* Copies, because the thread may close the span meanwhile. There is only one iterator at a time. */
struct span_last {
	struct span_slot slot;
	struct span_times now;
	struct er_span record;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct span_last);
} er_span_last_copy SEC(".maps");

/* Close a span of any thread, and write its record. Not a choice: there are few. */
static __always_inline void span_last_slot(struct seq_file *seq, struct er_cpu *c, struct task_struct *p,
					   struct span_slot *slot, struct span_last *l)
{
	struct er_span_sums *sums;
	struct span_result res;
	__u64 id;

	bpf_probe_read_kernel(&l->slot, sizeof(l->slot), slot);
	id = l->slot.id;
	if (!id || id == SPAN_MUTED || __sync_val_compare_and_swap(&slot->id, id, 0) != id)
		return;
	sums = span_sums(l->slot.name);
	if (!sums)
		return;
	span_difference(&res, &l->slot.at, &l->now);
	span_add(&sums->unended, 1);
	span_fill(&l->record, p, leader_start(p), p->pid, &l->slot, &res, l->now.now, id);
	span_text(&l->record, &l->slot);
	l->record.flags = ER_SPAN_OPEN_END;
	l->record.h.seq = er_number(c, ER_KIND_SPAN);
	if (last_write(seq, &l->record, sizeof(l->record)))
		return;
	span_add(&sums->lost, 1);
	er_lost(c, ER_KIND_SPAN, l->now.now, p->tgid, p->pid);
}

static __always_inline void span_last(struct seq_file *seq, struct task_struct *p)
{
	struct span_stack *s = bpf_task_storage_get(&er_spans, p, 0, 0);
	struct er_thread *t = thread_find(p);
	struct er_cpu *c = er_this_cpu();
	struct span_last *l;
	__u32 key = 0;

	l = bpf_map_lookup_elem(&er_span_last_copy, &key);
	if (!s || !t || !c || !l)
		return;
	span_times_other(&l->now, p, t);
	for (int i = 0; i < ER_SPAN_DEPTH; i++)
		span_last_slot(seq, c, p, slot_at(s, i), l);
}

#endif
