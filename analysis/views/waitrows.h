/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the reports on waits share: sums by any combination of keys, the columns,
 * and the names of threads, wakers and stacks.
 */
#ifndef VIEWS_WAITROWS_H
#define VIEWS_WAITROWS_H

#include "analysis/base/map.h"
#include "analysis/metrics/metric.h"
#include "analysis/metrics/pass.h"
#include "analysis/metrics/waitpath.h"
#include "analysis/metrics/waitstat.h"
#include "analysis/model/intern.h"
#include "analysis/model/names.h"
#include "analysis/views/view.h"

struct hit;

/* Waits that have all keys in common. What a key means is the report's. */
enum { WAIT_KEYS = 6 };

struct wait_sum {
	uint32_t key[WAIT_KEYS];
	struct wait_stat stat;
};

struct wait_bag {
	unsigned ngroups; /* of the sums; set before the first is made */
	bool by_difference;
	struct intern ids;
	VEC(struct wait_sum) sums;
};

typedef VEC(const struct wait_sum *) sum_vec;

/* The sum of these keys, made when new; valid until the next call. */
struct wait_stat *wait_bag_at(struct wait_bag *bag, const uint32_t key[WAIT_KEYS]);
void wait_bag_free(struct wait_bag *bag);
/*
 * Add up the sums of `from` by the keys that `mask` has a bit for, the others
 * being 0, into an empty bag.
 */
void wait_bag_by(const struct wait_bag *from, unsigned mask, struct wait_bag *ret);
/*
 * Those whose first n keys are these; freed with vec_free. Most time first; while differences
 * are compared, the largest difference between the last group and the first one first.
 */
void wait_bag_sorted(const struct wait_bag *bag, const uint32_t *key, size_t n, sum_vec *ret);
/* All of it; release it with wait_stat_fini. */
struct wait_stat wait_bag_total(const struct wait_bag *bag);

/* What a report on waits works with. */
struct wait_report {
	struct view_state *v;
	struct table *t;
	const struct names *names;
	enum compare compare;
	struct wait_counts *counts;
	bool estimates;        /* a row has an estimated count */
	struct wait_paths paths;
	struct strtab texts;   /* names as keys */
	struct map kinds;      /* hash of a struct thread_kind: the key of its text + 1 */
	struct wait_bag bag;
	struct wait_stat total;
	int group;             /* of the rows that are put */
};

/* For a report of another shape than struct wait_view; the end adds notes, too. */
void wait_report_init(struct wait_report *w, struct view_state *v, struct table *t);
void wait_report_end(struct wait_report *w);
/* Take a wait into the bag; returns what it was counted as. */
struct wait_count wait_report_add(struct wait_report *w, const struct hit *h,
				  const uint32_t key[WAIT_KEYS]);
/* Say that there are no `what`, such as "waits", and why that may be. */
void wait_nothing(struct wait_report *w, const char *what);

/* A report: what it is called, which waits it takes into the bag, and what it puts of them. */
struct wait_view {
	const char *name, *title;
	const char *heading; /* of the last column, the text */
	const char *what;    /* "waits": what there may be none of */
	hit_fn add;          /* its ctx is the report */
	void (*put)(struct wait_report *w);
};

/*
 * Make the report in an empty table: the columns time, share, waits, their error, mean,
 * longest, lengths and text, and below it the notes that explain them. *w may be the first
 * member of something that is the report's own.
 */
void wait_report_run(struct wait_report *w, const struct wait_view *view, struct view_state *v,
		     struct table *t);

/* A row; its text is printf's. */
__attribute__((format(printf, 3, 4))) void wait_row(struct wait_report *w,
						    const struct wait_stat *ws, const char *fmt, ...);
/* The text of a path, leaf first: "futex_wait < lock < work". Lives as long as the table. */
const char *wait_path_text(struct wait_report *w, uint32_t path);
/*
 * At most so many rows below a heading, as `limit` says or else what a person
 * reads; the last of them may stand for the rest.
 */
size_t wait_rows_shown(const struct wait_report *w, size_t n);

/*
 * The same in brief: the function that waited and, of a program, the first three
 * functions that it waited from: "futex_wait < .. < lock < work".
 */
const char *wait_path_brief(struct wait_report *w, uint32_t path);
/*
 * A row for each of the sums, indented, and one for those that are not shown:
 * "(7 more stacks)" with "stack" for more.
 */
void wait_rows(struct wait_report *w, const sum_vec *sums, const char *more,
	       const char *(*text)(struct wait_report *w, const struct wait_sum *s));

/* Keys. */
uint32_t wait_text_key(struct wait_report *w, const char *text);
const char *wait_key_text(const struct wait_report *w, uint32_t key);
/* What the threads of one kind have in common. */
uint32_t wait_thread_key(struct wait_report *w, const struct hit *h, int64_t pid, int64_t tid);
/*
 * The thread that held what was waited for, or had the CPU; 0 unknown. A lock's
 * word may look like a thread's number and be none: where threads.xml has all
 * threads, it must be one of them.
 */
int64_t wait_holder(const struct hit *h);
/* Whether a thread is known that ended the wait: not a timer, nor another interrupt. */
bool wait_has_waker(const struct hit *h);
/* What ended a wait that no thread ended: "<timer>", "<disk>", WAIT_TIMEOUT … */
const char *wait_interrupt_name(const struct hit *h);
#define WAIT_TIMEOUT "<timeout>"
#define WAIT_OPEN    "<still waiting>"
#define WAIT_REST    "<between samples>"
/* The kind of thread that ended the wait, or in brackets what did: WAIT_TIMEOUT. */
uint32_t wait_waker_key(struct wait_report *w, const struct hit *h);
/* As people say it; where no reason was recorded, the state. */
const char *wait_reason_name(const struct hit *h);

#endif
