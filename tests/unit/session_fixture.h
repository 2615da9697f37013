/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An open experiment made by exp_builder, with its metrics and the settings of a report. */
#ifndef UNIT_SESSION_FIXTURE_H
#define UNIT_SESSION_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/metrics/callers.h"
#include "analysis/metrics/tally.h"
#include "analysis/model/session.h"
#include "analysis/views/columns.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"
#include "tests/fixtures/exp_builder.h"

struct opened {
	char dir[64];
	struct exp_builder *builder;
	struct diag diag;
	struct session *session;
	struct metric_set metrics;
	struct view_state view;
};

static inline void fixture_new(struct opened *o)
{
	*o = (struct opened){ .dir = "/tmp/er_unit_XXXXXX" };
	assert_non_null(mkdtemp(o->dir));
	o->builder = exp_builder_new(o->dir, "t.1.er");
}

static inline void fixture_new_kernel(struct opened *o)
{
	*o = (struct opened){ .dir = "/tmp/er_unit_XXXXXX" };
	assert_non_null(mkdtemp(o->dir));
	o->builder = exp_builder_new_kernel(o->dir, "t.1.er");
}

static inline void fixture_open_built(struct opened *o)
{
	char *path = xasprintf("%s/t.1.er", o->dir);

	o->session = session_new(&o->diag);
	assert_int_equal(session_add(o->session, path), 0);
	free(path);
	metric_set_init(&o->metrics, o->session);
	view_state_init(&o->view, o->session, &o->metrics);
}

static inline void fixture_open(struct opened *o)
{
	exp_builder_close(o->builder);
	fixture_open_built(o);
}

static inline void fixture_free(struct opened *o)
{
	char *command = xasprintf("rm -rf '%s'", o->dir);

	view_state_fini(&o->view);
	metric_set_free(&o->metrics);
	session_free(o->session);
	diag_free(&o->diag);
	assert_int_equal(system(command), 0);
	free(command);
}

/* The only function with this name. */
static inline struct func *the_func(struct opened *o, const char *name)
{
	func_vec found = { 0 };
	struct func *f;

	session_find_funcs(o->session, name, &found);
	assert_int_equal(found.len, 1);
	f = found.data[0];
	vec_free(&found);
	return f;
}

static inline size_t metric_id(struct opened *o, const char *name)
{
	const struct metric *m = metric_find(&o->metrics, name);

	assert_non_null(m);
	return m->id;
}

/* A value in the builder's ticks. */
static inline int64_t excl(struct opened *o, const char *func, const char *metric)
{
	const struct tally *t = view_tally(&o->view);

	return tally_excl(t, the_func(o, func)->id)[metric_id(o, metric)] / BUILDER_TICK_NS;
}

static inline int64_t incl(struct opened *o, const char *func, const char *metric)
{
	const struct tally *t = view_tally(&o->view);

	return tally_incl(t, the_func(o, func)->id)[metric_id(o, metric)] / BUILDER_TICK_NS;
}

static inline int64_t total(struct opened *o, const char *metric)
{
	return view_tally(&o->view)->total[metric_id(o, metric)] / BUILDER_TICK_NS;
}

/* The value that a caller (or callee) contributes to a function; -1: it is not one of them. */
static inline int64_t attributed(struct opened *o, bool callers, const char *func,
				 const char *neighbour, const char *metric)
{
	struct func *f = the_func(o, func);
	uint32_t other = the_func(o, neighbour)->id;
	const struct neighbours *side;
	struct callers sums;
	int64_t ret = -1;

	callers_init(&sums, view_tally(&o->view));
	callers_find(&sums, &f, 1);
	side = callers ? &sums.callers : &sums.callees;
	for (size_t i = 0; i < side->funcs.len; i++) {
		if (side->funcs.data[i] == other)
			ret = neighbour_values(&sums, side, i)[metric_id(o, metric)] /
			      BUILDER_TICK_NS;
	}
	callers_free(&sums);
	return ret;
}

#endif
