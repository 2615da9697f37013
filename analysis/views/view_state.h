/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings that all views follow: session, lists of metrics, filter, names. */
#ifndef VIEWS_VIEW_STATE_H
#define VIEWS_VIEW_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/metrics/filter.h"
#include "analysis/metrics/metric.h"
#include "analysis/metrics/objtype.h"
#include "analysis/metrics/selection.h"
#include "analysis/model/session.h"
#include "analysis/views/annotation.h"

struct tally;

enum name_form { NAME_SHORT, NAME_LONG, NAME_MANGLED };

/* What .er.rc files say of a graphical display: the page. NULL: nothing. */
struct display {
	const char *tabs;         /* names of commands, separated by colons */
	const char *lanes, *color; /* "cpus" or "threads"; "leaf" or "root" */
	const char *marks[8];      /* kinds of packets that are marked: "hwc", "iotrace" … */
	unsigned nmarks;
	unsigned depth;            /* how many functions of each stack; 0: nothing is said */
};

struct view_state {
	struct session *session;
	const struct metric_set *metric_set;
	struct metric_list metrics, cmetrics, imetrics, dmetrics;
	struct metric_sort sort, csort, isort, dsort;
	bool limit_given; /* by the command limit: 0 then means all, also where the default is some */
	size_t limit; /* most rows shown, counting <Total> as gprofng does; 0: all */
	enum name_form name;
	bool name_object;      /* function names end in "[object]" */
	double threshold;      /* of diff: the least relative change that counts */
	bool errors;           /* show standard errors of estimated counts */
	bool all_frames;       /* stacks of waits show every kernel function */
	/* NULL: everything; includes the selection of samples, threads, LWPs and CPUs */
	struct filter *filter;
	struct selection selection;
	struct objtypes types;
	struct annotation annotation;
	struct display display;
	struct tally *tally;   /* made by view_tally; discarded when a setting above changes */
};

/* Initialize with the defaults for the session's data. Release. */
void view_state_init(struct view_state *v, struct session *s, const struct metric_set *ms);
void view_state_fini(struct view_state *v);
/* Call this when experiments, the filter or the shown objects have changed. */
void view_state_changed(struct view_state *v);

/*
 * Give the lists of index, memory and data objects the metrics and sort order of the function
 * list.
 */
/* Most rows of a list that shows `otherwise` rows if no limit was given; SIZE_MAX: all. */
static inline size_t view_most(const struct view_state *v, size_t otherwise)
{
	return v->limit ? v->limit : v->limit_given ? SIZE_MAX : otherwise;
}

void view_objects_follow(struct view_state *v);
void view_sorts_follow(struct view_state *v);

#endif
