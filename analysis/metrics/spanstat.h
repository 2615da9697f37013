/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the calls of each span spend their time: all of them, and the slowest hundredth. Without a
 * filter the sums of all calls are the recorder's own, which are exact. A filter chooses among the
 * recorded calls.
 */
#ifndef METRICS_SPANSTAT_H
#define METRICS_SPANSTAT_H

#include "analysis/model/spans.h"

struct filter;
struct hit;

/* What a call is for a report. */
enum span_mark {
	SPAN_MARK_NONE, /* the filter excludes it */
	SPAN_MARK_PART, /* passes, but is not whole (span_is_whole): it is in no sum */
	SPAN_MARK_REST, /* whole */
	SPAN_MARK_SLOW, /* whole, and among the slowest hundredth of its name, at least one */
};

/*
 * The mark of each recorded call, by its index; free with free. The filter may be NULL. It sees a
 * call's own packet only.
 */
uint8_t *span_marks(struct session *s, struct filter *filter);

/*
 * Returns how many whole calls a record represents. It is 1 if each call has a record, or if the call
 * is so long that each such call has one.
 */
double span_weight(const struct span_name *n, const struct span_call *c);

/* The sums of some whole calls, with their weights. */
struct span_sum {
	double count;
	double dur_ns, run_ns, state_ns[MS_COUNT];
	/* Of recorded waits in recorded calls: the time that they represent. An estimate. */
	double reason_ns[MS_COUNT][REASON_COUNT];
	double joined_ns[MS_COUNT]; /* sum over all reasons */
};

struct span_stat {
	const struct span_name *name;
	uint64_t quantile_ns[3], max_ns; /* of span_quantiles */
	bool exact;          /* all calls are counted; false: the recorded ones that pass */
	bool estimated;      /* number and sums of all calls are estimates from a sample */
	bool rough;          /* quantiles are from a histogram or a sample */
	bool max_rough;      /* so is the longest call */
	bool slow_sampled;   /* not each of the slowest has a record, so their sums are estimates */
	bool split;          /* user and system time are known for all, else only run_ns */
	struct span_sum all, slow, rest; /* slow and rest: recorded calls only */
};

extern const double span_quantiles[3];

typedef VEC(struct span_stat) span_stat_vec;

/* Of each name with a call that passes; the name with the longest sum first. Free with vec_free. */
void span_stats(struct session *s, struct filter *filter, span_stat_vec *ret);

/* The mean of the calls that are not slow, in ns: of a state, or of time on a CPU (MS_LINUX_CPU). */
double span_mean(const struct span_sum *sum, enum er_mstate state);
double span_rest_mean(const struct span_stat *st, enum er_mstate state);
/*
 * The states that spans have. If user and system time were not measured (split), time on a CPU is
 * one state, MS_LINUX_CPU. Returns their number.
 */
size_t span_states(bool split, enum er_mstate ret[MS_COUNT]);
/* What slow calls have most more of than the others; -1: there are no others. */
int span_slow_state(const struct span_stat *st);
/* The reason that they have most more of in this state; REASON_NONE: no wait was recorded. */
enum er_reason span_slow_reason(const struct span_stat *st, enum er_mstate state);
/* The commonest reason of some calls in a state; REASON_NONE as above. */
enum er_reason span_reason(const struct span_sum *sum, enum er_mstate state);

#endif
