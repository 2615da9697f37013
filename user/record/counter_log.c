/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/counter_log.h"

#include <inttypes.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/expwriter.h"
#include "analysis/experiment/xml.h"
#include "user/record/recorder_base.h"

void counters_announce(const counter_list *l, struct expwriter *w)
{
	struct exp_counter_desc descs[COUNTER_MODES * ER_MAX_COUNTERS];
	size_t n = 0;

	for (size_t i = 0; i < l->len * COUNTER_MODES; i++) {
		const struct counter *c = &l->data[i / COUNTER_MODES];
		const struct counter_metric *m = &c->metrics[i % COUNTER_MODES];

		if (m->name)
			descs[n++] = (struct exp_counter_desc){
				.tag = counter_tag(i / COUNTER_MODES, i % COUNTER_MODES),
				.name = m->name, .int_name = m->int_name, .label = m->label,
				.interval = c->event.interval, .cycles = c->unit == COUNTER_CYCLES,
				.data = c->event.data };
	}
	expwriter_counter_profile(w, ER_PKT_HWC, descs, n);
}

void counters_xml(const struct recorder_xml *a, struct buf *b)
{
	const counter_list *l = &a->plan->counters;

	for (size_t i = 0; i < l->len; i++) {
		struct capture_counted n;

		recorder_counted(a, i, &n);
		buf_puts(b, "<counter");
		xml_attr(b, "name", l->data[i].name);
		buf_printf(b, " interval=\"%" PRIu64 "\"", l->data[i].event.interval);
		if (a->stop_ns)
			buf_printf(b, " events=\"%" PRIu64 "\" seen=\"%" PRIu64 "\" enabled_ns=\"%" PRIu64
				   "\" running_ns=\"%" PRIu64 "\"", n.events, n.seen, n.enabled_ns,
				   n.running_ns);
		buf_puts(b, "/>\n");
	}
}
