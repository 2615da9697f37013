/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The views. Each fills a table from the session under the current settings. A view changes
 * neither the session nor the settings. It reports into d what it cannot do and returns -1.
 */
#ifndef VIEWS_VIEW_H
#define VIEWS_VIEW_H

#include <stdbool.h>
#include <stddef.h>

struct diag;
struct experiment;
struct func;
struct objtype;
struct filter;
struct table;
struct view_state;

int view_functions(struct view_state *v, struct table *t, struct diag *d);
/* One panel for each function, in sort order. */
int view_callers_callees(struct view_state *v, struct table *t, struct diag *d);
/* The panel of one function, or of a chain of functions that called each other, outermost first. */
int view_callers(struct view_state *v, struct func *const *funcs, size_t n, struct table *t,
		  struct diag *d);
int view_calltree(struct view_state *v, struct table *t, struct diag *d);
/* The summary of one function, or of all listed ones (fsummary, fsingle). */
int view_summary(struct view_state *v, const struct func *only, struct table *t, struct diag *d);

/* The objects of a type: exclusive metrics for index objects, otherwise data-derived metrics. */
int view_index(struct view_state *v, const struct objtype *type, struct table *t, struct diag *d);
/*
 * Data objects: all of them; one by name (n counts from 1 among equal names; with 0 the name must
 * be unique); and all of them, each with the offsets that were accessed.
 */
int view_data_objects(struct view_state *v, struct table *t, struct diag *d);
int view_data_single(struct view_state *v, const char *name, size_t nth, struct table *t,
		     struct diag *d);
int view_data_layout(struct view_state *v, struct table *t, struct diag *d);
/* The types of index objects. */
int view_indxobj_list(struct view_state *v, struct table *t, struct diag *d);
int view_mobj_list(struct view_state *v, struct table *t, struct diag *d);

/*
 * Annotated source and disassembly of a function, as the file that it was compiled from has it.
 * With `file` NULL all functions of that compilation unit are shown. With the name of a file only
 * this function is shown, as that file has it.
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
 * Time of each thread or process by microstate, checked against its total time. Rows are sorted
 * by a metric, or as index lists are if it is NULL.
 */
int view_microstates(struct view_state *v, bool by_process, const char *sort_by, struct table *t,
		     struct diag *d);
/*
 * Exact states of threads between the usage samples nearest to two times, of those threads of which a
 * packet passes the filter (NULL: all). to_ns INT64_MAX: to the end.
 */
int view_exact_states(struct view_state *v, struct filter *threads, int64_t from_ns, int64_t to_ns,
		 struct table *t, struct diag *d);
/* Time off the CPU by reason and stack. */
int view_waits(struct view_state *v, struct table *t, struct diag *d);
/* Waits for a CPU. */
int view_runqueue(struct view_state *v, struct table *t, struct diag *d);
/* User locks: one row for each address, or one for all locks taken at the same place. */
int view_locks(struct view_state *v, bool by_address, struct table *t, struct diag *d);
/*
 * Waits in system calls; the longest single waits; which threads ended the waits of which others.
 */
int view_syscalls(struct view_state *v, struct table *t, struct diag *d);
int view_longest(struct view_state *v, struct table *t, struct diag *d);
int view_wakers(struct view_state *v, struct table *t, struct diag *d);
/*
 * What one thread waited for, and why those waits took so long. The thread is named by its
 * number, by PID/TID, or by its name.
 */
int view_wakechain(struct view_state *v, const char *thread, struct table *t, struct diag *d);

/*
 * Spans: what calls of each wait for; the slowest single calls; and one call as a timeline, the
 * rank-th slowest of its name.
 */
int view_spans(struct view_state *v, struct table *t, struct diag *d);
int view_span_list(struct view_state *v, struct table *t, struct diag *d);
int view_span(struct view_state *v, const char *name, size_t rank, struct table *t, struct diag *d);

/* Traced calls by common call stack, and the sizes that they had. */
enum stacks_kind { STACKS_LEAKS, STACKS_ALLOCS, STACKS_HEAP, STACKS_IO };
int view_stacks(struct view_state *v, enum stacks_kind kind, struct table *t, struct diag *d);
int view_heapstat(struct view_state *v, struct table *t, struct diag *d);
/* The blocks in use at the peak of memory, by call stack; limit counts stacks. */
int view_heappeak(struct view_state *v, struct table *t, struct diag *d);
/* The memory in use over time; limit counts rows. */
int view_heapuse(struct view_state *v, struct table *t, struct diag *d);
int view_iostat(struct view_state *v, struct table *t, struct diag *d);
/* I/O by file name, and by each opening of a file. */
int view_ioactivity(struct view_state *v, struct table *t, struct diag *d);
int view_iodetail(struct view_state *v, struct table *t, struct diag *d);

/* Load objects: with their state (object_list), or with metrics and messages (objects). */
int view_object_list(struct view_state *v, struct table *t, struct diag *d);
int view_objects(struct view_state *v, struct table *t, struct diag *d);
/* The programs that processes ran: when, how long, and how they ended. */
int view_lifetimes(struct view_state *v, struct table *t, struct diag *d);
int view_experiment_list(struct view_state *v, struct table *t, struct diag *d);
/* For each experiment, the selected samples, threads, LWPs or CPUs and how many there are. */
int view_sample_list(struct view_state *v, struct table *t, struct diag *d);
int view_thread_list(struct view_state *v, struct table *t, struct diag *d);
int view_lwp_list(struct view_state *v, struct table *t, struct diag *d);
int view_cpu_list(struct view_state *v, struct table *t, struct diag *d);
/* The names that filters and index expressions can use. */
int view_describe(struct view_state *v, struct table *t, struct diag *d);
/*
 * header, overview and statistics. NULL means all experiments; statistics are then their sum. The
 * header then has one line for each followed process and names the processes that have messages.
 * view_header_all shows everything in full.
 */
int view_header_short(struct view_state *v, const struct experiment *e, struct table *t,
		      struct diag *d);
/* Add the lines that name no user, path, command, host or note. */
void view_header_anonymous(struct view_state *v, struct table *t);
int view_header(struct view_state *v, const struct experiment *e, struct table *t, struct diag *d);
int view_header_all(struct view_state *v, const struct experiment *e, struct table *t,
		    struct diag *d);
int view_overview(struct view_state *v, const struct experiment *e, struct table *t,
		  struct diag *d);
int view_statistics(struct view_state *v, const struct experiment *e, struct table *t,
		    struct diag *d);
/* Statistics of each experiment as well; statistics of each sample. */
int view_statistics_all(struct view_state *v, const struct experiment *e, struct table *t,
			struct diag *d);
/* The share of each program's time that has complete user stacks. */
int view_unwinding(struct view_state *v, struct table *t, struct diag *d);
int view_procstats(struct view_state *v, struct table *t, struct diag *d);
int view_sample_detail(struct view_state *v, const struct experiment *e, struct table *t,
		       struct diag *d);

#endif
