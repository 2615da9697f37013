/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/filter_impl.h"

/* Properties that all packets of a thread share. A thread's name and its cgroup may change. */
static bool is_of_thread(const struct node *n)
{
	static const char *const names[] = { "PID",    "TID",	"THRID",   "LWPID", "COMM",
					     "CGROUP", "EXPID", "EXPGRID", "TWICE" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct property *p = property_find(names[i]);

		if (p && n->get == p->get && n->text == p->text && !n->field)
			return true;
	}
	return false;
}

bool filter_is_of_threads(const struct filter *f)
{
	vec_for_each (np, &f->nodes) {
		const struct node *n = *np;

		switch (n->kind) {
		case NODE_CONST:
		case NODE_MATCH:
		case NODE_HAS:
		case NODE_UNARY:
		case NODE_BINARY:
		case NODE_COND:
		case NODE_LIST:
			continue;
		case NODE_PROPERTY:
		case NODE_TEXT:
			if (is_of_thread(n))
				continue;
			return false;
		default:
			return false;
		}
	}
	return true;
}
