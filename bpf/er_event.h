/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ring contract: every record that BPF may send to user space. Compiles on
 * both sides. Kinds and fields are only ever appended; sizes are asserted.
 *
 * Each CPU has a ring. Each record carries the number of its kind on its CPU,
 * counted from 0 whether or not the ring had room: a number that never comes is
 * a loss, and recorded + lost = produced. A record made by an interrupt while
 * another was being made may overtake it: go by the set of numbers, and by
 * struct er_counts at the end, not by neighbours.
 *
 * Rings are not merged: a sample may come before the definition of its stack,
 * which another CPU sent, and a definition may come more than once.
 */
#ifndef ER_EVENT_H
#define ER_EVENT_H

enum er_kind {
	ER_KIND_STACK,    /* struct er_stack: a stack not sent before */
	ER_KIND_CLOCK,    /* struct er_clock: a clock sample */
	ER_KIND_RESIDUAL, /* struct er_clock: CPU time of a thread since its last sample, */
			  /* sent when the thread or the recording ends; numbered and */
			  /* counted (produced, lost) with CLOCK */
	ER_KIND_COUNT
};

enum { ER_MAX_FRAMES = 127 }; /* the kernel's own limit, perf_event_max_stack */

struct er_header {
	__u32 kind;
	__u32 seq;
	__u64 time_ns; /* CLOCK_MONOTONIC */
};

enum er_stack_flags {
	ER_STACK_KERNEL_TRUNCATED = 1 << 0,
	ER_STACK_USER_TRUNCATED = 1 << 1,
	ER_STACK_KERNEL_FAILED = 1 << 2, /* the walk gave nothing where there should be frames */
	ER_STACK_USER_FAILED = 1 << 3,
	ER_STACK_USER_EXACT = 1 << 4,    /* user leaf is an instruction, not a return address */
};

/* Kernel frames, then user frames; leaf first; callers as return addresses. */
struct er_stack {
	struct er_header h;
	__u64 id;          /* hash of the frames and of the address space they belong to */
	__u64 start_time;  /* of the process (group leader), names it together with tgid */
	__u32 tgid;
	__u16 nkernel, nuser;
	__u32 flags;
	__u32 pad;
	__u64 pcs[];
};

enum er_clock_flags {
	ER_CLOCK_USER = 1 << 0,      /* was in user mode */
	ER_CLOCK_KTHREAD = 1 << 1,   /* a thread without an address space */
	ER_CLOCK_IDLE = 1 << 2,      /* the CPU was idle; weight is time, not CPU time */
	ER_CLOCK_UNSAMPLED = 1 << 3, /* a residual without a sample since the thread began or did exec */
};

struct er_clock {
	struct er_header h;
	__u64 start_time; /* of the process (group leader), as in struct er_stack */
	__u64 stack;      /* id, 0 none */
	__u64 weight_ns;  /* CPU time of the thread since its last record, may be 0 */
	__u32 cpu;        /* whose ring and numbers: of a residual, not where it ran */
	__u32 tgid, tid;  /* in the initial PID namespace */
	__u32 flags;
	char comm[16];    /* of the thread */
};

_Static_assert(sizeof(struct er_header) == 16, "ring contract");
_Static_assert(sizeof(struct er_stack) == 48, "ring contract");
_Static_assert(sizeof(struct er_clock) == 72, "ring contract");

/* Per CPU, in a map that user space reads: what was produced and what found no room. */
struct er_counts {
	__u64 produced[ER_KIND_COUNT];
	__u64 lost[ER_KIND_COUNT];
	__u64 stack_kernel_truncated, stack_user_truncated; /* samples, not definitions */
	__u64 stack_kernel_failed, stack_user_failed;
	__u64 no_storage;  /* samples and ends of threads whose storage could not be had: weight */
			   /* is one interval, or 0 where the time will come with a later record */
	__u64 loss_unattributed; /* losses whose thread and second had no room */
};

/*
 * Per CPU, in an array that user space maps. `dying` counts threads that
 * began to exit, `dead` those of them whose residual was settled: the difference
 * is what still owes one.
 */
struct er_cpu {
	struct er_counts counts;
	__u64 tick_ns; /* of the CPU's last clock event */
	__u64 dying, dead;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct er_cpu) == 128, "ring contract");

/* Which thread lost records in which second; a bounded map, value: how many. */
struct er_loss_key {
	__u32 tgid, tid;
	__u32 second; /* of CLOCK_MONOTONIC */
	__u32 kind;
};

#endif
