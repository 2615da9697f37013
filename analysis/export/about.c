/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/about.h"

#include <string.h>

#include "analysis/experiment/exp_recorder.h"
#include "analysis/export/export.h"
#include "analysis/metrics/filter.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

/* All waits of at least this length have packets, in nanoseconds. 0: none. 1: all waits. */
static int64_t trace_threshold(const struct experiment *founder)
{
	vec_for_each(el, &founder->recorder) {
		if (!strcmp(el->name, "capture"))
			return element_int(el, "trace_ns");
	}
	return 0;
}

bool waits_are_complete(const struct session *s)
{
	vec_for_each(e, &s->experiments) {
		if (!(*e)->founder && trace_threshold(*e) != 1)
			return false;
	}
	return true;
}

static bool has_threads(const struct session *s)
{
	vec_for_each(e, &s->experiments) {
		if ((*e)->threads.len)
			return true;
	}
	return false;
}

void about(const struct export *x, struct table *ret)
{
	struct view_state *v = x->view;
	const char *filter = v->filter ? filter_text(v->filter) : NULL;

	*ret = (struct table){ 0 };
	if (x->redact)
		view_header_anonymous(v, ret);
	else
		view_header_short(v, NULL, ret, x->diag);
	/* The last line names a command of er_print. */
	if (ret->rows.len && *ret->rows.data[ret->rows.len - 1].cells[0].s == '`')
		ret->rows.len--;
	if (filter && *filter && !x->redact)
		put_line(ret, "Exported with the filter: %s", filter);
	if (has_threads(v->session) && !waits_are_complete(v->session))
		put_line(ret, "Waits are sampled in proportion to their length: times of waits are "
			 "estimates, and short waits may have no event of their own.");
}
