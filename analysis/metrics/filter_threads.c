/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/filter_impl.h"

/* Properties that all packets of a thread share, as long as it has its name and its cgroup. */
static const struct {
	const char *name;
	enum filter_choice choice;
} shared[] = {
	{ "PID", CHOOSES_THREADS },   { "TID", CHOOSES_THREADS },     { "THRID", CHOOSES_THREADS },
	{ "LWPID", CHOOSES_THREADS }, { "EXPID", CHOOSES_THREADS },   { "EXPGRID", CHOOSES_THREADS },
	{ "TWICE", CHOOSES_THREADS }, { "COMM", CHOOSES_NAMES },      { "CGROUP", CHOOSES_NAMES },
};

static enum filter_choice choice_of_property(const struct node *n)
{
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		const struct property *p = property_find(shared[i].name);

		if (p && n->get == p->get && n->text == p->text && !n->field)
			return shared[i].choice;
	}
	return CHOOSES_PACKETS;
}

static enum filter_choice choice_of_node(const struct node *n)
{
	switch (n->kind) {
	case NODE_CONST:
	case NODE_MATCH:
	case NODE_HAS:
	case NODE_UNARY:
	case NODE_BINARY:
	case NODE_COND:
	case NODE_LIST:
		return CHOOSES_THREADS;
	case NODE_PROPERTY:
	case NODE_TEXT:
		return choice_of_property(n);
	default:
		return CHOOSES_PACKETS;
	}
}

enum filter_choice filter_chooses(const struct filter *f)
{
	enum filter_choice ret = CHOOSES_THREADS;

	vec_for_each (np, &f->nodes) {
		enum filter_choice c = choice_of_node(*np);

		ret = c > ret ? c : ret;
	}
	return ret;
}
