/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The views: each fills a table from the session as the current settings see
 * it. Views are pure: they change neither session nor settings, and report
 * what they cannot do into d, returning -1.
 */
#ifndef VIEWS_VIEW_H
#define VIEWS_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/metrics/filter.h"
#include "analysis/metrics/metric.h"
#include "analysis/metrics/objtype.h"
#include "analysis/metrics/selection.h"
#include "analysis/model/session.h"
#include "analysis/views/table.h"

struct tally;

enum name_form { NAME_SHORT, NAME_LONG, NAME_MANGLED };

/*
 * Classes of remarks between lines. Those of Sun's compilers that DWARF has nothing
 * of are known by name only.
 */
enum remark {
	REMARK_BASIC = 1 << 0,   /* where a function begins; index lines with times always show */
	REMARK_VERSION = 1 << 1, /* compiler and options */
	REMARK_INLINE = 1 << 2,  /* what was inlined into a line */
	REMARK_OTHER = 1 << 3,   /* parallel, query, loop, pipe, memops, fe, codegen, cf */
	REMARK_HEX = 1 << 4,     /* disassembly: the bytes of instructions */
	REMARK_SRC = 1 << 5,     /* disassembly: source lines between */
	REMARK_ASRC = 1 << 6,    /* the same with metrics */
};

enum { REMARKS_SOURCE = 1 << 0, REMARKS_DISASM = 1 << 1 };

/* How source and disassembly are shown. */
struct annotation {
	double sthresh, dthresh; /* percent of the largest value, from which on a line is marked */
	unsigned scc, dcc;       /* of enum remark */
	unsigned rc_decided;     /* which of both an .er.rc file has set: REMARKS_… */
};

struct view_state {
	struct session *session;
	const struct metric_set *metric_set;
	struct metric_list metrics, cmetrics, imetrics, dmetrics;
	struct metric_sort sort, csort, isort, dsort;
	size_t limit; /* rows, <Total> one of them, as gprofng counts (T-28); 0: all */
	enum name_form name;
	bool name_object;      /* append "[object]" */
	bool errors;           /* show standard errors of estimated counts */
	bool all_frames;       /* stacks of waits: each function of the kernel */
	struct filter *filter; /* NULL: everything; heeds selection */
	struct selection selection;
	struct objtypes types;
	struct annotation annotation;
	struct tally *tally;   /* made by view_tally, thrown away when a setting above changes */
};

/* Set up with the defaults of the session's data; release. */
void view_state_init(struct view_state *v, struct session *s, const struct metric_set *ms);
void view_state_fini(struct view_state *v);
/* Call after experiments, filter or shown objects changed. */
void view_state_changed(struct view_state *v);

/* The lists of index, memory and data objects and their sorts follow those of functions. */
void view_objects_follow(struct view_state *v);
void view_sorts_follow(struct view_state *v);

int view_functions(struct view_state *v, struct table *t, struct diag *d);
/* Panels for all functions in sort order. */
int view_callers_callees(struct view_state *v, struct table *t, struct diag *d);
/* The panel of one function, or of functions that called each other, the outermost first. */
int view_callers(struct view_state *v, struct func *const *funcs, size_t n, struct table *t,
		  struct diag *d);
int view_calltree(struct view_state *v, struct table *t, struct diag *d);
/* The summary of one function, or of all listed ones (fsummary, fsingle). */
int view_summary(struct view_state *v, const struct func *only, struct table *t, struct diag *d);

/* The objects of a type, with exclusive (index objects) or data-derived metrics. */
int view_index(struct view_state *v, const struct objtype *type, struct table *t, struct diag *d);
/*
 * Data objects: all, one by its name (the nth of that name, from 1; 0: there must be
 * one), and each with the offsets that were used.
 */
int view_data_objects(struct view_state *v, struct table *t, struct diag *d);
int view_data_single(struct view_state *v, const char *name, size_t nth, struct table *t,
		     struct diag *d);
int view_data_layout(struct view_state *v, struct table *t, struct diag *d);
/* The types. */
int view_indxobj_list(struct view_state *v, struct table *t, struct diag *d);
int view_mobj_list(struct view_state *v, struct table *t, struct diag *d);

/*
 * Annotated source and disassembly. Of a function with the file it was compiled
 * from; with `file` NULL of all functions of that unit, and with a file's name of
 * this function alone, as that file has it (P-032, P-033).
 */
int view_source(struct view_state *v, const struct func *f, const char *file, struct table *t,
		struct diag *d);
int view_disasm(struct view_state *v, const struct func *f, const char *file, struct table *t,
		struct diag *d);

/* Lists of source lines and of pcs, and their summaries (lsummary, psummary). */
enum place_kind { PLACES_LINES, PLACES_PCS };
int view_places(struct view_state *v, enum place_kind kind, struct table *t, struct diag *d);
int view_places_summary(struct view_state *v, enum place_kind kind, struct table *t,
			struct diag *d);

/*
 * Where the time of each thread or process went, checked against what there was,
 * sorted by a metric or with NULL as index lists are.
 */
int view_microstates(struct view_state *v, bool by_process, const char *sort_by, struct table *t,
		     struct diag *d);
/* Times off the CPU: by reason and stack. */
int view_waits(struct view_state *v, struct table *t, struct diag *d);
/* Waits for a CPU. */
int view_runqueue(struct view_state *v, struct table *t, struct diag *d);
/* User locks, each address alone or together by where they are taken. */
int view_locks(struct view_state *v, bool by_address, struct table *t, struct diag *d);
/* Who ended whose waits. */
int view_syscalls(struct view_state *v, struct table *t, struct diag *d);
int view_longest(struct view_state *v, struct table *t, struct diag *d);
int view_wakers(struct view_state *v, struct table *t, struct diag *d);
/* What one thread waited for and why that took so long: its number, PID/TID, or its name. */
int view_wakechain(struct view_state *v, const char *thread, struct table *t, struct diag *d);

/* Traced calls by common call stack, and what sizes they had. */
enum stacks_kind { STACKS_LEAKS, STACKS_ALLOCS, STACKS_HEAP, STACKS_IO };
int view_stacks(struct view_state *v, enum stacks_kind kind, struct table *t, struct diag *d);
int view_heapstat(struct view_state *v, struct table *t, struct diag *d);
int view_iostat(struct view_state *v, struct table *t, struct diag *d);
/* I/O by file name, and by file as it was opened. */
int view_ioactivity(struct view_state *v, struct table *t, struct diag *d);
int view_iodetail(struct view_state *v, struct table *t, struct diag *d);

/* Load objects: with their state (object_list); with metrics and messages (objects). */
int view_object_list(struct view_state *v, struct table *t, struct diag *d);
int view_objects(struct view_state *v, struct table *t, struct diag *d);
int view_experiment_list(struct view_state *v, struct table *t, struct diag *d);
/* What is selected of each experiment's samples, threads, LWPs or CPUs, and how many it has. */
int view_sample_list(struct view_state *v, struct table *t, struct diag *d);
int view_thread_list(struct view_state *v, struct table *t, struct diag *d);
int view_lwp_list(struct view_state *v, struct table *t, struct diag *d);
int view_cpu_list(struct view_state *v, struct table *t, struct diag *d);
/* What filters and index expressions can ask for. */
int view_describe(struct view_state *v, struct table *t, struct diag *d);
/*
 * header, overview, statistics: NULL means all experiments; statistics are then
 * the sum. The header then has
 * a line for each followed process, and those with messages; view_header_all
 * has all in full.
 */
int view_header_short(struct view_state *v, const struct experiment *e, struct table *t,
		      struct diag *d);
int view_header(struct view_state *v, const struct experiment *e, struct table *t, struct diag *d);
int view_header_all(struct view_state *v, const struct experiment *e, struct table *t,
		    struct diag *d);
int view_overview(struct view_state *v, const struct experiment *e, struct table *t,
		  struct diag *d);
int view_statistics(struct view_state *v, const struct experiment *e, struct table *t,
		    struct diag *d);
/* Also each of them by itself; each sample by itself. */
int view_statistics_all(struct view_state *v, const struct experiment *e, struct table *t,
			struct diag *d);
/* How much of each program's time has complete user stacks. */
int view_unwinding(struct view_state *v, struct table *t, struct diag *d);
int view_procstats(struct view_state *v, struct table *t, struct diag *d);
int view_sample_detail(struct view_state *v, const struct experiment *e, struct table *t,
		       struct diag *d);


#endif
