// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Heap tracing (-H) of a program that does not load er_heap.so: one that runs already, is linked
 * statically or set-user-id. er_heap_enter runs at the entry of each function that allocates or frees,
 * er_heap_leave at its return. They record what the library records (user/preload/heap_calls.c). They
 * are an object of their own, which is loaded only if such a program is traced.
 *
 * The link's cookie is the number of the site. The entry keeps the arguments with the thread, the return
 * has the address. A free is recorded at its entry: it has the time before the call, and an allocation
 * that after it, so the events of a block are in order.
 *
 * A call that a function of the heap makes by itself is not recorded, so a thread has one call in
 * progress at most. A later call is nested if its stack pointer is not above that of the call in
 * progress, whose return address on the stack is the kernel's trampoline. If it is not, the call was
 * left by longjmp or an exception: its return will never come, and the new call takes its place.
 *
 * operator new may throw, and an exception cannot pass a trampoline. So er_heap_end runs at each of its
 * instructions that return, and its return address stays as it is. Such a call is in progress as long as the
 * stack has that address. er_heap_enter also runs where exceptions begin; a call after that is not nested.
 *
 * Sampled, a block is chosen when its allocation returns (heap_sample.bpf.h).
 */
#include "bpf/vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/area.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/heap_sample.bpf.h"
#include "bpf/sample.bpf.h"

char LICENSE[] SEC("license") = "GPL";

enum {
	HEAP_EVENTS = 2, /* of one call: a realloc that moves the block frees the old one */
	HEAP_PAGE = 4096,
	HEAP_MAX_ERRNO = 4095,
};

struct heap_event {
	__u64 time_ns;   /* 0: that of the sample */
	__u64 size, address, old;
	__u32 kind, pad;
};

struct heap_thread {
	__u64 sp;        /* of the call in progress, at its entry */
	__u64 began, size;
	__u64 old;       /* realloc: the block. posix_memalign: where the address is stored */
	__u32 site;      /* + 1; 0: no call is in progress */
	__u32 nevents;   /* to be sent now */
	__u64 ra;        /* of a call whose ends are breakpoints, at its entry; 0: its return is probed */
	struct heap_distance distance;
	bool thrown;     /* an exception began inside the call */
	bool chosen;     /* realloc: the old block was */
	struct heap_event events[HEAP_EVENTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct heap_thread);
} er_heap_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct er_heap_site);
} er_heap_sites SEC(".maps");

/* By CPU id. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct er_heap_cpu);
} er_heap_cpus SEC(".maps");

const volatile bool er_heap_starts; /* the process is a copy of the recorder until it runs its program */
bool er_heap_on; /* false before the start and after the stop */

static __always_inline struct er_heap_cpu *this_heap_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&er_heap_cpus, &cpu);
}

static __always_inline const struct er_heap_site *heap_site(__u32 number)
{
	return bpf_map_lookup_elem(&er_heap_sites, &number);
}

static __always_inline __u64 trampoline_of(struct task_struct *p)
{
	return BPF_CORE_READ(p, mm, uprobes_state.xol_area, vaddr);
}

static __always_inline bool is_nested(struct task_struct *p, const struct heap_thread *t, __u64 sp)
{
	__u64 word = 0;

	if (!t->site || t->thrown || sp > t->sp || bpf_probe_read_user(&word, sizeof(word), (void *)t->sp))
		return false;
	return word == trampoline_of(p) || (t->ra && word == t->ra);
}

static __always_inline bool is_internal(const struct er_heap_site *site, const struct pt_regs *regs)
{
	__u64 ra = 0;
	__s64 at;

	if (site->low == site->high || bpf_probe_read_user(&ra, sizeof(ra), (void *)regs->sp))
		return false;
	at = ra - regs->ip;
	return at >= site->low && at < site->high;
}

static __always_inline void add_event(struct heap_thread *t, __u32 kind, __u64 address, __u64 size, __u64 old,
				      __u64 time_ns)
{
	struct heap_event *e = &t->events[t->nevents ? 1 : 0];

	e->kind = kind;
	e->address = address;
	e->size = size;
	e->old = old;
	e->time_ns = time_ns;
	t->nevents++;
}

/* --- what is known of a call --- */

/* The product as calloc takes it. No block has the largest size. */
static __always_inline __u64 product(__u64 a, __u64 b)
{
	__u64 most = a ? ~0ULL / a : ~0ULL;

	barrier_var(most); /* the compiler would multiply 128 bits, which BPF cannot */
	return b > most ? ~0ULL : a * b;
}

/* --- entries --- */

/* Keep the arguments of a call whose return decides. False: it is recorded now, or never. */
static __always_inline bool keep_arguments(struct heap_thread *t, const struct pt_regs *regs, __u32 call)
{
	t->old = 0;
	switch (call) {
	case ER_HEAP_MALLOC:
		t->size = regs->di;
		return true;
	case ER_HEAP_CALLOC:
		t->size = product(regs->di, regs->si);
		return true;
	case ER_HEAP_ALIGNED:
	case ER_HEAP_MMAP:
		t->size = regs->si;
		return true;
	case ER_HEAP_POSIX:
		t->size = regs->dx;
		break;
	case ER_HEAP_REALLOC:
		t->size = regs->si;
		break;
	case ER_HEAP_REALLOCARRAY:
		t->size = product(regs->si, regs->dx);
		break;
	default:
		return false;
	}
	t->old = regs->di;
	t->chosen = er_heap_mean && (call == ER_HEAP_REALLOC || call == ER_HEAP_REALLOCARRAY) && t->old &&
		    heap_forget(t->old);
	return true;
}

static __always_inline void enter(struct heap_thread *t, const struct pt_regs *regs,
				  const struct er_heap_site *site, __u32 number)
{
	bool kept = keep_arguments(t, regs, site->call);

	t->sp = regs->sp;
	t->site = site->returns || site->ends ? number + 1 : 0;
	t->thrown = false;
	t->ra = 0;
	if (site->ends && bpf_probe_read_user(&t->ra, sizeof(t->ra), (void *)regs->sp))
		t->site = 0;
	t->began = bpf_ktime_get_ns();
	if (kept)
		return;
	if (site->call == ER_HEAP_FREE && regs->di && heap_forget(regs->di))
		add_event(t, ER_HEAP_IS_FREE, regs->di, 0, 0, 0);
	else if (site->call == ER_HEAP_MUNMAP && regs->si && !(regs->di & (HEAP_PAGE - 1)))
		add_event(t, ER_HEAP_IS_MUNMAP, regs->di, regs->si, 0, 0);
}

/* Without storage the call is not known. */
static __always_inline void count_lost(struct task_struct *p)
{
	struct er_cpu *c = er_this_cpu();

	if (!c)
		return;
	er_number(c, ER_KIND_HEAP);
	er_lost(c, ER_KIND_HEAP, bpf_ktime_get_ns(), p->tgid, p->pid);
}

/* The flag is that of a new thread, too, so the first one of its process tells. */
static __always_inline bool is_recorders(struct task_struct *p)
{
	return er_heap_starts && BPF_CORE_READ(p, group_leader, flags) & TASK_PF_FORKNOEXEC;
}

/*
 * Whether there are events to be sent. This, take_return and send_events are functions of their own, and
 * the thread's storage has their results, so that the caller has little on its stack during the walk:
 * kernels before 6.10 allow 512 bytes for all of them.
 */
static __noinline bool take_entry(struct pt_regs *regs)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u32 number = bpf_get_attach_cookie(regs);
	const struct er_heap_site *site = heap_site(number);
	struct heap_thread *t;

	if (!site || !thread_wanted(p) || is_recorders(p))
		return false;
	t = bpf_task_storage_get(&er_heap_threads, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		count_lost(p);
		return false;
	}
	if (site->call == ER_HEAP_THROW) {
		t->thrown = t->ra;
		return false;
	}
	if (is_nested(p, t, regs->sp) || is_internal(site, regs))
		return false;
	t->nevents = 0;
	enter(t, regs, site, number);
	return t->nevents;
}

/* --- returns --- */

/* An allocation of t->size bytes, unless it is not sampled. */
static __always_inline void allocated(struct heap_thread *t, __u32 kind, __u64 address, __u64 old)
{
	if (er_heap_mean) {
		if (!heap_chosen(&t->distance, t->size))
			return;
		if (!heap_keep(address)) {
			count_lost(bpf_get_current_task_btf());
			return;
		}
	}
	add_event(t, kind, address, t->size, old, 0);
}

static __always_inline void reallocated(struct heap_thread *t, __u64 address)
{
	bool same = address && address == t->old && !er_heap_mean;

	if (!address && t->size) { /* it has failed: the block is as before */
		if (t->chosen)
			heap_keep(t->old);
		return;
	}
	if (t->old && !same && (!er_heap_mean || t->chosen))
		add_event(t, ER_HEAP_IS_FREE, t->old, 0, 0, t->began);
	if (address)
		allocated(t, ER_HEAP_IS_REALLOC, address, same ? address : 0);
}

static __always_inline void returned(struct heap_thread *t, __u64 value, __u32 call)
{
	__u64 address = value;

	switch (call) {
	case ER_HEAP_FREE:
	case ER_HEAP_MUNMAP:
	case ER_HEAP_THROW:
		return;
	case ER_HEAP_REALLOC:
	case ER_HEAP_REALLOCARRAY:
		reallocated(t, value);
		return;
	case ER_HEAP_MMAP:
		if (value < -(__u64)HEAP_MAX_ERRNO)
			add_event(t, ER_HEAP_IS_MMAP, value, t->size, 0, 0);
		return;
	case ER_HEAP_POSIX:
		if ((__u32)value || bpf_probe_read_user(&address, sizeof(address), (void *)t->old))
			return;
		break;
	}
	if (address)
		allocated(t, ER_HEAP_IS_MALLOC, address, 0);
}

/* What the call did, if it is the one in progress: `sp` is its stack pointer at the entry. */
static __always_inline bool take_result(struct heap_thread *t, const struct pt_regs *regs, __u64 sp)
{
	const struct er_heap_site *site = heap_site(t->site - 1);

	if (!site || sp != t->sp)
		return false;
	t->site = 0;
	t->nevents = 0;
	returned(t, regs->ax, site->call);
	return t->nevents;
}

static __noinline bool take_return(struct pt_regs *regs)
{
	struct heap_thread *t = bpf_task_storage_get(&er_heap_threads, bpf_get_current_task_btf(), 0, 0);
	__u32 number = bpf_get_attach_cookie(regs);

	return t && t->site == number + 1 && take_result(t, regs, regs->sp - sizeof(__u64));
}

/* At an instruction that returns, perhaps from a function that the call has only jumped to. */
static __noinline bool take_end(struct pt_regs *regs)
{
	struct heap_thread *t = bpf_task_storage_get(&er_heap_threads, bpf_get_current_task_btf(), 0, 0);

	return t && t->site && t->ra && take_result(t, regs, regs->sp);
}

/* --- sending --- */

static __noinline int claim_area(void)
{
	struct er_heap_cpu *hc = this_heap_cpu();

	return hc ? area_claim(&hc->busy) : -1;
}

static __always_inline void release_area(int area)
{
	struct er_heap_cpu *hc = this_heap_cpu();

	if (hc)
		area_release(&hc->busy, area);
}

static __always_inline void send_event(const struct sample *sm, const struct heap_event *e, __u64 stack)
{
	__u32 seq = er_number(sm->cpu, ER_KIND_HEAP);
	struct er_heap *r = sm->ring ? bpf_ringbuf_reserve(sm->ring, sizeof(*r), 0) : NULL;

	if (!r) {
		er_lost(sm->cpu, ER_KIND_HEAP, sm->now, sm->tgid, sm->tid);
		return;
	}
	sample_fill(&r->at, sm, ER_KIND_HEAP, seq, stack, 1);
	if (e->time_ns)
		r->at.h.time_ns = e->time_ns;
	r->size = e->size;
	r->address = e->address;
	r->old = e->old;
	r->kind = e->kind;
	r->pad = 0;
	bpf_ringbuf_submit(r, er_wakeup(sm->ring));
}

static __noinline int send_events(const struct sample *sm, __u64 stack)
{
	struct heap_thread *t = bpf_task_storage_get(&er_heap_threads, bpf_get_current_task_btf(), 0, 0);

	for (__u32 i = 0; t && i < HEAP_EVENTS && i < t->nevents; i++)
		send_event(sm, &t->events[i], stack);
	return 0;
}

/*
 * Only user frames. At a return the pc is where the caller goes on, as in a system call: then the leaf
 * is the caller. At an end the walk begins with it. At an entry the leaf is the function itself.
 */
enum where { AT_ENTRY, AT_RETURN, AT_END };

static __always_inline __u64 user_stack(void *ctx, struct sample *sm, int area, enum where where)
{
	union stack_scratch *st = stack_begin(sm, area);
	__u32 n;

	if (!st)
		return 0;
	if (where == AT_END)
		st->s.flags |= ER_STACK_RETURNS;
	n = walk_user(ctx, st, 0, sm, area, false);
	if (where == AT_RETURN || (where == AT_END && !(st->s.flags & ER_STACK_RAW)))
		st->s.flags &= ~(ER_STACK_USER_EXACT | ER_STACK_RETURNS);
	return stack_finish(st, sm, 0, n, NULL);
}

static __always_inline void send(struct pt_regs *regs, struct er_cpu *c, enum where where)
{
	struct sample sm;
	__u64 stack = 0;
	int area;

	gather(&sm);
	sm.cpu = c;
	sm.ring = er_this_ring();
	sm.flags = ER_CLOCK_USER;
	area = claim_area();
	if (area >= 0) {
		stack = user_stack(regs, &sm, area, where);
		release_area(area);
	} else {
		sm.ring = NULL;
	}
	send_events(&sm, stack);
}

SEC("uprobe")
int er_heap_enter(struct pt_regs *regs)
{
	struct er_cpu *c = er_this_cpu();
	__u64 began;

	if (!c || !er_heap_on)
		return 0;
	began = cost_begin(c, ER_PROG_HEAP);
	if (take_entry(regs))
		send(regs, c, AT_ENTRY);
	cost_end(c, ER_PROG_HEAP, began);
	return 0;
}

SEC("uprobe")
int er_heap_leave(struct pt_regs *regs)
{
	struct er_cpu *c = er_this_cpu();
	__u64 began;

	if (!c || !er_heap_on)
		return 0;
	began = cost_begin(c, ER_PROG_HEAP);
	if (take_return(regs))
		send(regs, c, AT_RETURN);
	cost_end(c, ER_PROG_HEAP, began);
	return 0;
}

SEC("uprobe")
int er_heap_end(struct pt_regs *regs)
{
	struct er_cpu *c = er_this_cpu();
	__u64 began;

	if (!c || !er_heap_on)
		return 0;
	began = cost_begin(c, ER_PROG_HEAP);
	if (take_end(regs))
		send(regs, c, AT_END);
	cost_end(c, ER_PROG_HEAP, began);
	return 0;
}
