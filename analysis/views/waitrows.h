/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the reports on waits: the columns, and the names of threads, wakers and stacks. */
#ifndef VIEWS_WAITROWS_H
#define VIEWS_WAITROWS_H

#include "analysis/base/map.h"
#include "analysis/metrics/metric.h"
#include "analysis/metrics/pass.h"
#include "analysis/metrics/waitpath.h"
#include "analysis/model/names.h"
#include "analysis/views/view_state.h"
#include "analysis/views/waitbag.h"

struct hit;

/* The key of a thread's kind, as wait_thread_key_at returned it last. */
struct known_thread {
	struct kind_memo memo;
	uint32_t key;
};

/* The state of a report on waits. */
struct wait_report {
	struct view_state *v;
	struct table *t;
	const struct names *names;
	enum compare compare;
	struct wait_counts *counts;
	bool estimates;        /* a row has an estimated count */
	struct wait_paths paths;
	struct strtab texts;   /* names that are used as keys */
	struct map kinds;      /* hash of a struct thread_kind to the key of its text + 1 */
	struct map by_thread;  /* hash of a thread to index + 1 into threads; another thread may have the same hash */
	VEC(struct known_thread) threads;
	struct wait_bag bag;
	struct wait_stat total;
	int group;             /* the group of the rows that are added */
	bool counted;          /* so are their waits: they are all of some threads in some states */
};

/* For a report that does not fit struct wait_view. wait_report_end also adds the notes. */
void wait_report_init(struct wait_report *w, struct view_state *v, struct table *t);
void wait_report_end(struct wait_report *w);
/* Add a wait to the bag. Returns how it was counted. */
struct wait_count wait_report_add(struct wait_report *w, const struct hit *h,
				  const uint32_t key[WAIT_KEYS]);
/* Note that there are no `what`, such as "waits", and why that may be so. */
void wait_nothing(struct wait_report *w, const char *what);

/* One kind of report: its name, which waits it adds to the bag, and which rows it makes of them. */
struct wait_view {
	const char *name, *title;
	const char *heading; /* of the last column, which has the text */
	const char *what;    /* what the report says it has none of: "waits" */
	hit_fn add;          /* its ctx is the struct wait_report; gets no amounts */
	bool (*any)(const struct wait_report *w); /* whether there are rows without a wait; NULL: no */
	void (*put)(struct wait_report *w);
};

/*
 * Make the report in an empty table. The columns are time, share, its error, waits, their error, mean,
 * longest, lengths and text; notes below explain them. *w may be the first member of a larger
 * struct of the report.
 */
void wait_report_run(struct wait_report *w, const struct wait_view *view, struct view_state *v,
		     struct table *t);

/* Add a row; fmt is as for printf. */
__attribute__((format(printf, 3, 4))) void wait_row(struct wait_report *w,
						    const struct wait_stat *ws, const char *fmt, ...);
/*
 * The text of a path, leaf first: "futex_wait < lock < work". Unless all frames are wanted, the middle of a
 * deep one is left out: "read < parse < .. 38 more .. < main". It lives as long as the table.
 */
const char *wait_path_text(struct wait_report *w, uint32_t path);
/*
 * How many of n rows to show below a heading: at most `limit`, or without one as many as a person
 * reads. The last of them may be the sum of those not shown.
 */
size_t wait_rows_shown(const struct wait_report *w, size_t n);

/*
 * The same, shortened to the function that waited and the first three functions of the program
 * that it waited from: "futex_wait < .. < lock < work".
 */
const char *wait_path_brief(struct wait_report *w, uint32_t path);
/*
 * Add an indented row for each sum and one row for the sums not shown. That row says "(7 more
 * stacks)" if `more` is "stack".
 */
void wait_rows(struct wait_report *w, const sum_vec *sums, const char *more,
	       const char *(*text)(struct wait_report *w, const struct wait_sum *s));

/* Functions that make keys. */
uint32_t wait_text_key(struct wait_report *w, const char *text);
const char *wait_key_text(const struct wait_report *w, uint32_t key);
/* The key of a kind's text: "app", "app (worker)". */
uint32_t wait_kind_key(struct wait_report *w, const struct thread_kind *k);
/* The key of a thread's kind: what threads of one kind have in common. */
uint32_t wait_thread_key(struct wait_report *w, const struct hit *h, int64_t pid, int64_t tid);
/* Likewise, at a time since the start of the experiment's origin. */
uint32_t wait_thread_key_at(struct wait_report *w, const struct experiment *e, int64_t pid, int64_t tid,
			    int64_t time_ns);
/*
 * The thread that held what was waited for, or that had the CPU; 0 if unknown. A lock's word may
 * look like a thread's number without being one. If threads.xml lists all threads, the number
 * must be among them.
 */
int64_t wait_holder(const struct hit *h);
/* Whether a known thread ended the wait, and not a timer or another interrupt. */
bool wait_has_waker(const struct hit *h);
/* The name of a wakeup without a waking thread: "<timer>", "<disk>", WAIT_TIMEOUT … */
const char *wait_interrupt_name(const struct hit *h);
#define WAIT_TIMEOUT "<timeout>"
#define WAIT_OPEN    "<still waiting>"
#define WAIT_REST    "<between samples>"
/* As with er_kernel -T, which names only the chosen threads. */
#define WAIT_UNSEEN  "<not recorded>"
/*
 * The key of the kind of thread that ended the wait. If no thread did, the key of a name in
 * brackets, such as WAIT_TIMEOUT.
 */
uint32_t wait_waker_key(struct wait_report *w, const struct hit *h);
/* The reason in words; the state if no reason was recorded. */
const char *wait_reason_name(const struct hit *h);

#endif
