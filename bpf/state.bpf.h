/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the microstate of a thread that blocks, when it leaves the CPU: from the scheduler's state,
 * then from how the thread entered the kernel.
 *
 * Outside a system call (orig_ax below 0) the thread entered by a fault from user mode: other
 * exceptions do not block, and stops and exit are checked first. If the user instruction cannot be
 * read, the fault was an instruction fetch. The tracepoint page_fault_user also knows the address,
 * but it costs 60 ns or more at each of perhaps a million minor faults. It is used only if waits
 * are traced, which costs more anyway.
 *
 * A fault from kernel mode happens in a system call that touches user memory. The tracepoint
 * page_fault_kernel sees it; it fires rarely. It notes the thread's number of faults, which the
 * kernel raises when a fault is done. While the number is the same, the thread is in that fault.
 */
#ifndef STATE_BPF_H
#define STATE_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/thread.bpf.h"

enum {
	TASK_UNINTERRUPTIBLE = 0x0002,
	TASK_STOPPED_BITS = 0x0004 | 0x0008, /* stopped, traced */
	TASK_DEAD_STATE = 0x0080,
	TASK_NOLOAD = 0x0400,
	TASK_FROZEN = 0x8000, /* 6.1 */
	JOBCTL_TRAP_FREEZE = 1 << 23,
};

/* linux/futex.h */
enum {
	FUTEX_CMD_MASK = 0x7f,
	FUTEX_WAIT = 0,
	FUTEX_LOCK_PI = 6,
	FUTEX_WAIT_BITSET = 9,
	FUTEX_LOCK_PI2 = 13,
	FUTEX_TID_MASK = 0x3fffffff,
};
#define FUTEX_WAITERS 0x80000000u

/* A pthread_mutex_t of glibc, 64 and 32 bits alike up to `owner`. */
struct pthread_mutex {
	__u32 lock, count, owner, nusers, kind;
};

enum {
	MUTEX_CONTENDED = 2,   /* value of the lock word */
	MUTEX_KINDS = 1 << 9,  /* types, robust, PI, protocol and elision use the lower bits */
	MAX_TID = 4 << 20,
};

static __always_inline __u32 task_faults(struct task_struct *p)
{
	return p->maj_flt + p->min_flt;
}

/* The holder of the lock for which the running thread waits, read from its memory; 0: unknown. */
static __always_inline __u32 futex_holder(const struct futex_args *a)
{
	__u32 cmd = a->op & FUTEX_CMD_MASK, word;
	struct pthread_mutex m;

	if (cmd == FUTEX_LOCK_PI || cmd == FUTEX_LOCK_PI2) {
		if (bpf_probe_read_user(&word, sizeof(word), (void *)a->address))
			return 0;
		return word & FUTEX_TID_MASK;
	}
	if (cmd != FUTEX_WAIT && cmd != FUTEX_WAIT_BITSET)
		return 0;
	if (a->val & FUTEX_WAITERS) { /* a robust mutex, or a parked thread's -1 */
		word = a->val & FUTEX_TID_MASK;
		return word < MAX_TID ? word : 0;
	}
	if (a->val != MUTEX_CONTENDED ||
	    bpf_probe_read_user(&m, sizeof(m), (void *)a->address))
		return 0;
	if (m.lock != MUTEX_CONTENDED || m.kind >= MUTEX_KINDS || m.owner >= MAX_TID || !m.nusers)
		return 0; /* another kind of lock with such a word */
	return m.owner;
}

/* True if the user instruction cannot be read: its page has caused the fault. */
static __always_inline bool fault_is_text(const struct pt_regs *regs)
{
	char c;

	return bpf_probe_read_user(&c, sizeof(c), (void *)regs->ip);
}

/* -1: none. */
static __always_inline __s32 task_syscall(struct task_struct *p)
{
	long nr;

	if (p->flags & (TASK_PF_KTHREAD | TASK_PF_IO_WORKER))
		return -1;
	nr = arch_syscall(arch_user_regs(p));
	return nr < 0 ? -1 : nr;
}

static __always_inline bool task_in_iowait(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, in_iowait);
}

/* `current`: the thread is the current one, so its memory can be read. */
static __always_inline enum er_off_state blocked_state(struct er_thread *t, struct task_struct *p,
						       bool current)
{
	struct futex_args futex;
	struct pt_regs *regs;
	long nr;

	if (p->flags & (TASK_PF_KTHREAD | TASK_PF_IO_WORKER | TASK_PF_EXITING))
		return ER_OFF_SLEEP;
	regs = arch_user_regs(p);
	nr = arch_syscall(regs);
	if (nr < 0) {
		t->address = t->touched;
		if (!current || !fault_is_text(regs))
			return ER_OFF_DFAULT;
		t->address = regs->ip;
		return ER_OFF_TFAULT;
	}
	t->syscall = nr;
	if (arch_futex(regs, &futex)) {
		t->address = futex.address;
		t->futex_op = futex.op;
		t->holder = current ? futex_holder(&futex) : 0;
		return ER_OFF_LOCK;
	}
	if (t->kfault != task_faults(p) + 1)
		return ER_OFF_SLEEP;
	t->address = t->touched;
	return ER_OFF_KFAULT;
}

/* The state that `p` enters; `st` is the scheduler's state and is not 0. */
static __always_inline enum er_off_state off_state(struct er_thread *t, struct task_struct *p,
						   __u32 st, bool current)
{
	t->syscall = -1;
	if (p->flags & TASK_PF_EXITING)
		t->wflags |= ER_WAIT_EXITING;
	if (st & TASK_UNINTERRUPTIBLE && !(st & TASK_NOLOAD))
		t->wflags |= ER_WAIT_KILLABLE;
	if (st & TASK_FROZEN || p->jobctl & JOBCTL_TRAP_FREEZE) {
		t->wflags |= ER_WAIT_FROZEN;
		return ER_OFF_STOP;
	}
	if (st & TASK_STOPPED_BITS)
		return ER_OFF_STOP;
	return blocked_state(t, p, current);
}

#endif
