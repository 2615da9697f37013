/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packet that passed the filter, and what it says. */
#ifndef METRICS_HIT_H
#define METRICS_HIT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/experiment/exp_packets.h"

struct exp_fold;
struct experiment;
struct session;
struct span_call;
struct span_walk;

/* With enum er_wflag, but not on disk: the wait goes on in the next segment, which is open. */
enum { WFLAG_GOES_ON = 1 << 15 };

/*
 * Where the packets of a stream have their fields: first those of every kind, then those of clock
 * packets of time off a CPU, then those of counts of locks. A field that the stream lacks has offset 0.
 */
struct hit_fields {
	struct field_ref time, stack, thread, lwp, cpu;
	struct field_ref state, ticks, reason, syscall, wflags, length, object, holder, holder_pid,
		waker, waker_pid, waker_stack, goroutine;
	struct field_ref lock_kind, lock_count;
};

/* A packet that passed the filter. Rarely needed values are read on request: hit_time, … */
struct hit {
	struct session *session;
	struct experiment *e;
	const struct exp_stream *stream;
	const struct hit_fields *fields;
	const struct packet *packet;
	uint32_t stack;   /* index into session.stacks, resolved */
	const struct span_call *span; /* the call that a filter looks at; NULL: see hit_span */
};

/* Find the fields of the stream's packets. */
void hit_fields_init(struct hit_fields *f, const struct exp_stream *st);

/* Nanoseconds since the start of the experiment's origin. */
int64_t hit_time(const struct hit *h);
/*
 * What tells threads and processes with the same ids apart: the experiment's origin. For packets with the
 * time of several threads of a fold it is the founder, as their TID means this fold only there.
 */
const struct experiment *hit_origin(const struct hit *h);
/* The fold, of all segments, whose threads share the packet (folded_whole); NULL: it is that of one thread. */
const struct exp_fold *hit_sums(const struct hit *h);
/* The system's thread id. */
int64_t hit_thread(const struct hit *h);
/*
 * THRID and LWPID in filters and selections. In a recording by er_kernel: the system's
 * thread id, and the process id (0: a kernel thread). In a user experiment: the number
 * of the thread and of the LWP, from 1.
 */
int64_t hit_thrid(const struct hit *h);
int64_t hit_lwpid(const struct hit *h);
/* -1: unknown. */
int64_t hit_cpu(const struct hit *h);
/*
 * The process ID. If the experiment covers many processes it is the packet's (field
 * LWPID; 0: a kernel thread); otherwise the experiment's own.
 */
int64_t hit_pid(const struct hit *h);
/* Which of the processes that had this PID one after the other, from 1; 0: only one had it. */
unsigned hit_serial(const struct hit *h);
/*
 * The fold of the thread (analysis/model/folded.h), or that whose threads share the packet; NULL: it was
 * not folded.
 */
const struct exp_fold *hit_fold(const struct hit *h);
/*
 * The fold that shows the packet in lists of processes: that of a main thread, if packets have the time of
 * several of its threads. NULL: the packet belongs to one process.
 */
const struct exp_fold *hit_process_fold(const struct hit *h);
/* The number of the sample that the hit is in, over all segments of its recording; -1: none. */
int64_t hit_sample(const struct hit *h);

/*
 * For clock packets. The value is "none" for other kinds, for times on a CPU, and if
 * the recording lacks the field.
 *
 * The ends of segments divide waits (analysis/model/divided.h). Each part has the whole wait's length, flags, waker
 * and stack, and its own weight, reason and holder.
 */
int64_t hit_state(const struct hit *h);        /* enum er_mstate; -1 none */
bool hit_is_wait(const struct hit *h);         /* time off a CPU */
int64_t hit_weight(const struct hit *h);       /* nanoseconds that the packet represents; 0 none */
/* enum er_reason; REASON_NONE. As recorded; a thread that is at rest (analysis/model/atrest.h) waits for no lock. */
int64_t hit_reason(const struct hit *h);
int64_t hit_syscall(const struct hit *h);      /* number; -1 none */
uint32_t hit_wait_flags(const struct hit *h);  /* enum er_wflag, WFLAG_GOES_ON; 0 none */
int64_t hit_goroutine(const struct hit *h);    /* number of its goroutine, in its process; 0: none, or not known */
int64_t hit_wait_length(const struct hit *h);  /* actual length in nanoseconds; 0 unknown */
int64_t hit_part_length(const struct hit *h);  /* likewise, but only of the part in this segment */
uint64_t hit_wait_object(const struct hit *h); /* address, also of counts of locks; 0 none */
/* Of counts of locks (ER_PKT_LOCKS): enum er_lock, not checked; and the number. 0 for other kinds. */
int64_t hit_lock_kind(const struct hit *h);
int64_t hit_lock_count(const struct hit *h);
int64_t hit_holder(const struct hit *h);       /* thread; 0 none */
int64_t hit_holder_pid(const struct hit *h);
int64_t hit_waker(const struct hit *h);        /* thread; 0 none */
int64_t hit_waker_pid(const struct hit *h);
/*
 * The recorded call (analysis/model/spans.h) that properties of spans are taken from: the one that
 * a filter looks at; the packet's own; or the innermost one that contains the packet. NULL: none.
 */
const struct span_call *hit_span(const struct hit *h);
/*
 * Walk through the recorded calls that contain a packet (span_walk_next). A wait is where it ended.
 * The rest of a thread's total (WFLAG_REST) is in no call.
 */
void hit_spans(const struct hit *h, struct span_walk *w);
/* As `span` of a hit: there is no call. */
extern const struct span_call hit_no_span;
/* Index into session.stacks, resolved in the waker's experiment; <Unknown> if there is none. */
uint32_t hit_waker_stack(const struct hit *h);

#endif
