/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ring contract: every record that BPF may send to user space. Both sides compile this file.
 * Kinds and fields are only ever appended; sizes are asserted. user/record/kinds.c has a row for
 * each kind: its size, its checks and what writes its packets.
 *
 * Each CPU has a ring. Each record carries a number, which counts the records of its kind on its
 * CPU from 0. A record that finds no room in the ring uses up its number, so a number that never
 * comes is a loss, and recorded + lost = produced. An interrupt may send a record while another
 * is being made, and so overtake it. To find losses, compare the set of numbers with struct
 * er_counts at the end; do not compare a record with the one before it.
 *
 * Rings are not merged. A sample may come before the definition of its stack, if another CPU sent
 * that, and a definition may come more than once.
 */
#ifndef ER_EVENT_H
#define ER_EVENT_H

#include "bpf/frame.h"
#include "bpf/heap.h"
#include "bpf/io.h"
#include "bpf/place.h"
#include "bpf/points.h"
#include "bpf/ran.h"
#include "bpf/record.h"
#include "bpf/unwind.h"

enum er_kind {
	ER_KIND_STACK,    /* struct er_stack: a stack not sent before */
	ER_KIND_CLOCK,    /* struct er_clock: a clock sample */
	ER_KIND_RESIDUAL, /* struct er_residual: CPU time of a thread since its last sample, */
			  /* sent when the thread or the recording ends; numbered and */
			  /* counted (produced, lost) with CLOCK */
	ER_KIND_WAIT,     /* struct er_wait: a wait that sample points or tracing chose */
	ER_KIND_TOTAL,    /* struct er_total: all the time of a thread by state, sent when */
			  /* the thread or the recording ends, or pauses */
	ER_KIND_COUNTER,  /* struct er_counter: a counter overflowed */
	ER_KIND_CODE,     /* struct er_code (bpf/code.h): an interpreted function not sent before */
	ER_KIND_PROBE,    /* struct er_probe: a probe was hit */
	ER_KIND_SPAN,     /* struct er_span: a call of a span's function has ended */
	ER_KIND_IO,       /* struct er_io: a system call that does I/O has returned */
	ER_KIND_HEAP,     /* struct er_heap: a function of the heap was called */
	ER_KIND_COMMAND,  /* struct er_command (bpf/command.h): a process runs another program */
	ER_KIND_COUNT,    /* those above have counts of their own */
	ER_KIND_DATA = ER_KIND_COUNT, /* struct er_counter, with an address of data; numbered and */
			  /* counted with COUNTER */
	ER_KINDS
};

enum {
	/* The kernel walks up to kernel.perf_event_max_stack frames: 127 unless it is changed. */
	ER_MAX_KERNEL_FRAMES = 255,
	ER_MAX_USER_FRAMES = ER_UNWIND_FRAMES,
	ER_MAX_FRAMES = ER_MAX_KERNEL_FRAMES + ER_MAX_USER_FRAMES,
};

enum er_stack_flags {
	ER_STACK_KERNEL_TRUNCATED = 1 << 0,
	ER_STACK_USER_TRUNCATED = 1 << 1,
	ER_STACK_KERNEL_FAILED = 1 << 2, /* the walk found no frame, although there must be some */
	ER_STACK_USER_FAILED = 1 << 3,
	ER_STACK_USER_EXACT = 1 << 4,    /* the user leaf is an instruction, not a return address */
	ER_STACK_RAW = 1 << 5,           /* user frames are not walked yet: struct er_raw follows */
	/*
	 * Frame pointers led out of generated code, and no Java VM was known. If the process runs a Java
	 * VM, the frames behind the first one of generated code may be wrong.
	 */
	ER_STACK_GUESSED = 1 << 6,
	/* Of a raw stack: the leaf is about to return. The recorder leaves it out. */
	ER_STACK_RETURNS = 1 << 7,
	/* Memory could not be read. A stack of the same id with AGAIN may come, and replaces the user frames. */
	ER_STACK_UNREAD = 1 << 8,
	ER_STACK_AGAIN = 1 << 9,
};

/* In place of a kernel function's number in a call; the loader replaces it (loaders/typed.c). */
enum { ER_CALL_SCHEDULE_RESUME = 0x65720001 };

/*
 * Kernel frames, then user frames, each leaf first. Callers are return addresses. A user frame is
 * an offset in a file, or an address if no file is known (bpf/frame.h). The id is a hash of the
 * frames. If a user frame is an address, the hash includes the process. The id of a raw stack is
 * unique.
 */
struct er_stack {
	struct er_header h;
	__u64 id;
	__u64 start_time;  /* of the process (group leader); with tgid it identifies the process */
	__u32 tgid;
	__u16 nkernel, nuser;
	__u16 flags;       /* enum er_stack_flags */
	__u16 end;         /* enum er_end: why the walk of user frames ended; 0: there was none */
	__u32 exec_id;     /* identifies the program that the process runs, see bpf/frame.h */
	__u64 pcs[];
};

enum {
	ER_RAW_BYTES = 24 << 10,        /* largest copy of a user stack */
	ER_RAW_CODE_BACK = 512,         /* code before the leaf's pc that is copied, */
	ER_RAW_CODE_BYTES = ER_RAW_CODE_BACK + 32, /* and all of it */
};

/*
 * Follows the kernel frames of an ER_STACK_RAW stack: user registers, code around the pc, and the
 * top of the stack. Generated code is in no file, so it cannot be read later.
 */
struct er_raw {
	__u64 regs[ER_DWARF_COUNT]; /* by DWARF number; `bytes` begins at regs[ER_DWARF_RSP] */
	__u64 copied_ns;          /* the stack of a wait has the time when the wait began */
	__u64 code_at;            /* address of `code`; 0: it was not copied */
	__u8 code[ER_RAW_CODE_BYTES];
	__u64 nbytes;             /* a multiple of 8 */
	__u64 bytes[];
};

enum er_clock_flags {
	ER_CLOCK_USER = 1 << 0,      /* the CPU was in user mode */
	ER_CLOCK_KTHREAD = 1 << 1,   /* a thread without an address space */
	ER_CLOCK_IDLE = 1 << 2,      /* the CPU was idle; weight is time, not CPU time */
	ER_CLOCK_UNSAMPLED = 1 << 3, /* a residual: no sample since birth or exec */
	ER_CLOCK_SPLIT = 1 << 4,     /* with UNSAMPLED: er_residual.system_ns is known */
};

struct er_clock {
	struct er_header h;
	struct er_task task;
	__u64 stack;      /* id; 0: none */
	__u64 weight;     /* the thread's CPU time in ns since its last record; may be 0 */
	__u32 cpu;        /* of the ring and number */
	__u32 flags;
	__u64 goroutine;  /* Go's number of it; 0: none, or not known */
};

/* CPU time of a thread that no sample represents (residual.bpf.h). */
struct er_residual {
	struct er_clock at;  /* stack and mode: of its last sample; UNSAMPLED: it has none */
	__u64 ran_ns;        /* when the thread was last on a CPU */
	__u64 system_ns;     /* SPLIT: the part of the weight in the kernel */
	__u32 ran_cpu, pad;  /* the last CPU that the thread had */
};

enum { ER_MAX_COUNTERS = 16 };
enum { ER_HELPERS = 3 }; /* processes of the recorder that have children */
enum { ER_COUNTER_DATA = 1 << 8 }; /* in the cookie of a counter's link, beside its index: records are of kind DATA */

/* A counter of the CPU or of the kernel has counted one interval of events. */
struct er_counter {
	struct er_clock at;  /* weight: events, the overflow value; flags: USER, KTHREAD, IDLE */
	__u32 counter;       /* its index in the plan, below ER_MAX_COUNTERS */
	__u32 pad;
	__u64 address, pc;   /* of kind DATA: of the data (0: unknown), and of the instruction */
};

enum {
	ER_MAX_PROBES = 64,
	ER_PROBE_AREAS = 4, /* on each CPU, to walk stacks in */
};

/* A probe was hit. */
struct er_probe {
	struct er_clock at; /* weight: 1; flags: USER, KTHREAD, IDLE */
	__u32 probe;        /* its index in the plan, below ER_MAX_PROBES */
	__u32 pad;
	__s64 values[ER_PROBE_VALUES]; /* 0: not asked for, or not readable */
};

/* A call of a function that allocates or frees; of realloc perhaps two. */
struct er_heap {
	struct er_clock at; /* weight: 1; time: after an allocation, before a free */
	__u64 size, address, old;
	__u32 kind;         /* enum er_heap_kind */
	__u32 pad;
};

/*
 * A system call that does I/O. A record ends before `name` if it has none: a name is sent when the
 * descriptor gets its file, and at the first use of a file that the programs have not seen.
 */
struct er_io {
	struct er_clock at; /* time: when the call returned; weight: 1; flags: USER */
	__u64 began_ns;     /* at the earliest the start of the recording, or the end of a pause */
	__s64 bytes;        /* read or written; else 0 */
	__s32 fd;           /* -1: none */
	__s32 from;         /* the descriptor that was copied; 0: none */
	__u32 type;         /* enum er_io_type */
	__u32 fs;           /* the magic number of the named file's file system; 0: not known */
	__u32 name_kind;    /* enum er_io_name */
	__u32 nname;        /* bytes of the name */
	char name[ER_IO_NAME_BYTES + ER_IO_NAME_LAST];
};

/*
 * A place where a probe is attached. If it is a jump to what is in `jump`, it is hit if that is, from this
 * instruction, in none of the function's parts. ER_PLACE_NONE: it is always hit.
 */
struct er_probe_site {
	__u32 probe;
	__u32 pad;
	struct er_place jump;
	__s64 low[ER_SPAN_PARTS], high[ER_SPAN_PARTS];
	struct er_place places[ER_PROBE_VALUES];
};

struct er_probe_rule {
	__u32 nvalues, ntests;
	__u32 counts_only; /* send no records */
	__u32 pad;
	struct er_test tests[ER_PROBE_TESTS];
};

/*
 * The states of a thread that is not on a CPU. These are the format's ten microstates without
 * those on a CPU, whose time comes from clock samples and run_ns.
 */
enum er_off_state {
	ER_OFF_TFAULT,
	ER_OFF_DFAULT,
	ER_OFF_KFAULT,
	ER_OFF_LOCK,  /* waits in futex() */
	ER_OFF_SLEEP,
	ER_OFF_CPU,   /* can run, but has no CPU */
	ER_OFF_STOP,
	ER_OFF_STATES
};

enum er_wait_flags {
	ER_WAIT_KTHREAD = 1 << 0,
	ER_WAIT_TRACED = 1 << 1,     /* reached the trace threshold; its weights are its lengths */
	ER_WAIT_OPEN_START = 1 << 2, /* began before the recording; lengths count from its start */
	ER_WAIT_OPEN_END = 1 << 3,   /* not over at the recording's end; lengths count to its end; */
				     /* a pause ends the recording for a while */
	ER_WAIT_IO = 1 << 4,         /* the scheduler counts it as waiting for I/O */
	ER_WAIT_KILLABLE = 1 << 5,   /* uninterruptible, state D */
	ER_WAIT_PREEMPTED = 1 << 6,  /* was runnable when it left the CPU: blocked_ns is 0 */
	ER_WAIT_EXITING = 1 << 7,
	ER_WAIT_THROTTLED = 1 << 8,  /* its cgroup had used up its quota of CPU time, or a */
				     /* deadline thread its own */
	ER_WAIT_FROZEN = 1 << 9,
	ER_WAIT_WAKER_IRQ = 1 << 10, /* woken by an interrupt; waker_* is the interrupted thread */
	ER_WAIT_NEW = 1 << 11,       /* first wait for a CPU after fork; the waker is the parent */
	ER_WAIT_STACK_EARLY = 1 << 12, /* the stack was taken when the thread left the CPU */
};

/*
 * An interval off the CPU, from the switch out to the switch in. The thread is first blocked in `state`, unless it
 * was preempted; then it waits for a CPU. A weight is the time that a part of the record represents: the sum of the
 * distances of the sample points in it, 0 without any. The weight of a long part, or of a traced wait's, is its length.
 */
struct er_wait {
	struct er_header h;    /* time: when the thread got a CPU again, or the recording ended */
	struct er_task task;
	__u64 stack;           /* id of the stack with which the thread left the CPU; 0: none */
	__u64 blocked_ns, runq_ns;         /* lengths of the two parts */
	__u64 blocked_weight, runq_weight; /* time that they represent */
	__u64 address;         /* state LOCK: the lock's; faults: the address touched, for data */
			       /* only when tracing; else 0 */
	__u64 waker_stack;     /* id; 0: none */
	__u64 waker_start;     /* start_time of the waker's process */
	__u32 waker_tgid, waker_tid; /* 0: unknown */
	__u32 holder_tid;      /* state LOCK: its holder, read from the lock word; 0: unknown */
	__u32 oncpu_tgid, oncpu_tid; /* runq: who had the CPU at a moment of it (ran.bpf.h); 0: none */
	__u32 cpu;             /* of the ring and the number */
	__s32 syscall;         /* number; -1: none */
	__u16 state;           /* enum er_off_state of the blocked part */
	__u16 futex_op;        /* of the futex call, with its flags */
	__u32 flags;           /* enum er_wait_flags */
	__u32 pad;
	__u64 goroutine;       /* that the thread ran when it left the CPU; 0: none, or not known */
};

enum er_total_flags {
	ER_TOTAL_KTHREAD = 1 << 0,
	ER_TOTAL_BORN = 1 << 1,  /* the thread began during the recording */
	ER_TOTAL_ENDED = 1 << 2, /* the thread ended during the recording */
	ER_TOTAL_SPLIT = 1 << 3, /* user_ns and system_ns are exact, measured at system calls */
	ER_TOTAL_IRQ_APART = 1 << 4, /* the kernel does not charge interrupts to threads */
	ER_TOTAL_AGAIN = 1 << 5,     /* begins at the end of a pause: not the thread's first total */
	ER_TOTAL_CUT = 1 << 6,   /* not the last one of the thread: see bpf/cut.bpf.h */
};

/*
 * All of a thread's time inside the recording: run_ns and off_ns[] add up to end_ns - begin_ns.
 * `rest_ns` is the part of off_ns that no sent WAIT record represents. It includes the time of lost
 * records.
 */
struct er_total {
	struct er_header h;
	struct er_task task;
	__u64 begin_ns, end_ns;      /* CLOCK_MONOTONIC */
	__u64 run_ns;                /* on a CPU, as the kernel charged it to the thread */
	__u64 user_ns, system_ns;    /* SPLIT: exact; else the kernel's utime and stime since begin */
	__u64 off_ns[ER_OFF_STATES];
	__u64 rest_ns[ER_OFF_STATES];
	__u64 rest_stack[ER_OFF_STATES]; /* id, of the last wait in the state that was chosen by points; 0: none */
	__u64 nwaits, npreempted;    /* voluntary and involuntary switches */
	__u64 minflt, majflt;
	__u64 ncalls;                /* system calls; counted only with SPLIT */
	__u64 rchar, wchar;          /* bytes of read and write calls */
	__u64 read_bytes, write_bytes; /* of storage; all as in /proc/PID/io, 0 if not counted */
	__u64 cgroup;                /* id as from bpf_get_current_cgroup_id(); 0: unknown */
	__u32 cpu;
	__u32 flags;                 /* enum er_total_flags */
	/*
	 * The part of the thread's sleep that the kernel (schedstat) counts as waiting for a CPU,
	 * because the sleeping thread was moved to another CPU (bpf/edge.bpf.h). No other field
	 * here counts it as waiting for a CPU.
	 */
	__u64 moved_ns;
	__u32 nmoved;                /* number of such sleeps */
	__u32 off_n[ER_OFF_STATES];  /* number of intervals in off_ns */
	/*
	 * The part of off_ns[ER_OFF_CPU] in which the thread had a CPU, but the kernel did not
	 * charge it: the hypervisor took the CPU, or with IRQ_APART an interrupt did.
	 */
	__u64 stolen_ns;
	__u32 exit_status;           /* ENDED: how the thread ended, as wait(2) encodes it; else 0 */
	__u32 pad;
};

enum {
	ER_SPAN_ARGS = 4,
	ER_SPAN_TEXT = 64,    /* bytes of a string, with its NUL */
	ER_SPAN_DEPTH = 32,   /* spans that a thread may have open at once */
	ER_SPAN_HIST_BITS = 6, /* a histogram has 2^6 buckets for each power of two … */
	ER_SPAN_HIST_TOP = 48, /* … up to 2^48 ns, and one for all above (analysis/experiment/span.h) */
	ER_SPAN_BUCKETS = ((ER_SPAN_HIST_TOP - ER_SPAN_HIST_BITS + 1) << ER_SPAN_HIST_BITS) + 1,
	ER_MAX_SPAN_NAMES = 256,
};

/* The first six say how the span began and ended. */
enum er_span_flags {
	ER_SPAN_RETURNED = 1 << 0,   /* by its return, or by its second function or probe */
	ER_SPAN_THREAD_END = 1 << 1, /* with its thread */
	ER_SPAN_EXEC = 1 << 2,
	ER_SPAN_LEFT = 1 << 3,       /* by longjmp or an exception; noticed later */
	ER_SPAN_OPEN_START = 1 << 4,
	ER_SPAN_OPEN_END = 1 << 5,   /* it had not ended when the recording ended or paused */
	ER_SPAN_SPLIT = 1 << 6,      /* user_ns is exact */
	ER_SPAN_SAMPLED = 1 << 7,    /* recorded as a sample of the calls, whatever its length */
	ER_SPAN_OVER = 1 << 8,       /* at least as long as the threshold */
};

/*
 * A call of a span's function, system call, or pair of probes. run_ns and off_ns[] add up to
 * dur_ns.
 */
struct er_span {
	struct er_header h;          /* time: when it ended, or when its end was noticed */
	struct er_task task;
	__u64 id, parent;            /* unique in the recording; parent 0: none */
	__u64 dur_ns;
	__u64 run_ns;                /* on a CPU, as the kernel charged it to the thread */
	__u64 user_ns;               /* SPLIT: the part of run_ns in user mode */
	__u64 off_ns[ER_OFF_STATES];
	__s64 stolen_ns;             /* as in er_total; negative: dur_ns cuts the other times by so much */
	__s64 args[ER_SPAN_ARGS];
	__u32 waits, minflt, majflt; /* waits: intervals off the CPU */
	__u32 name;                  /* index of its name in the plan */
	__u32 depth;                 /* 0: outermost */
	__u32 flags;                 /* enum er_span_flags */
	__u32 cpu;
	__u32 ntext;                 /* bytes in `text`, which is missing if there are none */
	char text[ER_SPAN_TEXT];
};

enum er_span_kind {
	ER_SPAN_FUNCTION, /* ends with its return */
	ER_SPAN_PAIR,     /* ends at another function or probe */
	ER_SPAN_CALL,     /* a system call */
};

/*
 * A place where spans begin or end, in an array that user space fills. A system call has two, the
 * begin and behind it the end.
 */
struct er_span_site {
	__u32 name;  /* index */
	__u8 kind;   /* enum er_span_kind */
	__u8 popped; /* an end: how far the stack pointer is above that of the begin */
	__u8 kept;   /* bit i: the argument i is read here and kept with the span */
	__u8 ntests;
	__u32 place; /* a function's begin: the same number for all names that begin there, else another one */
	__u16 mark;  /* 1: hits that do not pass the tests are marks of other spans */
	__u8 quiet;  /* an end that may be another function's: without a begin it is not counted */
	__u8 switched; /* the thread may switch its stack inside of the function */
	struct er_place jump; /* of an end, as in er_probe_site */
	__s64 low[ER_SPAN_PARTS], high[ER_SPAN_PARTS];
	struct er_place places[ER_SPAN_ARGS]; /* of the arguments, in the order of the SPEC */
	struct er_test tests[ER_PROBE_TESTS]; /* of arguments that are read here; all must be true */
};

/*
 * All calls of one name on a CPU, in a map that user space reads. Two of them follow from others, and
 * are added up there: the count is that of the histogram, and the duration is run_ns + off_ns.
 */
struct er_span_sums {
	__u64 count;       /* calls that returned; the sums are theirs */
	__u64 dur_ns, max_ns, run_ns, user_ns;
	__u64 off_ns[ER_OFF_STATES];
	__u64 stolen_ns, waits, minflt, majflt; /* stolen: without negative ones */
	__u64 unended;     /* calls that did not return: left, thread's end, exec, open at the end */
	__u64 nobegin;     /* returns of calls that had begun before the recording */
	__u64 noroom;      /* calls that found too many spans open, or no storage */
	__u64 muted;       /* calls that did not pass the tests of their end */
	__u64 lost;        /* records that found no room */
};

_Static_assert(sizeof(struct er_header) == 16, "ring contract");
_Static_assert(sizeof(struct er_span) == 280, "ring contract");
_Static_assert(sizeof(struct er_task) == 32, "ring contract");
_Static_assert(sizeof(struct er_wait) == 160, "ring contract");
_Static_assert(sizeof(struct er_total) == 400, "ring contract");
_Static_assert(sizeof(struct er_stack) == 48, "ring contract");
_Static_assert(ER_MAX_USER_FRAMES == 1536, "ring contract");
_Static_assert(sizeof(struct er_clock) == 80, "ring contract");
_Static_assert(sizeof(struct er_residual) == 104, "ring contract");
_Static_assert(sizeof(struct er_counter) == 104, "ring contract");
_Static_assert(sizeof(struct er_probe) == 88 + 8 * ER_PROBE_VALUES, "ring contract");
_Static_assert(sizeof(struct er_heap) == 112, "ring contract");
_Static_assert(sizeof(struct er_io) == 120 + ER_IO_NAME_BYTES + ER_IO_NAME_LAST, "ring contract");

#define ER_TASK_SECOND(type) \
	_Static_assert(__builtin_offsetof(type, task) == sizeof(struct er_header), "ring contract")

ER_TASK_SECOND(struct er_clock);
ER_TASK_SECOND(struct er_wait);
ER_TASK_SECOND(struct er_total);
ER_TASK_SECOND(struct er_span);

/* Per CPU, in a map that user space reads: records produced, and records that found no room. */
struct er_counts {
	__u64 produced[ER_KIND_COUNT];
	__u64 lost[ER_KIND_COUNT];
	__u64 stack_kernel_truncated, stack_user_truncated; /* samples, not definitions */
	__u64 stack_kernel_failed, stack_user_failed;
	__u64 copies_refused;  /* stacks not copied because their process had copied too many */
	__u64 copies_unfitted; /* stacks not copied because the ring was half full */
	__u64 python_lost; /* stacks of Python programs whose Python frames could not be read, or not all */
	__u64 python_unnamed; /* Python frames whose function could not be read */
	__u64 no_storage;  /* samples and ends of threads without task storage, or not known yet */
	__u64 loss_unattributed; /* losses that found no room in the table of er_loss_key */
	__u64 nvoluntary, ninvoluntary; /* switches, except of idle CPUs; only with states */
	__u64 nsignals;    /* signals delivered; only with states */
	__u64 nmissed;     /* edges that were not seen; the thread's state may be wrong there */
	__u64 hotplugs;    /* times the CPU came online or went offline; perf events end then */
};

/* System calls of one number. In a map by number and CPU, which user space reads. */
enum { ER_MAX_SYSCALLS = 512 };

struct er_calls {
	__u64 calls, errors; /* errors: calls that returned an error */
};

/* The BPF programs; er_cpu.costs has an entry for each. */
enum er_prog {
	ER_PROG_SYS_ENTER,
	ER_PROG_SYS_EXIT,
	ER_PROG_CLOCK,
	ER_PROG_SWITCH,
	ER_PROG_BACK,
	ER_PROG_WAKING,
	ER_PROG_NEWTASK,
	ER_PROG_EXIT,
	ER_PROG_EXEC,
	ER_PROG_FAULT,
	ER_PROG_COUNTER,
	ER_PROG_PROBE,
	ER_PROG_SPAN,
	ER_PROG_IO,
	ER_PROG_HEAP,
	ER_PROG_COUNT
};

/* Every ER_COST_EVERY-th run is measured. The number is prime, so that it does not keep step with the load. */
enum { ER_COST_EVERY = 61 };

struct er_cost {
	__u64 ns;       /* sum over the measured runs */
	__u32 measured; /* number of measured runs */
	__u32 past;     /* runs since the last measured one */
};

/* Exact user time (bpf/split.bpf.h). */
struct er_split {
	__s64 word;
	__u32 calls; /* system calls of the thread since it got the CPU */
	__u32 tid;   /* the thread; 0: none */
};

/*
 * Per CPU, in an array that user space maps. `dying` counts threads that began to exit, `dead`
 * those of them whose residual was sent; the difference is the number of residuals still to come.
 */
struct er_cpu {
	struct er_counts counts;
	__u64 tick_ns; /* of the CPU's last clock event */
	__u32 dying, dead;
	__u32 back;    /* a thread whose wait is to be recorded when it runs again; 0: none */
	__u32 nspilled; /* TOTAL records that found no room in the ring and were queued */
	__u32 nran;     /* threads that were put into `ran` so far */
	/* An edge of a system call touches `split` and the first costs: they share a cache line. */
	struct er_split split __attribute__((aligned(64))); /* of the running thread */
	struct er_cost costs[ER_PROG_COUNT];
	struct er_split left;  /* of the last thread whose switch out was not seen */
	struct er_ran ran[ER_RANS];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct er_cpu) == 960, "ring contract");
_Static_assert(__builtin_offsetof(struct er_cpu, costs[ER_PROG_SYS_EXIT]) / 64 ==
		       __builtin_offsetof(struct er_cpu, split) / 64, "one cache line");

/*
 * Counters, per CPU, in an array that user space maps. `events` adds up the events of all overflows
 * that the program saw, whether or not their threads are recorded. If the counter's own value is
 * higher by more than the interval in progress, overflows were not seen.
 */
struct er_counter_cpu {
	__u64 events[ER_MAX_COUNTERS];
} __attribute__((aligned(64)));

/* Probes, per CPU, in an array that user space maps. */
struct er_probe_cpu {
	__u64 hits[ER_MAX_PROBES]; /* that count, recorded or not */
	__u64 unread[ER_MAX_PROBES]; /* arguments whose page was not in memory */
	__u64 busy;                /* a bit for each area that is in use */
} __attribute__((aligned(64)));

/* Set by user space; values as in enum stack_method, enum capture_shedding (loaders/capture.h). */
enum er_stack_method { ER_STACKS_BEST, ER_STACKS_EXIT, ER_STACKS_FINISH, ER_STACKS_LEAVE, ER_STACKS_NONE };
enum er_shedding { ER_SHED_NOTHING, ER_SHED_WAKER_STACKS, ER_SHED_USER_STACKS, ER_SHED_SHORT_STACKS };

/* Precedes each record in the file that the iterator writes at the end of the recording. */
struct er_last {
	__u32 size, cpu;
};

enum { ER_MAX_LOSSES = 8192 }; /* keys; further losses are counted per CPU only */

/* A thread, a second, a kind. The key of a bounded map; the value is the number of records lost. */
struct er_loss_key {
	__u32 tgid, tid;
	__u32 second; /* of CLOCK_MONOTONIC */
	__u32 kind;
};

#endif
