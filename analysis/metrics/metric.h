/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of metrics, and the grammar of metric lists. A metric is a row: keyword,
 * label, unit, the kind of packets it is read from, the field with its value, and the
 * microstates that count. A new metric is a new row; no view changes.
 */
#ifndef METRICS_METRIC_H
#define METRICS_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"
#include "analysis/experiment/packet.h"

struct buf;
struct diag;
struct session;

enum metric_unit { UNIT_TIME /* ns */, UNIT_COUNT, UNIT_BYTES, UNIT_RATIO /* of two metrics */ };

/* How `compare` shows groups of experiments side by side. */
enum compare { COMPARE_OFF, COMPARE_ON, COMPARE_DELTA, COMPARE_RATIO };

struct metric {
	uint32_t id;
	const char *name;  /* keyword: "user" */
	const char *alias; /* keyword of older releases; NULL: none */
	const char *uname; /* "User CPU Time" */
	const char *abbr;  /* column heading: "User CPU" */
	enum metric_unit unit;
	enum er_packet kind;
	const char *select; /* field that decides whether a packet counts; NULL: all count */
	uint64_t states;    /* its values that count, a bit mask; for clock: of enum er_mstate */
	uint64_t kstates;   /* the same for recordings of er_kernel */
	bool main_thread;   /* only packets of the thread whose tid is the pid */
	const char *value;  /* field with the value; "1": count packets */
	const char *minus;  /* field to subtract from the value; NULL: none */
	int64_t scale;      /* value × scale is in the unit; clock: also × ptimer */
	int tag;            /* hardware counters; -1 otherwise */
	int64_t mhz;        /* > 0: counts are cycles at this speed, also shown as time */
	int64_t ps;         /* > 0: a count is so many picoseconds */
	bool leaked;        /* only allocations never freed; value: bytes, or "1" */
	bool temporary;     /* only temporary allocations (leaks.h) */
	uint32_t num, den;  /* UNIT_RATIO: ids of its two metrics */
	/* While groups are compared (compare.c): the metric's copies, one a group. */
	const struct metric *groups;
	const struct metric *squares; /* copies that add up squares, one a group; NULL: none */
	size_t ngroups;
	enum compare compare;
	/*
	 * A copy's group and the group's name; 0 and NULL in the metric itself, which
	 * counts all packets.
	 */
	unsigned group;
	const char *group_name;
	bool squared; /* adds up the squares of packets' values, in microseconds squared */
};

/* Ratios are stored and sorted in millionths. */
enum { RATIO_UNIT = 1000000 };

enum static_metric { STATIC_NAME, STATIC_ADDRESS, STATIC_SIZE };

enum flavor { FLAVOR_STATIC, FLAVOR_EXCL, FLAVOR_INCL, FLAVOR_ATTR, FLAVOR_DATA };

enum visibility { VIS_TIME = 1, VIS_PERCENT = 2, VIS_VALUE = 4, VIS_HIDDEN = 8 };

struct metric_col {
	enum flavor flavor;
	const struct metric *metric;   /* NULL: static */
	enum static_metric stat;
	unsigned vis;                  /* of enum visibility */
};

struct metric_list {
	VEC(struct metric_col) cols;
};

struct metric_sort {
	struct metric_col col;
	bool reverse;
};

/* The kind of list that a spec is for; it decides which flavors are allowed. */
enum list_kind { LIST_FUNCS, LIST_CALLERS, LIST_INDEX, LIST_DATA };

/* The metrics that the recorded data support, in standard order. */
struct metric_set {
	VEC(struct metric) all;
	bool targets;             /* only chosen threads were recorded, so kthr is a default */
	VEC(struct metric) compared; /* a copy for each metric and group; empty: no comparison */
	enum compare compare;
	struct leaks *leaks;      /* NULL: no heap data */
	char *dmetrics, *dsort;   /* text from .er.rc files, in order; NULL: none */
};

void metric_set_init(struct metric_set *ms, const struct session *s);
void metric_set_free(struct metric_set *ms);
const struct metric *metric_find(const struct metric_set *ms, const char *name);
int64_t metric_ratio(const struct metric *m, const int64_t *values);
/* The value of a metric, from a row's values by metric id. A ratio is computed, in millionths. */
static inline int64_t metric_value(const struct metric *m, const int64_t *values)
{
	return m->unit == UNIT_RATIO ? metric_ratio(m, values) : values[m->id];
}
/* The length of an array of values by metric id. Copies have ids after those of all metrics. */
size_t metric_set_width(const struct metric_set *ms);
/*
 * Begin or end comparing the session's groups. 0, or -1 after reporting. Lists and
 * sorts stay valid; arrays of values, such as a tally's, do not.
 */
int metric_set_compare(struct metric_set *ms, const struct session *s, enum compare how,
		       struct diag *d);
/*
 * The same as COMPARE_ON, and each time also gets the sums of its packets' squares, from which
 * standard errors are computed.
 */
int metric_set_compare_squares(struct metric_set *ms, const struct session *s, struct diag *d);
/* Add text of .er.rc files to the defaults; it is copied. Call before lists are made. */
void metric_set_defaults(struct metric_set *ms, const char *dmetrics, const char *dsort);
/* Whether a metric's values can be shown as time; and a value in nanoseconds. */
bool metric_has_time(const struct metric *m);
int64_t metric_time_ns(const struct metric *m, int64_t value);

/*
 * Parse a spec such as "ie.%user:name" or "default". 0, or -1 after reporting; then
 * *ret is unchanged. `name` is added at the end if missing.
 */
int metric_list_parse(const struct metric_set *ms, enum list_kind kind, const char *spec,
		      struct diag *d, struct metric_list *ret);
/*
 * The default list for the recorded data: from dmetrics, then built in. For each metric
 * and flavor the first entry is used.
 */
void metric_list_default(const struct metric_set *ms, enum list_kind kind, struct metric_list *ret);
/*
 * Check that a text is a list of metric keywords, whether these were recorded or not. A
 * colon at the end is allowed. 0, or -1 after reporting.
 */
int metric_list_check(const char *spec, struct diag *d);
/* Derive the callers-callees list from a function list: its metrics as attributed values. */
void metric_list_callers(const struct metric_list *funcs, struct metric_list *ret);
/* Derive the index-object list from a function list: exclusive and static metrics only. */
void metric_list_index(const struct metric_list *funcs, struct metric_list *ret);
/*
 * Derive the data list from a function list: data-derived metrics of counters with
 * addresses, and static ones.
 */
void metric_list_data(const struct metric_list *funcs, struct metric_list *ret);
/* Whether the metric's packets have data addresses, so that it has data-derived values. */
bool metric_has_addresses(const struct metric *m);
/* Append the list as `metrics` prints it: "i.user:i%user:e.user:e%user:name". */
void metric_list_print(const struct metric_list *l, struct buf *b);
void metric_list_free(struct metric_list *l);
/* Whether both have the same columns in the same order, however they are shown. */
bool metric_list_same(const struct metric_list *a, const struct metric_list *b);

/*
 * Choose a sort from a spec: the first entry that is visible in the list. "-" reverses,
 * "!" also matches hidden columns; or "default". 0, or -1 after a warning.
 */
int metric_sort_parse(const struct metric_set *ms, const struct metric_list *l, enum list_kind kind,
		      const char *spec, struct diag *d, struct metric_sort *ret);
/*
 * The default sort of a list: from dsort; otherwise by the first shown exclusive
 * metric, the first inclusive one, or the name.
 */
void metric_sort_default(const struct metric_set *ms, const struct metric_list *l,
			 enum list_kind kind, struct metric_sort *ret);
/* Derive the callers-callees sort from a function sort. */
void metric_sort_callers(const struct metric_sort *funcs, struct metric_sort *ret);
void metric_sort_print(const struct metric_sort *s, struct buf *b);
/* Append "Exclusive User CPU Time", as in headings. */
void metric_sort_describe(const struct metric_sort *s, struct buf *b);

#endif
