/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/experiment/expwriter.h"
#include "analysis/experiment/span.h"
#include "analysis/experiment/xml.h"

static void put_number(struct buf *b, const char *name, uint64_t value)
{
	if (value)
		buf_printf(b, " %s=\"%" PRIu64 "\"", name, value);
}

static bool has_state(const struct span_row *row, const struct mstate_desc *m)
{
	return m->span && (!m->on_cpu || row->split);
}

/* bucket:count of those that are not empty, each bucket as its distance from the one before. */
static void put_hist(struct buf *b, const uint64_t *hist)
{
	unsigned last = 0;

	buf_puts(b, " hist=\"");
	for (unsigned i = 0; i < SPAN_BUCKETS; i++) {
		if (!hist[i])
			continue;
		buf_printf(b, "%u:%" PRIu64 " ", i - last, hist[i]);
		last = i;
	}
	buf_puts(b, "\"");
}

void span_put_row(struct buf *b, const struct span_row *row)
{
	buf_printf(b, "<span number=\"%" PRIu32 "\"", row->number);
	xml_attr(b, "name", row->name);
	xml_attr(b, "spec", row->spec);
	put_number(b, "sites", row->sites);
	put_number(b, "threshold", row->threshold_ns);
	buf_printf(b, " count=\"%" PRIu64 "\"", row->count);
	put_number(b, "duration", row->dur_ns);
	put_number(b, "max", row->max_ns);
	put_number(b, "run", row->run_ns);
	put_number(b, "split", row->split);
	for (int i = 0; i < MS_COUNT; i++) {
		if (has_state(row, &mstate_descs[i]))
			put_number(b, mstate_descs[i].attr, row->state_ns[i]);
	}
	put_number(b, "stolen", row->stolen_ns);
	put_number(b, "waits", row->waits);
	put_number(b, "minflt", row->minflt);
	put_number(b, "majflt", row->majflt);
	put_number(b, "unended", row->unended);
	put_number(b, "nobegin", row->nobegin);
	put_number(b, "noroom", row->noroom);
	put_number(b, "lost", row->lost);
	if (row->hist)
		put_hist(b, row->hist);
	buf_puts(b, "/>\n");
}

void expwriter_span_text(struct expwriter *founder, uint32_t number, const char *text, size_t n)
{
	__cleanup(freep) char *copy = xstrndup(text, n);
	struct buf b = { 0 };

	buf_printf(&b, "<text number=\"%" PRIu32 "\"", number);
	xml_attr(&b, "value", copy);
	buf_puts(&b, "/>");
	expwriter_text(founder, SPAN_STRINGS ".gz", b.data);
	buf_free(&b);
}

void expwriter_span(struct expwriter *w, const struct span_packet *p)
{
	const int64_t values[] = {
		p->lwp, p->thread, p->cpu, p->end_ns, p->stack, p->name, p->depth, p->id, p->parent,
		p->dur_ns, p->run_ns, p->state_ns[MS_USER], p->state_ns[MS_SYSTEM],
		p->state_ns[MS_TFAULT], p->state_ns[MS_DFAULT], p->state_ns[MS_KFAULT],
		p->state_ns[MS_USER_LOCK], p->state_ns[MS_SLEEP], p->state_ns[MS_WAIT_CPU],
		p->state_ns[MS_STOPPED], p->stolen_ns, p->waits, p->minflt, p->majflt, p->flags,
		p->text, p->seq, p->args[0], p->args[1], p->args[2], p->args[3],
	};

	expwriter_packet(w, ER_PKT_SPAN, values, NULL);
}
