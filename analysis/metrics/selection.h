/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sample_select, thread_select, lwp_select and cpu_select choose: for each
 * experiment, which of its samples, threads, LWPs and CPUs count.
 *
 *	list = part { "+" part }     part = [ which ":" ] which
 *	which = "all" | range { "," range }     range = number [ "-" number ]
 *
 * The first `which` of a part is experiments; all if it is missing. The experiments of
 * the latest list apply to all four selections: other experiments are off. An
 * experiment that is switched on again has everything selected except as the list says.
 */
#ifndef METRICS_SELECTION_H
#define METRICS_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"

struct buf;
struct diag;
struct hit;
struct session;

enum select_kind { SELECT_SAMPLE, SELECT_THREAD, SELECT_LWP, SELECT_CPU, SELECT_KINDS };

struct range {
	int64_t first, last;
};

typedef VEC(struct range) range_vec;

/* The selection of one experiment. */
struct chosen {
	bool off;
	bool all[SELECT_KINDS];
	range_vec ranges[SELECT_KINDS]; /* if not all: sorted, disjoint */
};

/* A zeroed struct selects everything. */
struct selection {
	VEC(struct chosen) experiments; /* by id - 1; those beyond the end are selected */
};

/* Parse a list. 0, or -1 after reporting the wrong character; then nothing is changed. */
int selection_parse(struct selection *sel, const struct session *s, enum select_kind kind,
		    const char *text, struct diag *d);
bool selection_match(const struct selection *sel, const struct hit *h);
/* Whether anything of an experiment is selected. */
bool selection_has(const struct selection *sel, unsigned experiment);
/* Whether sample, thread, LWP or CPU `id` of an experiment is selected. */
bool selection_has_id(const struct selection *sel, unsigned experiment, enum select_kind kind,
		      int64_t id);
/* "all", "none", or "1-4,7". */
void selection_print(const struct selection *sel, unsigned experiment, enum select_kind kind,
		     struct buf *b);
void selection_free(struct selection *sel);

#endif
