/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_compare.h"

#include "analysis/base/buf.h"
#include "analysis/base/json.h"
#include "analysis/export/export.h"
#include "analysis/metrics/metric.h"
#include "analysis/model/builds.h"
#include "analysis/model/session.h"
#include "analysis/model/source.h"
#include "analysis/views/view_state.h"

static void put_groups(const struct export *x, struct buf *b)
{
	const struct session *s = x->view->session;

	buf_puts(b, ",\"groups\":[");
	for (size_t i = 0; i < s->groups.len; i++) {
		buf_puts(b, i ? "," : "");
		if (x->redact)
			buf_printf(b, "\"Recording %zu\"", i + 1);
		else
			json_put_string(b, s->groups.data[i]);
	}
	buf_puts(b, "]");
}

static void put_builds(const struct export *x, struct buf *b)
{
	struct strtab paths = { 0 };

	session_rebuilt(x->view->session, &paths);
	buf_puts(b, ",\"builds\":[");
	for (size_t i = 0; i < paths.len; i++) {
		buf_puts(b, i ? "," : "");
		json_put_string(b, x->redact ? base_name(paths.strings[i]) : paths.strings[i]);
	}
	buf_puts(b, "]");
	strtab_free(&paths);
}

/* Segments that were named one by one are no sides of a comparison. */
static bool is_one_recording(const struct session *s)
{
	vec_for_each(e, &s->experiments) {
		if ((*e)->origin != s->experiments.data[0]->origin)
			return false;
	}
	return true;
}

void put_comparison(const struct export *x, struct buf *b)
{
	const struct view_state *v = x->view;

	buf_printf(b, ",\"threshold\":%.9g", v->threshold);
	if (v->session->groups.len < 2 || is_one_recording(v->session))
		return;
	buf_printf(b, ",\"compare\":%s", v->metric_set->compare ? "true" : "false");
	put_groups(x, b);
	put_builds(x, b);
}
