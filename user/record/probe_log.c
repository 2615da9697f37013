/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/probe_log.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/expwriter.h"
#include "analysis/experiment/xml.h"
#include "user/record/recorder_base.h"

void probes_announce(const probe_list *l, struct expwriter *w)
{
	struct exp_counter_desc descs[ER_MAX_PROBES] = { 0 };
	char *labels[ER_MAX_PROBES];
	size_t n = 0;

	for (size_t i = 0; i < l->len; i++) {
		const struct probe *p = &l->data[i];

		if (p->counts_only)
			continue;
		labels[n] = xasprintf("%s Hits", p->metric);
		descs[n] = (struct exp_counter_desc){ .tag = i, .name = p->metric, .int_name = p->spec.name,
						      .label = labels[n] };
		n++;
	}
	expwriter_counter_profile(w, ER_PKT_PROBE, descs, n);
	while (n)
		free(labels[--n]);
}

/* The kernel tells the runs that it left out of all probes together. */
void probes_xml(const struct recorder_xml *a, struct buf *b)
{
	const probe_list *l = &a->plan->probes;

	for (size_t i = 0; i < l->len; i++) {
		const struct probe *p = &l->data[i];
		struct capture_probed n;

		recorder_probed(a, i, &n);
		buf_puts(b, "<probe");
		xml_attr(b, "name", p->metric);
		xml_attr(b, "spec", p->spec.text);
		buf_printf(b, " sites=\"%zu\" counts_only=\"%d\" hits=\"%" PRIu64 "\"", probe_nplaces(p),
			   p->counts_only, n.hits);
		if (n.unread)
			buf_printf(b, " unread=\"%" PRIu64 "\"", n.unread);
		if (n.missed && !i)
			buf_printf(b, " missed=\"%" PRIu64 "\"", n.missed);
		buf_puts(b, "/>\n");
	}
}
