/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings: at most seven sentences on where the time went. Each comes from a rule, a row of the
 * table in findings.c. A rule speaks only if its figure passes its thresholds, so a load without
 * trouble has one finding, about its CPU time.
 *
 * All figures follow the filter. They are those of the reports that `command` prints.
 */
#ifndef FINDINGS_FINDINGS_H
#define FINDINGS_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/alloc.h"
#include "analysis/base/vec.h"

struct diag;
struct table;
struct view_state;

enum { FINDINGS_MAX = 7 };

/* The texts live in the arena that was passed to findings_make. */
struct finding {
	const char *rule;    /* the name of the rule, such as "cpu" */
	const char *text;    /* one sentence in English */
	int64_t figure_ns;   /* the time that the sentence is about */
	bool exact;          /* the figure was counted, not estimated */
	int64_t error_ns;    /* standard error of an estimate; 0 if exact */
	const char *command; /* er_print's options that show it: "-pid 12 -runqueue" */
	const char *filter;  /* filter expression for the data of this sentence; NULL: all data */
};

typedef VEC(struct finding) finding_vec;

/*
 * The findings under the current filter: losses that matter, then by time, the CPU time last. Free
 * the vector with vec_free.
 */
void findings_make(struct view_state *v, struct arena *arena, finding_vec *ret);

/* The report: a row for each finding. */
int view_findings(struct view_state *v, struct table *t, struct diag *d);

#endif
