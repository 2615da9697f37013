/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads one experiment directory: log, maps, stacks and packets. This layer knows the
 * file format; it knows nothing of symbols or metrics. No byte of any file is trusted.
 * Data that cannot be read is skipped, counted and reported in the experiment's own
 * diag; the rest is shown.
 *
 * Everything reached from a struct experiment belongs to it and is valid until
 * experiment_close.
 */
#ifndef EXPERIMENT_EXPERIMENT_H
#define EXPERIMENT_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/file.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"

struct exp_element;
struct exp_io_file;
struct exp_ksym;
struct exp_map;
struct exp_name;
struct exp_process;
struct exp_stack;
struct exp_stream;
struct exp_thread;
struct exp_fold;
struct exp_usage;
struct stack_reader;
struct span_row;

struct exp_event {
	const char *kind; /* "run", "sample", "exit", "cwarn", … */
	int64_t time_ns;  /* relative to the start of this experiment */
	int64_t id;       /* sample number, message number; -1: none */
	const char *label, *text; /* text: for exec_start, the program */
};

/* A time in which nothing was recorded: from begin_ns until end_ns, relative to the start. */
struct exp_pause {
	int64_t begin_ns, end_ns;
};

/* Unknown strings are "", never NULL. */
struct experiment {
	unsigned id;                 /* 1, 2, … in order of opening; set by the opener */
	unsigned group;              /* 1, 2, … for comparison; set by the opener */
	struct experiment *founder;  /* NULL: this is a founder */
	const struct experiment *origin; /* its start is time 0 of packets: see experiment_offset_ns */
	const struct experiment *recording; /* as origin, also if segments are compared */
	bool system_wide;            /* a recording of the whole system, or any part of one */
	bool many_processes;         /* packets name their process, in LWPID */
	const char *path;            /* as given, or founder path + "/" + name */
	const char *name;            /* last component of path */
	const char *version, *collector, *hostname, *arch, *os, *cwd, *command, *notes;
	const char *process;         /* base name of the command's first word; "" unknown */
	int64_t pid, ppid;
	int wordsize;
	bool swap;                   /* recorded in the other byte order */
	int64_t pagesize, npages;
	int64_t ncpus, mhz;          /* mhz of the first CPU listed; 0 unknown */
	int64_t start_ns;            /* absolute hrtime of the event run */
	int64_t start_epoch;
	int64_t end_ns;              /* relative: the event exit, or else the latest time seen */
	bool closed;                 /* has an event exit */
	bool opened;                 /* log.xml could be read up to the event run */
	int64_t sample_period_s;
	int64_t first_sample;        /* samples in earlier segments of the recording that are open; set by the opener */
	const char *dversion;
	VEC(struct exp_event) events;
	VEC(struct exp_pause) pauses; /* in order of time; the events have them, too */
	VEC(struct exp_map) maps;    /* in file order */
	VEC(struct exp_ksym) ksyms;  /* sorted by address */
	VEC(struct exp_stream) streams;
	VEC(struct exp_stack) stacks;
	VEC(uint64_t) pcs;           /* each pc in stacks, once; see experiment_number_pcs */
	VEC(uint32_t) stack_pcs;     /* indexes into pcs */
	struct stack_reader *stack_reader; /* NULL: pcs are numbered, or there are none */
	struct map stack_by_uid;     /* uid to index into stacks */
	uint64_t njava;              /* Java stacks and compiled methods that were skipped */
	VEC(struct exp_element) recorder; /* in file order; empty if another recorder wrote it */
	VEC(struct exp_thread) threads;   /* in file order; empty without microstates */
	VEC(struct exp_fold) folds;       /* of short-lived threads; see exp_threads.h */
	VEC(struct exp_fold_number) fold_numbers;
	VEC(struct exp_name) names;       /* in file order */
	VEC(struct exp_process) processes; /* in file order */
	struct map process_begins;         /* pid to begin_ns of its first element in processes */
	VEC(struct exp_exit) exits;        /* in file order */
	VEC(struct span_row) spans;        /* in file order */
	struct map span_texts;             /* number to const char *; see exp_spans.h */
	VEC(struct exp_io_file) io_files; /* built by the first experiment_io_file */
	struct map io_by_packet;     /* address of a packet, to index into io_files */
	bool io_followed;
	struct map thread_numbers, lwp_numbers; /* built by the first call that asks for a number */
	bool numbered;
	struct file overview;
	struct diag diag;            /* problems found; `header` shows them */
	struct arena arena;
};

/*
 * Open the experiment directory at path. Returns NULL, after reporting to d, if it is
 * not an experiment: no directory, a name without ".er", or no readable log.xml. All
 * other faults go into the experiment's diag and the caller gets what is readable. Free
 * it with experiment_close.
 */
struct experiment *experiment_open(const char *path, struct diag *d);
/*
 * Open a sub-experiment; name is an entry of the founder's directory. NULL after
 * reporting to the founder's diag.
 */
struct experiment *experiment_open_sub(struct experiment *founder, const char *name);
void experiment_close(struct experiment *e);

/* The founder of a sub-experiment; a founder itself. */
static inline const struct experiment *experiment_founder(const struct experiment *e)
{
	return e->founder ? e->founder : e;
}

/*
 * Segments of one recording that are open together have one origin: the founder of the one that began
 * first. It identifies their threads and processes, and times of packets are relative to its start.
 * Otherwise the founder is its own origin. Returns what to add to times that are relative to the
 * founder's start.
 */
static inline int64_t experiment_offset_ns(const struct experiment *e)
{
	return (int64_t)((uint64_t)experiment_founder(e)->start_ns - (uint64_t)e->origin->start_ns);
}

/* The number of usage records, and the i-th of them. Values are cumulative. */
size_t experiment_nusages(const struct experiment *e);
void experiment_usage(const struct experiment *e, size_t i, struct exp_usage *ret);

/* Whether a path is spelled like an experiment (".er") or a group (".erg"). */
bool is_experiment_name(const char *path);
bool is_group_name(const char *path);

/*
 * The names of a founder's sub-experiments (entries "_….er"), sorted by name; runs of
 * digits compare by value. The caller frees each with free() and the vector with
 * vec_free.
 */
typedef VEC(char *) str_vec;
void experiment_subs(const struct experiment *e, str_vec *ret);

/* The index of a stack into e->stacks, or -1. */
static inline int64_t experiment_stack(const struct experiment *e, uint64_t uid)
{
	const uint64_t *index = map_get(&e->stack_by_uid, uid);

	return index ? (int64_t)*index : -1;
}

#endif
