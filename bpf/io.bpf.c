// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * I/O tracing (-i): each system call of io_calls.bpf.h that returns is sent with its thread, its
 * user stack, its descriptor, bytes and times. These programs are an object of their own, which is
 * loaded only if I/O is traced.
 *
 * A file's name is sent when a call gives it a descriptor. er_io_files has the file of each
 * descriptor whose name was sent, so the first use of another file sends a name, too: of a file that
 * was open before the recording, inherited, or received.
 *
 * Signals. A call that a signal interrupts returns an internal error. The kernel then makes it
 * again, or lets it return EINTR. The program makes one call in both cases. So the call is kept
 * until one of them is seen: the same call at the same place of the stack, or the end of the signal
 * handler with EINTR as the result. A call of which neither is seen, because the handler jumped
 * away, is not sent; it counts as one in progress.
 *
 * Tracepoints of system calls run with preemption off, so a CPU needs one area for stacks and
 * records.
 */
#include "bpf/vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/cost.bpf.h"
#include "bpf/file.bpf.h"
#include "bpf/io_calls.bpf.h"
#include "bpf/io_own.bpf.h"
#include "bpf/sample.bpf.h"

char LICENSE[] SEC("license") = "GPL";

enum {
	IO_FILES = 16384,
	IO_EINTR = 4,
	IO_MAX_ERRNO = 4095,
	IO_DUPFD = 0,
	IO_DUPFD_CLOEXEC = 1030,
};

/* A thread's call in progress, and one that a signal interrupted. */
struct io_thread {
	__u64 began;     /* 0: none */
	__u64 interrupted; /* when that one began; 0: none */
	__u64 returned;  /* with an internal error */
	__u64 ip, sp;
	__s64 nr;
	__u64 since;     /* er_io_since at the thread's last entry or return */
	struct io_own own;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct io_thread);
} er_io_threads SEC(".maps");

struct io_file_key {
	__u64 files; /* the table of descriptors, which threads share */
	__u32 tgid;
	__s32 fd;
};

/*
 * A new file can get the address of an earlier one, but hardly with the same inode. A new program of
 * the process, or a new segment of the recording, does not know the names that were sent before.
 */
struct io_file {
	__u64 file, inode, exec_id, sent;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, IO_FILES);
	__type(key, struct io_file_key);
	__type(value, struct io_file);
} er_io_files SEC(".maps");

/* By CPU id. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct er_io_cpu);
} er_io_cpus SEC(".maps");

/* A call as it returned. */
struct io_return {
	__u64 began, returned;
	__s64 ret;
	__s64 nr;
};

struct io_area {
	struct io_return ret;
	struct er_io r;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct io_area);
} er_io_areas SEC(".maps");

bool er_io_on;     /* false before the start, in pauses, and after the stop */
__u64 er_io_since; /* when it became true */

static __always_inline struct er_io_cpu *this_io_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&er_io_cpus, &cpu);
}

static __always_inline struct io_area *this_area(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&er_io_areas, &zero);
}

/* --- entries --- */

static __always_inline bool is_again(const struct io_thread *t, const struct pt_regs *regs, long nr)
{
	return t->interrupted && t->nr == nr && t->ip == regs->ip && t->sp == regs->sp;
}

static __always_inline void enter(struct task_struct *p, const struct pt_regs *regs, long nr,
				  struct er_cpu *c)
{
	struct io_thread *t = bpf_task_storage_get(&er_io_threads, p, 0,
						   BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct er_io_cpu *ic = this_io_cpu();

	if (!t || !ic) {
		__sync_fetch_and_add(&c->counts.no_storage, 1);
		return;
	}
	t->since = er_io_since;
	if (io_uses_own(&t->own, regs, nr))
		return;
	if (is_again(t, regs, nr)) {
		t->began = t->interrupted;
		t->interrupted = 0;
		return;
	}
	t->began = bpf_ktime_get_ns();
	ic->entered++;
}

SEC("raw_tp/sys_enter")
int BPF_PROG(er_io_enter, struct pt_regs *unused, long nr)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const struct pt_regs *regs = arch_user_regs(p);
	struct er_cpu *c = er_this_cpu();
	struct er_io_cpu *ic;
	__u64 began;

	if (!c || !er_io_on)
		return 0;
	if (arch_is_32bit(regs)) {
		ic = this_io_cpu();
		if (ic && thread_wanted(p))
			ic->foreign++;
		return 0;
	}
	if (!io_call_of(nr))
		return 0;
	began = cost_begin(c, ER_PROG_IO);
	if (thread_wanted(p) && !thread_is_copy(p) && !io_is_marked(regs))
		enter(p, regs, nr, c);
	cost_end(c, ER_PROG_IO, began);
	return 0;
}

/* --- returns --- */

/*
 * The time when a call began whose entry was not seen: before the recording, or in a pause. If the
 * thread has made calls since, it was not entered, because a filter (seccomp) refused it.
 */
static __always_inline __u64 unseen_begin(struct task_struct *p, const struct io_thread *t, __u64 now)
{
	bool refused = p->start_time >= er_io_since || (t && t->since == er_io_since);

	return refused ? now : er_io_since;
}

/* Whether the call that returns is the recorder's own (io_own.bpf.h). */
static __always_inline bool is_own(struct io_thread *t, const struct pt_regs *regs, long nr, __s64 ret)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct io_area *area = this_area();

	if (!er_io_nlibraries)
		return false;
	return io_is_marked(regs) || (t && area && nr >= 0 &&
				      io_own_returns(&t->own, regs, nr, ret, p->self_exec_id, area->r.name));
}

/* The end of the call in progress. Returns when it began; 0: its entry was not seen. */
static __always_inline __u64 end_call(struct io_thread *t)
{
	struct er_io_cpu *ic = this_io_cpu();
	__u64 began = t ? t->began : 0;

	if (!began || !ic)
		return 0;
	t->began = 0;
	ic->returned++;
	return began < er_io_since ? er_io_since : began;
}

/* The end of a signal handler: whether the call that it interrupted fails now. */
static __always_inline bool interrupted_fails(struct io_thread *t, const struct pt_regs *regs,
					      struct io_return *r)
{
	struct er_io_cpu *ic = this_io_cpu();

	if (!t || !ic || !t->interrupted || t->ip != regs->ip || t->sp != regs->sp ||
	    (__s64)regs->ax != -IO_EINTR)
		return false;
	r->began = t->interrupted;
	r->returned = t->returned;
	r->ret = -IO_EINTR;
	r->nr = t->nr;
	t->interrupted = 0;
	ic->returned++;
	return er_io_on;
}

/* Keep the call until the kernel makes it again or lets it fail. It is still in progress. */
static __always_inline void keep_interrupted(struct io_thread *t, const struct pt_regs *regs, long nr,
					     const struct io_return *r)
{
	t->interrupted = t->began;
	t->began = 0;
	t->returned = r->returned;
	t->ip = regs->ip;
	t->sp = regs->sp;
	t->nr = nr;
}

/*
 * Fill in what returned just now. False: nothing that is to be sent. A return from a signal handler
 * has lost its number.
 */
static __always_inline bool returned(struct task_struct *p, const struct pt_regs *regs, __s64 ret,
				     struct io_return *r)
{
	struct io_thread *t = bpf_task_storage_get(&er_io_threads, p, 0, 0);
	long nr = arch_syscall(regs);

	if (is_own(t, regs, nr, ret)) {
		end_call(t);
		return false;
	}
	r->returned = bpf_ktime_get_ns();
	if (nr < 0)
		return interrupted_fails(t, regs, r);
	if (io_was_interrupted(ret) && t && t->began) {
		keep_interrupted(t, regs, nr, r);
		return false;
	}
	r->began = end_call(t);
	if (!r->began)
		r->began = unseen_begin(p, t, r->returned);
	if (t)
		t->since = er_io_since;
	r->ret = ret;
	r->nr = nr;
	return er_io_on;
}

static __always_inline __s32 first_of_pair(const struct pt_regs *regs, __u32 arg)
{
	__s32 fd = -1;

	bpf_probe_read_user(&fd, sizeof(fd), (void *)io_argument(regs, arg));
	return fd;
}

/* The descriptor of the call, and the one that it copied. */
static __always_inline void fill_descriptor(struct er_io *r, const struct io_call *call,
					    const struct pt_regs *regs, __s64 ret, bool failed)
{
	r->fd = -1;
	r->from = 0;
	switch (call->how) {
	case IO_USES:
		if (call->fd != IO_NO_FD)
			r->fd = io_argument(regs, call->fd);
		return;
	case IO_COPIES:
	case IO_FCNTL:
		r->from = regs->di;
		break;
	case IO_PAIR:
		if (!failed)
			r->fd = first_of_pair(regs, call->fd);
		return;
	}
	if (!failed)
		r->fd = ret;
}

static __always_inline void given_name(struct er_io *r, const struct io_call *call,
				       const struct pt_regs *regs)
{
	long got;

	if (!call->path)
		return;
	got = bpf_probe_read_user_str(r->name, ER_IO_NAME_BYTES, (void *)io_argument(regs, call->path - 1));
	if (got <= 0)
		return;
	r->name_kind = ER_IO_NAME_GIVEN;
	r->nname = got;
}

static __always_inline bool is_same(const struct io_file *a, const struct io_file *b)
{
	return a->file == b->file && a->inode == b->inode && a->exec_id == b->exec_id &&
	       a->sent == b->sent;
}

/* Fill in the name of the descriptor's file, unless it was sent before. Returns whether it did. */
static __always_inline bool new_name(struct task_struct *p, struct er_io *r, struct io_file_key *key,
				     struct io_file *file)
{
	struct file *f = file_of(p, r->fd);
	const struct io_file *known;

	if (!f)
		return false;
	key->files = (__u64)BPF_CORE_READ(p, files);
	key->tgid = p->tgid;
	key->fd = r->fd;
	file->file = (__u64)f;
	file->inode = BPF_CORE_READ(f, f_inode, i_ino);
	file->exec_id = p->self_exec_id;
	file->sent = er_seen_key;
	known = bpf_map_lookup_elem(&er_io_files, key);
	if (r->type != ER_IO_OPEN && known && is_same(known, file))
		return false;
	file_name(r, f);
	return r->nname;
}

static __always_inline bool send(struct er_io *r, struct er_cpu *c, void *ring)
{
	__u32 n = r->nname, size;

	barrier_var(n);
	if (n > sizeof(r->name))
		n = 0;
	size = __builtin_offsetof(struct er_io, name) + n;
	return ring && !bpf_ringbuf_output(ring, r, size, er_wakeup(ring));
}

/* Fill in the record and send it. A name that is lost is sent again. */
static __noinline int send_call(const struct sample *sm, __u64 stack)
{
	const struct pt_regs *regs = arch_user_regs(bpf_get_current_task_btf());
	struct io_area *area = this_area();
	const struct io_return *ret = &area->ret;
	const struct io_call *call;
	struct er_io *r = &area->r;
	struct io_file_key key;
	struct io_file file;
	bool failed, named = false;

	if (!area)
		return 0;
	call = io_call_of(ret->nr);
	if (!call)
		return 0;
	failed = ret->ret < 0 && ret->ret >= -IO_MAX_ERRNO;
	sample_fill(&r->at, sm, ER_KIND_IO, er_number(sm->cpu, ER_KIND_IO), stack, 1);
	r->at.h.time_ns = ret->returned;
	r->began_ns = ret->began;
	r->type = call->type;
	r->bytes = call->type <= ER_IO_WRITE && !failed ? ret->ret : 0;
	r->fs = r->name_kind = r->nname = 0;
	fill_descriptor(r, call, regs, ret->ret, failed);
	if (failed)
		given_name(r, call, regs);
	else if (r->type <= ER_IO_OPEN)
		named = new_name(bpf_get_current_task_btf(), r, &key, &file);
	if (failed)
		r->type += ER_IO_TYPES;
	if (!send(r, sm->cpu, sm->ring))
		er_lost(sm->cpu, ER_KIND_IO, sm->now, sm->tgid, sm->tid);
	else if (named)
		bpf_map_update_elem(&er_io_files, &key, &file, BPF_ANY);
	return 0;
}

/* Only user frames: the kernel's are always those of the tracepoint. */
static __always_inline __u64 user_stack(void *ctx, struct sample *sm)
{
	union stack_scratch *st = stack_begin(sm, SCRATCH_CLOCK);

	return st ? stack_finish(st, sm, 0, walk_user(ctx, st, 0, sm, SCRATCH_CLOCK, false), NULL) : 0;
}

static __always_inline bool does_io(const struct pt_regs *regs, long nr)
{
	const struct io_call *call = io_call_of(nr);
	__u32 op = regs->si;

	if (!call)
		return false;
	return call->how != IO_FCNTL || op == IO_DUPFD || op == IO_DUPFD_CLOEXEC;
}

/*
 * Whether a call has returned that is to be sent. This and send_call are functions of their own, and
 * the area has their results, so that the caller has little on its stack during the walk: kernels
 * before 6.10 allow 512 bytes for all of them.
 */
static __noinline bool take_return(__s64 ret)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const struct pt_regs *regs = arch_user_regs(p);
	struct io_area *area = this_area();

	return area && thread_wanted(p) && !thread_is_copy(p) && returned(p, regs, ret, &area->ret) &&
	       does_io(regs, area->ret.nr);
}

static __always_inline void leave(void *ctx, struct er_cpu *c, __s64 ret)
{
	struct sample sm;
	__u64 stack;

	if (!take_return(ret))
		return;
	gather(&sm);
	sm.cpu = c;
	sm.ring = er_this_ring();
	sm.flags = 0; /* the user pc is a return address: walk_user */
	stack = user_stack(ctx, &sm);
	sm.flags = ER_CLOCK_USER;
	send_call(&sm, stack);
}

SEC("raw_tp/sys_exit")
int BPF_PROG(er_io_leave, struct pt_regs *unused, long ret)
{
	const struct pt_regs *regs = arch_user_regs(bpf_get_current_task_btf());
	struct er_cpu *c = er_this_cpu();
	long nr = arch_syscall(regs);
	__u64 began;

	if (!c || arch_is_32bit(regs) || (nr >= 0 && !io_call_of(nr)))
		return 0;
	began = cost_begin(c, ER_PROG_IO);
	leave(ctx, c, ret);
	cost_end(c, ER_PROG_IO, began);
	return 0;
}
