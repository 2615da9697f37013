/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the drain share; nobody else includes this. drain.c has the
 * batches, route.c says which experiment a record goes to, samples.c, waits.c
 * and totals.c turn one kind of record each into packets.
 */
#ifndef USER_RECORD_DRAIN_IMPL_H
#define USER_RECORD_DRAIN_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/mstate.h"
#include "user/record/drain.h"
#include "user/record/ends.h"
#include "user/record/raws.h"
#include "user/record/reason.h"
#include "user/record/stacks.h"
#include "user/record/thread_names.h"
#include "user/unwind/unwinder.h"

enum { NCARRY = 8192 }; /* a power of two */

struct drain {
	struct drain_parts parts;
	struct procmap *procmap;
	struct stacks *stacks;
	struct unwinder *unwinder; /* NULL: no stack is raw */
	struct raws *raws;
	struct ends *ends;
	struct reasons *reasons;
	struct cgroups *cgroups;
	struct buf taken;   /* records, each behind its size */
	struct buf spare;   /* empty; taken and it change places */
	struct buf waiting; /* records without their stack, likewise */
	struct buf spare_waiting;
	struct ring_count *rings;
	uint16_t carry[NCARRY]; /* nanoseconds below the packets' microsecond */
	struct thread_names *names;
	uint64_t nsamples, nwaits, noverflows;
	uint64_t state_ns[MS_COUNT]; /* of all packets */
};

/* --- route.c --- */

/* The thread that a record is of, as far as it matters where the record goes. */
struct actor {
	const struct er_task *task; /* in the record */
	bool kthread;
};

/*
 * The sub-experiment of the process at that time, or NULL: a kernel thread, a
 * process that -F does not want or there was no room for. With `make` false also
 * one that has none yet.
 */
struct output *route_output(struct drain *dr, const struct actor *a, uint64_t time_ns, bool make);
/* "<comm_PID_n>": what stands for the user frames of a process that is not followed. */
void route_pseudo_name(const struct actor *a, char *ret, size_t size);
/* Count how the walk of the stack ended, for the program that the actor ran. */
void route_count_end(struct drain *dr, const struct actor *a, uint64_t time_ns, enum ends_kind kind,
		     uint64_t stack, uint64_t weight_ns);

/* --- drain.c --- */

/* LWPID of a thread's packets: the process, 0 of a kernel thread, in what is not of one process. */
int64_t drain_lwp(const struct actor *a, bool followed);
/*
 * Write a packet, or several, that stand for so many nanoseconds. What is below
 * a microsecond is carried to a later packet of the same thread and state, so
 * that sums are exact. LWPID and THRID are filled in here: in an experiment that
 * as drain_lwp has it.
 */
void drain_packet(struct drain *dr, struct output *p, bool followed, const struct actor *a,
		  struct clock_packet *c, uint64_t weight_ns);

/* --- one kind of record each. False: a stack of it is not there yet, and nothing was done. --- */

bool write_overflow(struct drain *dr, const struct er_counter *c, bool last_chance);
bool write_sample(struct drain *dr, const struct er_clock *c, bool last_chance);
bool write_wait(struct drain *dr, const struct er_wait *w, bool last_chance);
bool write_total(struct drain *dr, const struct er_total *t, bool last_chance);

/* --- waits.c, for totals.c too --- */

extern const enum er_mstate off_states[ER_OFF_STATES]; /* as they are on disk */

/* A time off a CPU, for which a packet is to be written. */
struct off_time {
	struct output *output;
	bool followed;
	struct actor actor;
	enum er_off_state state;
	uint64_t stack;          /* id, 0 none */
	const char *pseudo;      /* the function to show when there is no stack */
	uint64_t time_ns, weight_ns;
	uint32_t cpu, seq;
	struct wait_info info;
};

void put_off_time(struct drain *dr, const struct off_time *t);
/* The output for times off a CPU, with or without a sub-experiment of the thread's own. */
struct output *off_output(struct drain *dr, struct output *own);

#endif
