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

#include "bpf/frame.h"
#include "bpf/unwind.h"

enum er_kind {
	ER_KIND_STACK,    /* struct er_stack: a stack not sent before */
	ER_KIND_CLOCK,    /* struct er_clock: a clock sample */
	ER_KIND_RESIDUAL, /* struct er_clock: CPU time of a thread since its last sample, */
			  /* sent when the thread or the recording ends; numbered and */
			  /* counted (produced, lost) with CLOCK */
	ER_KIND_WAIT,     /* struct er_wait: a wait that was chosen to be recorded */
	ER_KIND_TOTAL,    /* struct er_total: where all the time of a thread went, sent when */
			  /* the thread or the recording ends */
	ER_KIND_COUNTER,  /* struct er_counter: a counter overflowed */
	ER_KIND_COUNT
};

enum {
	ER_MAX_KERNEL_FRAMES = 127, /* the kernel's own limit, perf_event_max_stack */
	ER_MAX_USER_FRAMES = ER_UNWIND_FRAMES,
	ER_MAX_FRAMES = ER_MAX_KERNEL_FRAMES + ER_MAX_USER_FRAMES,
};

struct er_header {
	__u32 kind;
	__u32 seq;
	__u64 time_ns; /* CLOCK_MONOTONIC */
};

/* Whose record it is: every record but a stack has this right behind its header. */
struct er_task {
	__u64 start_time; /* of the process (group leader), names it together with tgid */
	__u32 tgid, tid;  /* in the initial PID namespace */
	char comm[16];    /* of the thread at this time; bytes behind the NUL mean nothing */
};

enum er_stack_flags {
	ER_STACK_KERNEL_TRUNCATED = 1 << 0,
	ER_STACK_USER_TRUNCATED = 1 << 1,
	ER_STACK_KERNEL_FAILED = 1 << 2, /* the walk gave nothing where there should be frames */
	ER_STACK_USER_FAILED = 1 << 3,
	ER_STACK_USER_EXACT = 1 << 4,    /* user leaf is an instruction, not a return address */
	ER_STACK_RAW = 1 << 5,           /* user frames are still to be found: struct er_raw */
};

/*
 * Kernel frames, then user frames; leaf first; callers as return addresses. A user frame is
 * as bpf/frame.h says: a place in a file, or an address where no file is known. The id is a
 * hash of the frames; of the process as well, if a user frame is an address. Raw stacks have
 * ids that no other stack has.
 */
struct er_stack {
	struct er_header h;
	__u64 id;
	__u64 start_time;  /* of the process (group leader), names it together with tgid */
	__u32 tgid;
	__u16 nkernel, nuser;
	__u16 flags;       /* enum er_stack_flags */
	__u16 end;         /* enum er_end: why the walk of user frames ended; 0: no walk */
	__u32 exec_id;     /* counts what the process has executed, see bpf/frame.h */
	__u64 pcs[];
};

enum {
	ER_RAW_BYTES = 16 << 10,        /* the most that is copied of a stack, */
	ER_RAW_ASLEEP_BYTES = 24 << 10, /* of a thread that sleeps when the recording ends */
};

/* Behind the kernel frames of an ER_STACK_RAW stack: user registers and the top of the stack. */
struct er_raw {
	__u64 regs[ER_DWARF_COUNT]; /* by DWARF's numbers: regs[ER_DWARF_RSP] is where `bytes` begins */
	__u64 nbytes;             /* a multiple of 8 */
	__u64 bytes[];
};

enum er_clock_flags {
	ER_CLOCK_USER = 1 << 0,      /* was in user mode */
	ER_CLOCK_KTHREAD = 1 << 1,   /* a thread without an address space */
	ER_CLOCK_IDLE = 1 << 2,      /* the CPU was idle; weight is time, not CPU time */
	ER_CLOCK_UNSAMPLED = 1 << 3, /* a residual without a sample since the thread began or did exec */
};

struct er_clock {
	struct er_header h;
	struct er_task task;
	__u64 stack;      /* id, 0 none */
	__u64 weight;     /* ns of CPU time of the thread since its last record, may be 0 */
	__u32 cpu;        /* whose ring and numbers: of a residual, not where it ran */
	__u32 flags;
};

enum { ER_MAX_COUNTERS = 16 };

/* A counter of the CPU, or of the kernel, has counted as many events as it was told to. */
struct er_counter {
	struct er_clock at;  /* weight: events, the overflow value; flags: USER, KTHREAD, IDLE */
	__u32 counter;       /* which: its place in the plan, below ER_MAX_COUNTERS */
	__u32 pad;
};

/*
 * What a thread does when it is not on a CPU. The ten microstates of the format
 * but those on a CPU, which clock samples and run_ns share out.
 */
enum er_off_state {
	ER_OFF_TFAULT,
	ER_OFF_DFAULT,
	ER_OFF_KFAULT,
	ER_OFF_LOCK,  /* waits in futex() */
	ER_OFF_SLEEP,
	ER_OFF_CPU,   /* could run, has no CPU */
	ER_OFF_STOP,
	ER_OFF_STATES
};

enum er_wait_flags {
	ER_WAIT_KTHREAD = 1 << 0,
	ER_WAIT_TRACED = 1 << 1,     /* as long as the trace threshold or longer: weights are lengths */
	ER_WAIT_OPEN_START = 1 << 2, /* had begun before the recording: lengths count from its start */
	ER_WAIT_OPEN_END = 1 << 3,   /* had not ended when the recording did: lengths end there */
	ER_WAIT_IO = 1 << 4,         /* the scheduler counts it as waiting for I/O */
	ER_WAIT_KILLABLE = 1 << 5,   /* uninterruptible, state D */
	ER_WAIT_PREEMPTED = 1 << 6,  /* was runnable when it left the CPU: blocked_ns is 0 */
	ER_WAIT_EXITING = 1 << 7,
	ER_WAIT_THROTTLED = 1 << 8,  /* its cgroup had used up its share of CPU, or a deadline */
				     /* thread its own */
	ER_WAIT_FROZEN = 1 << 9,
	ER_WAIT_WAKER_IRQ = 1 << 10, /* woken from an interrupt: waker_* is who was interrupted */
	ER_WAIT_NEW = 1 << 11,       /* first wait for a CPU after fork: waker is the parent */
	ER_WAIT_STACK_EARLY = 1 << 12, /* the stack was taken when it left the CPU */
};

/*
 * An interval off the CPU: from the switch out to the switch in. First, unless it was
 * preempted, it is blocked in `state`; then it waits for a CPU. A weight is the
 * time that the record stands for: the distance of the sample points that fell
 * into that part, 0 if none did; of a traced wait its length.
 */
struct er_wait {
	struct er_header h;    /* time: when it came back to a CPU, or the recording ended */
	struct er_task task;
	__u64 stack;           /* id, 0 none: of who waited, as it left the CPU */
	__u64 blocked_ns, runq_ns;         /* how long it was really */
	__u64 blocked_weight, runq_weight; /* what it stands for */
	__u64 address;         /* state LOCK: of the lock; faults: what was touched, of data only */
			       /* when tracing; else 0 */
	__u64 waker_stack;     /* id, 0 none */
	__u64 waker_start;     /* start_time of the waker's process */
	__u32 waker_tgid, waker_tid; /* 0 unknown */
	__u32 holder_tid;      /* state LOCK: who held it, by the lock's own word; 0 unknown */
	__u32 oncpu_tgid, oncpu_tid; /* runq: who had the CPU when it came to run; 0 nobody */
	__u32 cpu;             /* whose ring and numbers */
	__s32 syscall;         /* number, -1 none */
	__u16 state;           /* enum er_off_state of the blocked part */
	__u16 futex_op;        /* of the futex call, with its flags */
	__u32 flags;           /* enum er_wait_flags */
	__u32 pad;
};

enum er_total_flags {
	ER_TOTAL_KTHREAD = 1 << 0,
	ER_TOTAL_BORN = 1 << 1,  /* during the recording */
	ER_TOTAL_ENDED = 1 << 2, /* during the recording */
	ER_TOTAL_SPLIT = 1 << 3, /* user_ns and system_ns are exact, by system call edges */
	ER_TOTAL_IRQ_APART = 1 << 4, /* the kernel keeps interrupts out of run times */
};

/*
 * All of a thread's time inside the recording: run_ns and off_ns[] add up to
 * end_ns - begin_ns. `rest_ns` is the part of off_ns that no WAIT record stands
 * for, lost ones included with what they would have stood for.
 */
struct er_total {
	struct er_header h;
	struct er_task task;
	__u64 begin_ns, end_ns;      /* CLOCK_MONOTONIC */
	__u64 run_ns;                /* on a CPU, by the kernel's own account of the thread */
	__u64 user_ns, system_ns;    /* SPLIT: exact; else the kernel's utime and stime since begin */
	__u64 off_ns[ER_OFF_STATES];
	__u64 rest_ns[ER_OFF_STATES];
	__u64 rest_stack[ER_OFF_STATES]; /* id of the last recorded wait in that state, 0 none */
	__u64 nwaits, npreempted;    /* voluntary and involuntary switches */
	__u64 minflt, majflt;
	__u64 ncalls;                /* system calls; only SPLIT counts them */
	__u64 rchar, wchar;          /* bytes of read and write calls, of storage below: */
	__u64 read_bytes, write_bytes; /* as in /proc/PID/io; 0 where the kernel keeps none */
	__u64 cgroup;                /* id, as bpf_get_current_cgroup_id() has it; 0 unknown */
	__u32 cpu;
	__u32 flags;                 /* enum er_total_flags */
	/*
	 * What the kernel's own figure of waiting for a CPU (schedstat) has of the thread's
	 * sleep: it was moved while it slept, see bpf/edge.bpf.h. It is in no other field here.
	 */
	__u64 moved_ns;
	__u32 nmoved;                /* such sleeps */
	__u32 off_n[ER_OFF_STATES];  /* intervals that off_ns adds up */
	/*
	 * The part of off_ns[ER_OFF_CPU] in which the thread had a CPU and the kernel did not
	 * charge it: the hypervisor took the CPU, or (IRQ_APART) an interrupt did.
	 */
	__u64 stolen_ns;
};

_Static_assert(sizeof(struct er_header) == 16, "ring contract");
_Static_assert(sizeof(struct er_task) == 32, "ring contract");
_Static_assert(sizeof(struct er_wait) == 152, "ring contract");
_Static_assert(sizeof(struct er_total) == 392, "ring contract");
_Static_assert(sizeof(struct er_stack) == 48, "ring contract");
_Static_assert(ER_MAX_USER_FRAMES == 512, "ring contract");
_Static_assert(sizeof(struct er_clock) == 72, "ring contract");
_Static_assert(sizeof(struct er_counter) == 80, "ring contract");

#define ER_TASK_SECOND(type) \
	_Static_assert(__builtin_offsetof(type, task) == sizeof(struct er_header), "ring contract")

ER_TASK_SECOND(struct er_clock);
ER_TASK_SECOND(struct er_wait);
ER_TASK_SECOND(struct er_total);

/* Per CPU, in a map that user space reads: what was produced and what found no room. */
struct er_counts {
	__u64 produced[ER_KIND_COUNT];
	__u64 lost[ER_KIND_COUNT];
	__u64 stack_kernel_truncated, stack_user_truncated; /* samples, not definitions */
	__u64 stack_kernel_failed, stack_user_failed;
	__u64 no_storage;  /* samples and ends of threads whose storage could not be had: weight */
			   /* is one interval, or 0 where the time will come with a later record */
	__u64 loss_unattributed; /* losses whose thread and second had no room */
	__u64 nvoluntary, ninvoluntary; /* switches, but of idle CPUs; only where states are kept */
	__u64 nsignals;    /* delivered; likewise */
	__u64 nmissed;     /* edges of threads that were not seen: their states may be wrong there */
	__u64 hotplugs;    /* how often the CPU came online or went: its perf events ended */
};

/* System calls of one number, in a map by number and CPU that user space reads. */
enum { ER_MAX_SYSCALLS = 512 };

struct er_calls {
	__u64 calls, errors; /* errors: those that returned one */
};

/* The programs, by which their cost is kept. */
enum er_prog {
	ER_PROG_CLOCK,
	ER_PROG_SWITCH,
	ER_PROG_BACK,
	ER_PROG_WAKING,
	ER_PROG_NEWTASK,
	ER_PROG_EXIT,
	ER_PROG_EXEC,
	ER_PROG_FAULT,
	ER_PROG_SYS_ENTER,
	ER_PROG_SYS_EXIT,
	ER_PROG_COUNT
};

/* Every ER_COST_EVERY-th run is measured. A prime, so as not to fall in step with a load. */
enum { ER_COST_EVERY = 61 };

struct er_cost {
	__u64 ns;       /* of the runs that were measured */
	__u32 measured;
	__u32 past;     /* runs since the last of these began */
};

/* Exact user time (bpf/split.bpf.h). */
struct er_split {
	__s64 word;
	__u32 calls; /* system calls of the thread since it came */
	__u32 tid;   /* whose; 0 nobody's */
};

/*
 * Per CPU, in an array that user space maps. `dying` counts threads that
 * began to exit, `dead` those of them whose residual was sent: the difference
 * is what still owes one.
 */
struct er_cpu {
	struct er_counts counts;
	__u64 tick_ns; /* of the CPU's last clock event */
	__u32 dying, dead;
	__u32 back;    /* a thread whose wait is to be recorded when it is back, 0 none */
	__u32 nspilled; /* TOTAL records that found no room in the ring and were put by */
	/* What an edge of a system call touches, the last of these and what follows, is one line. */
	struct er_cost costs[ER_PROG_COUNT] __attribute__((aligned(64)));
	struct er_split split; /* of the thread that runs */
	struct er_split left;  /* of the last thread that left unseen */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct er_cpu) == 448, "ring contract");
_Static_assert(__builtin_offsetof(struct er_cpu, costs[ER_PROG_SYS_ENTER]) / 64 ==
		       __builtin_offsetof(struct er_cpu, split) / 64, "one cache line");

/*
 * Of counters, per CPU, in an array that user space maps. `events` are those of all
 * overflows that the program saw, whether or not the thread is recorded: what the counter
 * itself has more, beyond the interval it is in, overflowed unseen.
 */
struct er_counter_cpu {
	__u64 events[ER_MAX_COUNTERS];
} __attribute__((aligned(64)));

/* What user space sets: enum stack_method and enum capture_shedding (loaders/capture.h) as numbers. */
enum er_stack_method { ER_STACKS_BEST, ER_STACKS_EXIT, ER_STACKS_FINISH, ER_STACKS_LEAVE, ER_STACKS_NONE };
enum er_shedding { ER_SHED_NOTHING, ER_SHED_WAKER_STACKS, ER_SHED_USER_STACKS, ER_SHED_SHORT_STACKS };

/* Before each record in the file that the last iterator writes. */
struct er_last {
	__u32 size, cpu;
};

enum { ER_MAX_LOSSES = 8192 }; /* keys; what finds none left is only counted by its CPU */

/* Which thread lost records in which second; a bounded map, value: how many. */
struct er_loss_key {
	__u32 tgid, tid;
	__u32 second; /* of CLOCK_MONOTONIC */
	__u32 kind;
};

#endif
