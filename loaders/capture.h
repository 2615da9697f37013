/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A running capture: loaded and attached BPF programs, which write records into one ring buffer
 * per CPU. The caller drains the rings. The order of calls is fixed: open, start, drain
 * repeatedly, stop, drain until no record comes, close. This layer knows nothing about
 * experiments.
 */
#ifndef LOADERS_CAPTURE_H
#define LOADERS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/types.h>

#include "bpf/er_event.h"
#include "bpf/io.h"
#include "loaders/uprobes.h"

struct diag;
struct capture;
struct capture_spans;
struct unwind_maps;

/*
 * What option -T selects: one thread (pid and tid), all threads of a process (tid 0), or a
 * kernel thread (pid 0).
 */
struct capture_target {
	pid_t pid, tid;
};

/*
 * How the stacks of waits are captured, best method first. A recording uses one method for all
 * waits.
 */
enum stack_method {
	STACKS_BEST,   /* in a plan: the best that kernel and privileges allow */
	STACKS_EXIT,   /* when the thread runs again, by the tracepoint after a switch (6.16) */
	STACKS_FINISH, /* when it runs again, by a kprobe at finish_task_switch */
	STACKS_LEAVE,  /* when it leaves the CPU, if the wait is predicted to be recorded */
	STACKS_NONE,   /* waits have no stacks */
};

enum {
	TRACE_OFF = 0, /* record only waits that contain a sample point */
	TRACE_ALL = 1, /* record every wait; larger values: waits of at least so many ns */
};

enum { WAIT_INTERVAL_NS = 10000000 };

/*
 * What the recorder stops doing when recording costs too much. Each level includes the levels
 * above it.
 */
enum capture_shedding {
	SHED_NOTHING,
	SHED_WAKER_STACKS,
	SHED_USER_STACKS, /* no user stacks of waits */
	SHED_SHORT_STACKS, /* no stacks of waits shorter than the sample distance */
};

/*
 * Record only the targets, the process `pidfd`, and what they create from the call of capture_open
 * on: threads and, with `descend`, processes and all their descendants.
 */
struct capture_family {
	int pidfd;    /* of a process with one thread; -1: only targets */
	pid_t copy;   /* its number if it is a copy of the recorder until it runs its program; otherwise 0 */
	bool descend;
};

struct capture_family_count {
	uint32_t living;   /* threads that have not begun to exit; of targets only those created since */
	uint32_t unmarked; /* threads that could not be followed, for lack of memory */
};

/* An event to count, as perf_event_open(2) takes it. */
struct capture_counter {
	const char *name;  /* the name used in messages; borrowed */
	uint32_t type;     /* PERF_TYPE_HARDWARE, …, or the type of a PMU in sysfs */
	uint64_t config, config1, config2;
	uint64_t interval; /* number of events between two overflows */
	bool no_user, no_kernel; /* do not count in this mode */
	bool precise;      /* ask for the least skid that the CPU offers (precise_ip) */
	bool data;         /* ask for the address of the data that the instruction used */
};

/* Totals of a counter over all CPUs; complete after capture_stop. */
struct capture_counted {
	uint64_t events;    /* read from the counter itself */
	uint64_t seen;      /* events of overflows that reached BPF, recorded or not */
	uint64_t enabled_ns, running_ns; /* running < enabled: the PMU was shared */
};

/* A place of a probe, and where its arguments are. */
struct capture_probe_site {
	const char *name;
	struct uprobe_site at;   /* its cookie is not used */
	uint32_t function;       /* a number: places of one function are refused together */
	struct er_place jump;    /* see er_probe_site */
	int64_t low[ER_SPAN_PARTS], high[ER_SPAN_PARTS];
	struct er_place places[ER_PROBE_VALUES];
};

/* A probe. Its strings, arrays and descriptors are borrowed until the capture is closed. */
struct capture_probe {
	const char *option, *name; /* for messages */
	struct capture_probe_site *sites; /* capture_open leaves out those that the kernel refuses: at.refused */
	size_t nsites;           /* of a tracepoint: 1, of which only `places` counts */
	int tracepoint;          /* its id; -1: the sites are in user code */
	const struct er_test *tests; /* all must be true, or the hit does not count */
	size_t ntests, nvalues;
	bool counts_only;        /* no records */
};

struct capture_probed {
	uint64_t hits;           /* that count, recorded or not */
	uint64_t unread;         /* arguments that could not be read */
	uint64_t missed;         /* runs of the programs that the kernel left out, of all probes */
};

/* A function of the heap in a program that does not load er_heap.so. */
struct capture_heap_site {
	const char *name;        /* for messages */
	struct uprobe_site at;   /* its cookie and `ret` are not used */
	struct er_heap_site rule;
};

/* Its arrays and descriptors are borrowed while the capture is opened. */
struct capture_heap {
	const struct capture_heap_site *sites;
	size_t nsites;           /* up to ER_MAX_HEAP_SITES */
	const struct uprobe_site *ends; /* where calls of sites with rule.ends return */
	size_t nends;            /* up to ER_MAX_HEAP_ENDS */
	const pid_t *pids;       /* breakpoints are in these processes only; */
	size_t npids;            /* 0: in all that run the files */
	bool inherit;            /* with pids: and in those that they create (family_uprobes.h) */
	bool starts;             /* the process has not run its program yet: with `inherit`, see capture_heap_aim */
	uint32_t mean;           /* bytes between sample points; 0: all events are recorded */
};

/* Of all names of spans together, since the begin. */
struct capture_span_losses {
	uint64_t missed;         /* runs of the programs that the kernel left out */
	/*
	 * Calls that began. After a stop or a pause each of them has ended in some way, so those in no
	 * sum of capture_span_sums (count, unended, muted) have vanished.
	 */
	uint64_t begun;
};

/* A library that is loaded into the program; plan.io leaves its own calls out (bpf/io_own.bpf.h). */
struct capture_library {
	uint64_t mark[2];
	const char *path;        /* as the dynamic loader opens it; empty: it does not */
};

/* Calls that plan.io does not record. */
struct capture_io {
	uint64_t open;           /* entered, and not returned until now */
	uint64_t foreign;        /* of 32-bit programs, whatever they do */
};

struct capture_plan {
	uint64_t interval_ns;    /* sampling interval of each CPU; 0: no samples; states need only_locks */
	bool idle;               /* also sample idle CPUs */
	bool exclude_self;       /* do not record `self`, `helpers` and their children */
	pid_t self;
	pid_t helpers[ER_HELPERS]; /* 0: none */
	size_t ring_bytes;       /* per CPU, a power of two; 0: default, larger for tracing */
	const struct capture_target *targets; /* NULL: record the whole system */
	size_t ntargets;
	const struct capture_family *family;  /* NULL: only the targets, if there are any */
	bool states;             /* send WAIT and TOTAL records: time per thread and state */
	bool only_locks;         /* without a clock: only WAIT records of locks. Needs states and trace_ns */
	uint64_t wait_interval_ns; /* distance of sample points in off-CPU time; 0: the default */
	uint64_t trace_ns;       /* TRACE_OFF, TRACE_ALL or a threshold in ns */
	bool split;              /* exact user and system time; programs run at system calls */
	bool raw_stacks;         /* the caller walks user stacks that BPF has no table for */
	bool waker_stacks;       /* also record the stack of the waker */
	enum stack_method stack_method;    /* a method that the kernel lacks is an error */
	const struct capture_counter *counters; /* NULL: the counter programs are not loaded */
	size_t ncounters;        /* up to ER_MAX_COUNTERS */
	const struct capture_probe *probes; /* NULL: the probe programs are not loaded */
	size_t nprobes;          /* up to ER_MAX_PROBES */
	const struct capture_spans *spans; /* NULL: none; they need `states` */
	const struct capture_heap *heap; /* NULL: no heap is traced here */
	bool io;                 /* trace the system calls that do I/O */
	struct capture_library libraries[ER_IO_LIBRARIES];
	size_t nlibraries;
	bool cuts;               /* capture_cut is used */
	bool no_bpf;             /* nothing is captured here: the caller has records from elsewhere, */
				 /* and counts them by capture_count */
	bool verbose;            /* libbpf writes its messages to stderr */
};

/*
 * Try to open this counter on the first online CPU. Returns 0, or -errno. *precise says on
 * entry whether precision is wanted, and on return whether the counter has it; NULL: not
 * wanted.
 */
int capture_try_counter(const struct capture_counter *c, bool *precise);
/* Report why a counter could not be opened (err < 0), and the remedy. Returns err. */
int capture_counter_error(struct diag *d, const struct capture_counter *c, int err);

/* Whether the plan asks for records of any kind. */
bool capture_wanted(const struct capture_plan *plan);

/*
 * Load the programs. Returns 0, or -errno after a report that names the remedy. Release *ret
 * with capture_close.
 */
int capture_open(const struct capture_plan *plan, struct diag *d, struct capture **ret);
/*
 * Attach the programs and start. Time is counted from *start_ns (CLOCK_MONOTONIC). Returns 0,
 * or -errno after a report. Later calls need no capability, except capture_follow_cpus.
 */
int capture_start(struct capture *c, uint64_t *start_ns, struct diag *d);

typedef void (*capture_fn)(void *ctx, int cpu, const void *record, size_t size);

/*
 * Pass the records in the rings to fn: all that are there at the call, and later ones as far as
 * they come before a ring's size was taken from it. So a call ends even if records come faster than
 * fn takes them. If there is none, wait up to timeout_ms for the first (0: do not wait). Returns the
 * number of records, or -errno (-EINTR: a signal). Records of one ring come in their order; rings
 * are not merged. A ring wakes the caller only when it is a quarter full, so drain about every
 * 100 ms anyway.
 */
int capture_drain(struct capture *c, int timeout_ms, capture_fn fn, void *ctx);
/*
 * Both may be called while the capture runs and need no capability. With a longer distance of
 * sample points fewer waits are recorded, and each counts for more time.
 */
void capture_set_shedding(struct capture *c, enum capture_shedding level);
void capture_set_distance(struct capture *c, uint64_t ns);
/* The caller has forgotten stacks: each is sent again when it comes again. */
void capture_resend(struct capture *c);
/* The size of the plan's family; all 0 without one. It is counted until capture_close. */
void capture_family_count(const struct capture *c, struct capture_family_count *ret);
/*
 * Whether a CPU came online or went offline since capture_follow_cpus last handled it. Reads
 * memory only. Such a change makes capture_fd readable.
 */
bool capture_cpus_changed(const struct capture *c);
/*
 * The perf events of a CPU end when it goes offline. Open new ones on each CPU that came back,
 * and call fn for it with 0, or with -errno if that failed. It needs the capabilities that
 * opening needed (PRIVILEGE_CPU).
 */
void capture_follow_cpus(struct capture *c, void (*fn)(void *ctx, int cpu, int err), void *ctx);
/* The method in use; STACKS_NONE if states are not recorded. */
enum stack_method capture_stack_method(const struct capture *c);
/*
 * The method's name in the experiment's header: "sched_exit_tp", "finish_task_switch",
 * "switch-out" or "none".
 */
const char *stack_method_name(enum stack_method method);

/*
 * The maps that user stacks are walked with. The caller fills them; borrowed. NULL: no_bpf without raw_stacks.
 */
struct unwind_maps *capture_unwind(const struct capture *c);
/* A descriptor that polls readable when a ring should be drained; borrowed. -1: no_bpf. */
int capture_fd(const struct capture *c);

/*
 * Pass to fn what each thread has done so far, while the capture goes on: its time since its last
 * sample as a residual record, the part so far of an open wait as a WAIT, and a TOTAL with
 * ER_TOTAL_CUT. A thread is cut at its TOTAL's time. Only with capture_plan.cuts. Returns 0, or
 * -errno after a report. Needs no capability. Takes a few us per thread, and more for stacks.
 */
int capture_cut(struct capture *c, capture_fn fn, void *ctx, struct diag *d);

/*
 * Pass to fn a struct er_snap for each thread that left or entered a CPU since the snapshot before,
 * or that is on one; with `all` for every thread. time_ns is the present. Without states nothing is
 * passed. Returns 0, or -errno after a report. Needs no capability. Takes 0.6 to 0.9 us of CPU time
 * for each thread of the system (measured on a busy machine).
 */
int capture_snapshot(struct capture *c, uint64_t time_ns, bool all, capture_fn fn, void *ctx,
		     struct diag *d);

/*
 * Stop the clock and detach the programs. For every thread this sends its time since its last
 * sample as a residual record, its open wait as a WAIT, and its time per state as a TOTAL.
 * Drain afterwards until no record comes. Time is counted until *stop_ns at the latest. No
 * record is dated after it, except by the microseconds between CLOCK_MONOTONIC and the
 * scheduler's clock. Returns 0, or -errno after a report.
 *
 * The call takes a few tens of milliseconds, at most about 2 s, if threads have just ended: the
 * kernel shows their last time only after their last switch. At both ends of the recording the
 * time of a running thread is accurate to a scheduler tick.
 */
int capture_stop(struct capture *c, uint64_t *stop_ns, struct diag *d);
/*
 * Remove the breakpoints of probes and spans. They have done nothing since capture_stop, but slow the programs
 * down. The kernel takes 0.1 s for each, so call this when all records have been drained. NULL is allowed.
 * capture_close does it, too.
 */
void capture_detach(struct capture *c);
/*
 * Stop counting time from *time_ns on, as capture_stop does: every thread's residual, open wait
 * and total are sent. Programs stay attached. After capture_resume each thread begins again at
 * *time_ns, and sends another total at its end or at the next pause. So the totals of a thread add
 * up to its time outside the pauses. Both need no capability since Linux 5.19, and take as long as
 * a walk over all threads: some milliseconds for a thousand. They return 0, or -errno after a
 * report. capture_stop may follow either.
 */
int capture_pause(struct capture *c, uint64_t *time_ns, struct diag *d);
int capture_resume(struct capture *c, uint64_t *time_ns, struct diag *d);
/* The time in records: CLOCK_MONOTONIC in nanoseconds. */
uint64_t capture_now_ns(void);
void capture_close(struct capture *c);

int capture_ncpus(const struct capture *c); /* the number of possible CPUs; CPU ids are below it */
void capture_counts(const struct capture *c, int cpu, struct er_counts *ret);
/*
 * Only with no_bpf: so many more records of the kind were produced and lost. Returns the number of
 * the first of them.
 */
uint32_t capture_count(struct capture *c, int cpu, enum er_kind kind, uint32_t produced, uint32_t lost);
/* `counter` is an index into the plan's counters. */
void capture_counted(const struct capture *c, size_t counter, struct capture_counted *ret);
/* `probe` is an index into the plan's probes. */
void capture_probed(const struct capture *c, size_t probe, struct capture_probed *ret);
/*
 * With heap->starts and heap->inherit: the process runs its program now, so its breakpoints can be set. Call it
 * before the first instruction. Needs the privileges of capture_open. 0, or -errno after a report.
 */
int capture_heap_aim(struct capture *c, pid_t pid, struct diag *d);
/* Runs of the programs of `heap` that the kernel left out. */
uint64_t capture_heap_missed(const struct capture *c);
/* All 0 without `io`. Valid until capture_close. */
void capture_io_counts(const struct capture *c, struct capture_io *ret);
/*
 * Adds the counts of each system call to ret[number], an array of ER_MAX_SYSCALLS. Adds nothing
 * without `split`. Takes a millisecond: call it at the end of a recording.
 */
void capture_calls(const struct capture *c, struct er_calls *ret);
/*
 * Adds the sums of a span's name, by its index, to *ret and to the histogram. Takes 100 us: call it
 * about once a second.
 */
void capture_span_sums(const struct capture *c, size_t name, struct er_span_sums *ret,
		       uint64_t hist[ER_SPAN_BUCKETS]);
/* Takes some microseconds. All 0 without spans. */
void capture_span_losses(const struct capture *c, struct capture_span_losses *ret);
/*
 * Threads that were exiting at the stop and whose last switch did not come in time; their last
 * time is not recorded. Valid after capture_stop.
 */
uint32_t capture_unfinished(const struct capture *c);
/* Calls fn for each thread and second that lost records, with their number n. */
void capture_losses(const struct capture *c,
		    void (*fn)(void *ctx, const struct er_loss_key *k, uint64_t n), void *ctx);

/*
 * What the BPF programs have cost so far. One run in ER_COST_EVERY measures itself, and the
 * total is extrapolated from these runs. The kernel's cost of calling a program is not
 * included.
 */
struct capture_cost {
	const char *program;
	uint64_t runs, ns; /* of all runs, measured or not */
};

/*
 * Fills up to max rows, one for each program that ran; returns how many such programs there
 * are, which may exceed max.
 */
size_t capture_costs(const struct capture *c, struct capture_cost *ret, size_t max);

#endif
