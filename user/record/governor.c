/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/governor.h"

#include <inttypes.h>

#include "analysis/experiment/xml.h"

enum {
	PATIENCE = 5,       /* checks before a level is restored */
	MAX_CHANGES = 1000, /* changes that are kept; later ones would add nothing new */
};

#define SECOND_NS 1000000000ULL

static const char *const shed_names[] = {
	[SHED_NOTHING] = "nothing",
	[SHED_WAKER_STACKS] = "waker stacks",
	[SHED_USER_STACKS] = "waker stacks, user stacks of waits",
	[SHED_SHORT_STACKS] = "waker stacks, user stacks of waits, stacks of short waits",
};

const char *governor_left_out(enum capture_shedding level)
{
	return shed_names[level];
}

void governor_init(struct governor *g, double budget, unsigned ncpus)
{
	*g = (struct governor){ .budget = budget, .ncpus = ncpus ? ncpus : 1 };
}

void governor_free(struct governor *g)
{
	vec_free(&g->changes);
}

static bool set_level(struct governor *g, enum capture_shedding level, uint64_t time_ns, double cost)
{
	g->level = level;
	g->quiet = 0;
	if (g->changes.len < MAX_CHANGES)
		vec_push(&g->changes, (struct shed_change){ time_ns, level, cost });
	return true;
}

bool governor_look(struct governor *g, uint64_t time_ns, uint64_t cost_ns)
{
	uint64_t spent = cost_ns - g->last_cost_ns, elapsed = time_ns - g->last_ns;
	bool first = !g->last_ns;
	double cost;

	if (!g->budget || time_ns <= g->last_ns)
		return false;
	g->last_ns = time_ns;
	g->last_cost_ns = cost_ns;
	if (first || cost_ns < spent) /* the cost of starting is not the cost of recording */
		return false;
	cost = (double)spent / ((double)elapsed * g->ncpus);
	if (cost > g->budget && g->level < SHED_SHORT_STACKS)
		return set_level(g, g->level + 1, time_ns, cost);
	g->quiet = cost < g->budget / 2 ? g->quiet + 1 : 0;
	if (g->quiet >= PATIENCE && g->level > SHED_NOTHING)
		return set_level(g, g->level - 1, time_ns, cost);
	return false;
}

void governor_write(const struct governor *g, uint64_t start_ns, struct buf *b)
{
	if (!g->budget)
		return;
	buf_printf(b, "<budget percent=\"%g\"/>\n", 100 * g->budget);
	vec_for_each(c, &g->changes) {
		buf_printf(b, "<shed second=\"%" PRIu64 "\"",
			   c->time_ns > start_ns ? (uint64_t)((c->time_ns - start_ns) / SECOND_NS) : 0);
		xml_attr(b, "what", shed_names[c->level]);
		buf_printf(b, " cost=\"%.2f\"/>\n", 100 * c->cost);
	}
}
