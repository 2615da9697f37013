/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan of a recording. A tool's option parser fills it; the recording reads it
 * as `const struct plan *` and never changes it. Strings are borrowed from argv.
 */
#ifndef USER_RECORD_PLAN_H
#define USER_RECORD_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"
#include "loaders/capture.h"
#include "loaders/pressure.h"
#include "user/probe/heap_sites.h"
#include "user/probe/probes.h"
#include "user/counters/counters.h"
#include "user/preload/heap_ring.h"
#include "user/probe/spec.h"

enum {
	MAX_COMMENTS = 10,
};

/* -F: processes of a program share a sub-experiment with SHARED, else each has its own. */
enum follow_mode { FOLLOW_OFF, FOLLOW_SHARED, FOLLOW_ALL, FOLLOW_MATCHING };
enum archiving { ARCHIVE_NOTHING, ARCHIVE_NAMES, ARCHIVE_WHOLE };

/* trace_ns for -s on: the session measures the threshold, see calibrate.h. */
#define TRACE_CALIBRATED UINT64_MAX

struct plan {
	/*
	 * What the user chose; the session adds the rest before it opens the capture. trace_ns may
	 * be TRACE_CALIBRATED.
	 */
	struct capture_plan capture;
	counter_list counters;  /* -h */
	enum heap_mode heap;    /* -H: of the load, or of the targets */
	struct heap_sites heap_sites; /* -H: of a program that does not load er_heap.so */
	bool locks;             /* -s all: also count the locks that the load takes without a wait */
	VEC(struct probe_spec) spans; /* --span */
	uint64_t span_limit;    /* --span-limit: records a second on each CPU; 0: unlimited */
	uint64_t span_over_ns;  /* --span-over: before others; 0: no threshold */
	double budget;          /* share of all CPU time that recording may take; 0: unlimited */
	uint64_t begin_ns;      /* -t: recording is paused until then … */
	uint64_t end_ns;        /* … and ends then; 0: when the load ends, or by a signal */
	uint64_t quiet_ns;      /* recorded before and after the load */
	uint64_t limit_bytes;   /* of profile data and archives; 0: unlimited */
	uint64_t roll_ns;       /* --roll: a new segment after this time; 0: none */
	uint64_t roll_bytes;    /* --roll: or at this size; 0: none */
	uint64_t keep_bytes;    /* --keep: all segments or dumps together; 0: unlimited */
	uint64_t flight_ns;     /* --flight: what is kept in memory; 0: recorded to disk */
	uint64_t flight_bytes;  /* --flight: the most memory for it */
	struct pressure_limit pressure[PRESSURE_COUNT]; /* --dump-on: above them a dump is written */
	uint64_t cooldown_ns;   /* --cooldown: between two dumps for pressure */
	int dump_signal;        /* --dump-on: writes a dump; 0: none */
	bool dump_at_end;       /* --dump-on end */
	uint64_t archive_bytes; /* of archives alone; 0: unlimited */
	unsigned sample_s;      /* period of usage samples; 0: only at start and end */
	const char *name, *dir, *group; /* NULL: not given */
	const char *status;     /* --status: the file; NULL: none */
	const char *table_cache; /* --table-cache: the directory; NULL: no unwind tables are kept */
	const char *comments[MAX_COMMENTS];
	size_t ncomments;
	enum archiving archiving;
	enum follow_mode follow;
	const char *follow_regexp; /* FOLLOW_MATCHING */
	size_t max_subs;        /* processes with a sub-experiment of their own; others share */
	VEC(struct capture_target) targets;
	probe_list probes;      /* --probe, --probe-counts */
	bool each_thread;       /* --each-thread: do not fold short-lived threads */
	bool leave_stopped;     /* -x */
	bool jit;               /* --jit: the load's runtimes name their generated code */
	int sample_signal;      /* -l: takes a usage sample; 0: none */
	int pause_signal;       /* -y: pauses, and resumes; 0: none */
	bool begin_paused;      /* -y without ,r */
	bool verbose;
	const char *kallsyms;   /* NULL: the running kernel's; tests give a file */
	char **argv;            /* the recording tool's, for the header */
	char **load;            /* NULL-terminated; NULL: no load */
	bool timers;            /* without privileges: samples come from timers in the load (er_clock.so) */
	bool perf;              /* without privileges: samples come from perf events of the program's threads */
	const char *unprivileged; /* with timers or perf: a sentence that says what is missing */
	bool program;           /* record only the load or the targets, and what they create: collect */
	int load_fds[2];        /* its standard output and standard error; 0: this process's */
};

#define TABLE_CACHE_DIR "/var/cache/er_kernel" /* where tables are kept unless the user says otherwise */

/* The name of the recorder in messages. */
static inline const char *plan_recorder(const struct plan *p)
{
	return p->program ? "collect" : "er_kernel";
}

/* True if waits for locks are also written as synchronization packets. */
static inline bool plan_traces_locks(const struct plan *p)
{
	return p->program && p->capture.trace_ns;
}

/* True if the recording is divided into segments. */
static inline bool plan_rolls(const struct plan *p)
{
	return p->roll_ns || p->roll_bytes;
}

/* True if the plan says when to dump, so that --flight is needed. */
static inline bool plan_dumps(const struct plan *p)
{
	for (int i = 0; i < PRESSURE_COUNT; i++) {
		if (p->pressure[i].percent > 0)
			return true;
	}
	return p->dump_signal || p->dump_at_end;
}

/* True if the plan needs a capture. */
static inline bool plan_profiles(const struct plan *p)
{
	return p->counters.len || p->heap || p->probes.len || capture_wanted(&p->capture);
}

/* True if nothing is recorded by BPF. */
static inline bool plan_without_bpf(const struct plan *p)
{
	return p->timers || p->perf;
}

/* True if stacks may have kernel frames. */
static inline bool plan_sees_kernel(const struct plan *p)
{
	return plan_profiles(p) && !plan_without_bpf(p);
}

#endif
