/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A running capture: BPF programs loaded and attached, one ring a CPU, drained
 * by the caller. The order is fixed: open, start, drain as often as wanted,
 * stop, drain until nothing comes, close. Nothing here knows of experiments.
 */
#ifndef LOADERS_CAPTURE_H
#define LOADERS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/types.h>

#include "bpf/er_event.h"

struct diag;
struct capture;
struct unwind_maps;

/* -T: one thread (pid and tid), all threads of a process (tid 0), a kernel thread (pid 0). */
struct capture_target {
	pid_t pid, tid;
};

/* How the stack of a wait is come by, best first. A recording has one way for all. */
enum stack_method {
	STACKS_BEST,   /* in a plan: the best that this kernel and these privileges allow */
	STACKS_EXIT,   /* when the thread is back, by the tracepoint after a switch (6.16) */
	STACKS_FINISH, /* when it is back, by a probe at finish_task_switch */
	STACKS_LEAVE,  /* when it leaves the CPU, if the wait is foretold to be recorded */
	STACKS_NONE,   /* not at all */
};

enum {
	TRACE_OFF = 0, /* waits are chosen by sample points */
	TRACE_ALL = 1, /* every wait is recorded; else those of so many ns or more */
};

enum { WAIT_INTERVAL_NS = 10000000 };

/* What is given up when recording costs too much; each level gives up those above it, too. */
enum capture_shedding {
	SHED_NOTHING,
	SHED_WAKER_STACKS,
	SHED_USER_STACKS, /* of waits */
	SHED_SHORT_STACKS, /* of waits that are shorter than the distance of the sample points */
};

/* An event to count, as perf_event_open(2) takes it. */
struct capture_counter {
	const char *name;  /* what messages call it; borrowed */
	uint32_t type;     /* PERF_TYPE_HARDWARE, …, or that of a unit in sysfs */
	uint64_t config, config1, config2;
	uint64_t interval; /* events from one overflow to the next */
	bool no_user, no_kernel; /* leave out what happens in that mode */
	bool precise;      /* wanted: say exactly which instruction it was, as far as the CPU can */
};

/* What a counter came to, over all CPUs; known after the stop. */
struct capture_counted {
	uint64_t events;    /* that it counted itself */
	uint64_t seen;      /* of these, those of overflows that were seen, recorded or not */
	uint64_t enabled_ns, running_ns; /* less running: it shared the unit with others */
};

struct capture_plan {
	uint64_t interval_ns;    /* of the clock on each CPU; 0: no clock, and no states */
	bool idle;               /* sample idle CPUs, too */
	bool exclude_self;       /* leave out the process `self` */
	pid_t self;
	size_t ring_bytes;       /* per CPU, a power of two; 0: default, which is larger for tracing */
	const struct capture_target *targets; /* none: the whole system */
	size_t ntargets;
	bool states;             /* WAIT and TOTAL records: where all the time of threads goes */
	uint64_t wait_interval_ns; /* distance of the sample points off the CPU; 0: the default */
	uint64_t trace_ns;       /* enum above, or a threshold in ns */
	bool split;              /* user and system time exact, at the price of system call edges */
	bool raw_stacks;         /* the caller walks stacks whose tables come later (ER_STACK_RAW) */
	bool waker_stacks;       /* the stack of who ended a wait, too */
	enum stack_method stack_method;    /* one that this kernel lacks is an error */
	const struct capture_counter *counters; /* none: they are not even loaded */
	size_t ncounters;        /* up to ER_MAX_COUNTERS */
	bool verbose;            /* let libbpf say on stderr what it does */
};

/*
 * Can this be counted here, and precisely? 0, or -errno: on the first CPU that is online.
 * *precise may be NULL.
 */
int capture_try_counter(const struct capture_counter *c, bool *precise);

/* Load. 0, or -errno after one sentence with the remedy. */
int capture_open(const struct capture_plan *plan, struct diag *d, struct capture **ret);
/*
 * Attach and begin; *start_ns is the CLOCK_MONOTONIC moment from which on time
 * counts. After it no call here needs a capability, but for capture_follow_cpus.
 */
int capture_start(struct capture *c, uint64_t *start_ns, struct diag *d);

typedef void (*capture_fn)(void *ctx, int cpu, const void *record, size_t size);

/*
 * Hand out what the rings hold, waiting up to timeout_ms (0: do not wait) for
 * the first record. Returns the number of records, or -errno (-EINTR: a
 * signal). Each ring comes in its own order; rings are not merged. A ring wakes
 * the caller only when it is a quarter full: drain every 100 ms or so anyway.
 */
int capture_drain(struct capture *c, int timeout_ms, capture_fn fn, void *ctx);
/*
 * While it runs, without capabilities. A longer distance of the sample points:
 * fewer waits are recorded, each stands for more.
 */
void capture_set_shedding(struct capture *c, enum capture_shedding level);
void capture_set_distance(struct capture *c, uint64_t ns);
/*
 * Has a CPU come online or gone since it was last followed? Looks at memory only; a CPU
 * that comes or goes makes capture_fd readable.
 */
bool capture_cpus_changed(const struct capture *c);
/*
 * CPUs that came online lack their clock: open it again, and tell of each, with 0, or
 * -errno when it could not be opened, which needs the capability that opening did.
 */
void capture_follow_cpus(struct capture *c, void (*fn)(void *ctx, int cpu, int err), void *ctx);
/* The way in use; STACKS_NONE without states. */
enum stack_method capture_stack_method(const struct capture *c);
/* "sched_exit_tp", "finish_task_switch", "switch-out", "none": for the header. */
const char *stack_method_name(enum stack_method method);

/* The maps of the walk of user stacks, which the caller fills; borrowed. */
struct unwind_maps *capture_unwind(const struct capture *c);
/* A descriptor that polls readable when a ring wants draining; borrowed. */
int capture_fd(const struct capture *c);

/*
 * Detach the clock, and have every thread's time since its last sample sent as
 * a residual record, its open wait as a WAIT and where its time went as a TOTAL.
 * Drain after it until nothing comes. *stop_ns is when time
 * ceased to count. Returns late, a few tens of milliseconds as a rule, when
 * threads have just ended: the kernel lets their last time be seen only then.
 * At either end of the recording a running thread's time is known to a
 * scheduler tick.
 */
int capture_stop(struct capture *c, uint64_t *stop_ns, struct diag *d);
void capture_close(struct capture *c);

int capture_ncpus(const struct capture *c); /* possible CPUs: ids are below this */
void capture_counts(const struct capture *c, int cpu, struct er_counts *ret);
/* Of the plan's counter of that place. */
void capture_counted(const struct capture *c, size_t counter, struct capture_counted *ret);
/* COUNTER records of a CPU, which struct er_counts does not have. */
void capture_counter_records(const struct capture *c, int cpu, uint64_t *produced, uint64_t *lost);
/*
 * System calls by number, ER_MAX_SYSCALLS of them, added to *ret; none without `split`.
 * Takes a millisecond: for the end of a recording.
 */
void capture_calls(const struct capture *c, struct er_calls *ret);
/* After the stop: threads that were ending then and did not get to it in time. */
uint32_t capture_unfinished(const struct capture *c);
/* Losses by thread and second; fn is called for each. */
void capture_losses(const struct capture *c,
		    void (*fn)(void *ctx, const struct er_loss_key *k, uint64_t n), void *ctx);

/*
 * What the programs cost so far, by their own account: one run in ER_COST_EVERY
 * measures itself, and stands for all. The way into a program is not in it.
 */
struct capture_cost {
	const char *program;
	uint64_t runs, ns; /* of all runs */
};

/* Fills up to max rows, of programs in use; returns how many there are. */
size_t capture_costs(const struct capture *c, struct capture_cost *ret, size_t max);

#endif
