/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshots.xml: the exact states of threads between usage samples. The file may be large, so it
 * is read only when somebody asks for it, and its steps are not kept.
 */
#ifndef EXPERIMENT_EXP_SNAPSHOTS_H
#define EXPERIMENT_EXP_SNAPSHOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/file.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/mstate.h"

struct experiment;

/*
 * The time of a thread. A TID that came again has another element, and so has a thread after a
 * pause. run_ns and all off_ns are its time.
 */
struct exp_span_of_thread {
	int64_t pid, tid; /* pid 0: a kernel thread */
	int64_t last_ns;  /* a time at which it was this thread, from the experiment's start */
	int64_t run_ns, user_ns, system_ns, stolen_ns;
	int64_t off_ns[MS_COUNT];
};

/* Times are nanoseconds from the experiment's start. */
struct exp_instant {
	int64_t at_ns, took_ns; /* a usage sample; the walk over all threads that began at it */
};

/*
 * What a thread did since its step before. Seconds are the times between two instants: second n
 * ends with instant n, and the last one with the experiment.
 */
struct exp_step {
	int64_t pid, tid;
	uint32_t life;	/* another one for a TID that came again, and after a pause */
	int64_t at_ns;	/* an instant, or the thread's end */
	int64_t own_ns; /* the thread's own instant, a little later */
	size_t second;	/* that at_ns is in */
	int8_t state;	/* in which it goes on; MS_LINUX_CPU: on a CPU; -1: it ended */
	/* From before_own_ns until until_ns, which is an instant, it was in this state. -1: no such
	 * time. */
	int8_t before;
	int64_t before_at_ns, before_own_ns, until_ns;
	/* Its times may belong to earlier seconds, too: from begin_ns on. */
	bool is_vague;
	int64_t begin_ns;
	struct exp_span_of_thread ns; /* all other time since the step before */
};

typedef void (*exp_step_fn)(void *ctx, const struct exp_step *st);

struct exp_snapshots {
	struct experiment *e;
	VEC(struct exp_instant) instants; /* in order of time */
	int64_t took_ns;		  /* of the longest walk */
	/* of exp_snapshots.c */
	struct file file;
	uint64_t nwrong;
	bool reported;
};

/* NULL: the recording has none. Close with exp_snapshots_close, which may be given NULL. */
struct exp_snapshots *exp_snapshots_open(struct experiment *e);
void exp_snapshots_close(struct exp_snapshots *s);
/* Call fn for all steps, as they are in the file. Faults are reported to the experiment's diag. */
void exp_snapshots_each(struct exp_snapshots *s, exp_step_fn fn, void *ctx);
/* The number of instants up to t. */
size_t exp_snapshots_until(const struct exp_snapshots *s, int64_t t);
/* The instant, or the begin or the end of the experiment, that is nearest to t. */
int64_t exp_snapshots_nearest(const struct exp_snapshots *s, int64_t t);

/* run_ns plus all off_ns. */
int64_t exp_span_of_thread_sum(const struct exp_span_of_thread *th);
/* The member that has the time in this state. */
int64_t *exp_span_of_thread_in(struct exp_span_of_thread *th, int state);

#endif
