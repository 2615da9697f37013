/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a thread's user registers on x86-64. Another architecture needs its own version of this
 * file.
 */
#ifndef ARCH_BPF_H
#define ARCH_BPF_H

#include "bpf/unwind.h"

enum {
	ARCH_USER_CS = 0x33,
	ARCH_USER32_CS = 0x23,
	ARCH_STACK_SIZE = 16384, /* of a thread's kernel stack */
};

static __always_inline struct pt_regs *arch_user_regs(struct task_struct *p)
{
	return (struct pt_regs *)bpf_task_pt_regs(p);
}

/*
 * The number of the thread's system call; below 0 if an exception or an interrupt entered the
 * kernel.
 */
static __always_inline long arch_syscall(const struct pt_regs *regs)
{
	return regs->orig_ax;
}

static __always_inline bool arch_is_32bit(const struct pt_regs *regs)
{
	return regs->cs == ARCH_USER32_CS;
}

/* The address of the current thread's own block (TLS), which pthread_self() returns. */
static __always_inline __u64 arch_thread_block(struct task_struct *p)
{
	return BPF_CORE_READ(p, thread.fsbase);
}

/* Numbers of futex(address, op, val) for 64-bit and 32-bit programs. */
struct futex_args {
	__u64 address;
	__u32 op, val;
};

static __always_inline bool arch_futex(const struct pt_regs *regs, struct futex_args *a)
{
	enum { FUTEX = 202, WAITV = 449, WAIT = 455, FUTEX_32 = 240, TIME64_32 = 422 };
	long nr = regs->orig_ax;

	if (arch_is_32bit(regs)) {
		*a = (struct futex_args){ (__u32)regs->bx, regs->cx, regs->dx };
		return nr == FUTEX_32 || nr == TIME64_32 || nr == WAITV || nr == WAIT;
	}
	*a = (struct futex_args){ regs->di, regs->si, regs->dx };
	if (nr == WAITV || nr == WAIT) /* op and val are elsewhere, or there are several */
		a->op = a->val = 0;
	return nr == FUTEX || nr == WAITV || nr == WAIT;
}

/* Registers by DWARF number. */
static __always_inline void copy_regs(__u64 *to, const struct pt_regs *regs)
{
	const __u64 by_number[ER_DWARF_COUNT] = {
		regs->ax, regs->dx, regs->cx, regs->bx, regs->si, regs->di, regs->bp, regs->sp, regs->r8,
		regs->r9, regs->r10, regs->r11, regs->r12, regs->r13, regs->r14, regs->r15, regs->ip,
	};

	for (int i = 0; i < ER_DWARF_COUNT; i++)
		to[i] = by_number[i];
}

#endif
