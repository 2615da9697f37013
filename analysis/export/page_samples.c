/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_samples.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/json.h"
#include "analysis/base/wrap.h"
#include "analysis/model/session.h"

static bool is_point(const struct exp_event *ev)
{
	return !strcmp(ev->kind, "sample");
}

static bool have_own_points(const struct session *s)
{
	vec_for_each(e, &s->experiments) {
		vec_for_each(ev, &(*e)->events) {
			if ((*e)->founder && is_point(ev))
				return true;
		}
	}
	return false;
}

static size_t put_points(const struct experiment *e, bool labels, size_t n, struct buf *b)
{
	vec_for_each(ev, &e->events) {
		if (!is_point(ev))
			continue;
		buf_printf(b, "%s[%u,%" PRId64 ",%" PRId64 ",", n++ ? "," : ",\"samples\":[", e->origin->id,
			   e->first_sample + ev->id, wrap_plus(ev->time_ns, experiment_offset_ns(e)) / 1000);
		json_put_string(b, labels ? ev->label : "");
		buf_puts(b, "]");
	}
	return n;
}

void put_sample_points(const struct session *s, bool labels, struct buf *b)
{
	size_t n = 0;

	if (have_own_points(s))
		return;
	vec_for_each(e, &s->experiments) {
		if (!(*e)->founder)
			n = put_points(*e, labels, n, b);
	}
	buf_puts(b, n ? "]" : "");
}
