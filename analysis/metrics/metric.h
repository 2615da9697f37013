/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics as a table, and the grammar of metric lists (requirements M-038 to
 * M-056). A metric is a row: keyword, label, unit, the packet kind it is read
 * from, the field that is its value and the microstates that count. A new
 * metric is a new row; no view changes.
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

/* How groups of experiments stand beside each other: `compare`. */
enum compare { COMPARE_OFF, COMPARE_ON, COMPARE_DELTA, COMPARE_RATIO };

struct metric {
	uint32_t id;
	const char *name;  /* keyword: "user" */
	const char *alias; /* another keyword, of older releases; NULL none */
	const char *uname; /* "User CPU Time" */
	const char *abbr;  /* column heading: "User CPU" */
	enum metric_unit unit;
	enum er_packet kind;
	const char *select; /* field that decides whether a packet counts; NULL: all do */
	uint64_t states;    /* values of it that count, as a bit mask; clock: of enum er_mstate */
	uint64_t kstates;   /* the same in what er_kernel recorded */
	bool main_thread;   /* only packets of the thread whose number is the PID */
	const char *value;  /* field that is the value; "1": count packets */
	const char *minus;  /* field that is subtracted from it; NULL none */
	int64_t scale;      /* value × scale = unit; clock: also × the stream's ptimer */
	int tag;            /* hardware counters; -1 otherwise */
	int64_t mhz;        /* > 0: counts are cycles at this speed, shown as time, too */
	int64_t ps;         /* > 0: counts are multiples of so many picoseconds */
	bool leaked;        /* only allocations that were never freed; value: their bytes, or "1" */
	uint32_t num, den;  /* UNIT_RATIO: the ids of the metrics that it is the ratio of */
	/* While groups are compared (compare.c): its copies, one for each group. */
	const struct metric *groups;
	size_t ngroups;
	enum compare compare;
	/* Of a copy: the packets of which group count, and its name; 0 and NULL: of all. */
	unsigned group;
	const char *group_name;
};

/* A ratio is kept, and sorted, as so many millionth. */
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

/* Which list a spec is for: decides the flavors that it may use. */
enum list_kind { LIST_FUNCS, LIST_CALLERS, LIST_INDEX, LIST_DATA };

/* The metrics that the data of the session's experiments support, in standard order. */
struct metric_set {
	VEC(struct metric) all;
	bool targets;             /* only chosen threads were recorded: kthr tells (K-031) */
	VEC(struct metric) compared; /* copies of them, one a group; empty: nothing is compared */
	enum compare compare;
	struct leaks *leaks;      /* NULL without heap data */
	char *dmetrics, *dsort;   /* what .er.rc files say (P-107, P-108), in order; NULL nothing */
};

void metric_set_init(struct metric_set *ms, const struct session *s);
void metric_set_free(struct metric_set *ms);
const struct metric *metric_find(const struct metric_set *ms, const char *name);
int64_t metric_ratio(const struct metric *m, const int64_t *values);
/*
 * What a row has of a metric, given its values by metric id; of a ratio, which
 * has no sum of its own, millionths.
 */
static inline int64_t metric_value(const struct metric *m, const int64_t *values)
{
	return m->unit == UNIT_RATIO ? metric_ratio(m, values) : values[m->id];
}
/* How long an array of values by metric id is: copies have ids behind those of all metrics. */
size_t metric_set_width(const struct metric_set *ms);
/*
 * Compare the session's groups, or no longer. 0, or -1 after reporting. Lists and
 * sorts stay valid; arrays of values, such as a tally's, do not.
 */
int metric_set_compare(struct metric_set *ms, const struct session *s, enum compare how,
		       struct diag *d);
/* Add to what the defaults are made of; text is copied. Before the lists are made. */
void metric_set_defaults(struct metric_set *ms, const char *dmetrics, const char *dsort);
/* Whether values can be shown as time, and a value in nanoseconds. */
bool metric_has_time(const struct metric *m);
int64_t metric_time_ns(const struct metric *m, int64_t value);

/*
 * Parse a spec such as "ie.%user:name" or "default". 0, or -1 after reporting
 * what is wrong, *ret untouched. `name` is added at the end when missing.
 */
int metric_list_parse(const struct metric_set *ms, enum list_kind kind, const char *spec,
		      struct diag *d, struct metric_list *ret);
/*
 * The default for the data that was recorded: what dmetrics says, then what is
 * built in (M-060 to M-065), of each metric and flavor the first that is said.
 */
void metric_list_default(const struct metric_set *ms, enum list_kind kind, struct metric_list *ret);
/*
 * Whether a text is a list of keywords, of metrics that may or may not have been
 * recorded; a colon at the end does no harm. 0, or -1 after reporting.
 */
int metric_list_check(const char *spec, struct diag *d);
/* The callers-callees list that follows from a function list (P-022). */
void metric_list_callers(const struct metric_list *funcs, struct metric_list *ret);
/* The index-object list that follows from a function list: exclusive and static only. */
void metric_list_index(const struct metric_list *funcs, struct metric_list *ret);
/* The data list that follows: data-derived metrics of counters with addresses, and static ones (P-048). */
void metric_list_data(const struct metric_list *funcs, struct metric_list *ret);
/* Whether its packets have a data address, so that it has data-derived values. */
bool metric_has_addresses(const struct metric *m);
/* As `metrics` prints it: "i.user:i%user:e.user:e%user:name". */
void metric_list_print(const struct metric_list *l, struct buf *b);
void metric_list_free(struct metric_list *l);

/*
 * Choose a sort from a spec (first entry that is visible in the list, "-"
 * reverses, "!" matches hidden ones, "default"). 0, or -1 after a warning.
 */
int metric_sort_parse(const struct metric_set *ms, const struct metric_list *l, enum list_kind kind,
		      const char *spec, struct diag *d, struct metric_sort *ret);
/*
 * What dsort says of a list, then the first shown exclusive metric, inclusive
 * metric, or the name.
 */
void metric_sort_default(const struct metric_set *ms, const struct metric_list *l,
			 enum list_kind kind, struct metric_sort *ret);
/* The callers-callees order that follows from a function order (P-024). */
void metric_sort_callers(const struct metric_sort *funcs, struct metric_sort *ret);
void metric_sort_print(const struct metric_sort *s, struct buf *b);
/* "Exclusive User CPU Time", as headings say it. */
void metric_sort_describe(const struct metric_sort *s, struct buf *b);

#endif
