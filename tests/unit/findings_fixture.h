/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of the rules of findings: an experiment, and what the rules find in it. */
#ifndef UNIT_FINDINGS_FIXTURE_H
#define UNIT_FINDINGS_FIXTURE_H

#include "analysis/findings/findings.h"
#include "tests/unit/waitviews_fixture.h"

struct made {
	struct opened o;
	struct arena arena;
	finding_vec found;
};

static inline void make(struct made *m)
{
	findings_make(&m->o.view, &m->arena, &m->found);
}

static inline void unmake(struct made *m)
{
	vec_free(&m->found);
	arena_free(&m->arena);
	fixture_free(&m->o);
}

static inline const struct finding *finding_of(const struct made *m, const char *rule)
{
	vec_for_each(g, &m->found) {
		if (!strcmp(g->rule, rule))
			return g;
	}
	return NULL;
}

/* A thread that computed for 100 ms, and waits of another thread. */
static inline void begin(struct made *m)
{
	*m = (struct made){ 0 };
	fixture_new(&m->o);
	exp_builder_profile(m->o.builder, 1, "main>work", MS_USER, 70);
	exp_builder_profile(m->o.builder, 1, "main>rest", MS_USER, 30);
}

#endif
