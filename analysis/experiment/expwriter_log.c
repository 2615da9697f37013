/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/experiment/expwriter_impl.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/experiment/usage.h"
#include "analysis/experiment/xml.h"

enum { NSEC = 1000000000 };

static void put_time(struct buf *b, const char *name, uint64_t ns)
{
	buf_printf(b, " %s=\"%" PRIu64 ".%09u\"", name, ns / NSEC, (unsigned)(ns % NSEC));
}

void put_stamp(const struct expwriter *w, struct buf *b, const char *name, uint64_t time_ns)
{
	put_time(b, name, time_ns > w->start_ns ? time_ns - w->start_ns : 0);
}

static void put_text(struct buf *b, const char *element, const char *text)
{
	buf_printf(b, "<%s>", element);
	xml_escape(b, text);
	buf_printf(b, "</%s>\n", element);
}

static void put_system(struct buf *b, const struct exp_header *h)
{
	buf_puts(b, "<system");
	xml_attr(b, "hostname", h->hostname);
	xml_attr(b, "arch", h->arch);
	xml_attr(b, "os", h->os);
	buf_printf(b, " pagesz=\"%ld\" npages=\"%ld\">\n", h->pagesize, h->npages);
	for (size_t i = 0; i < h->ncpus; i++)
		buf_printf(b, "<cpu id=\"%d\" clk=\"%u\"/>\n", h->cpus[i].id, h->cpus[i].mhz);
	buf_puts(b, "</system>\n");
}

/*
 * wsize is the width of addresses on disk. It is 64 for every process, as stacks go on
 * into the kernel. A comment says that a process itself has 32 (log_header).
 */
static void put_process(struct buf *b, const struct exp_header *h)
{
	buf_printf(b, "<process pid=\"%d\" ppid=\"%d\"", h->pid, h->ppid);
	if (h->pgrp || h->sid)
		buf_printf(b, " pgrp=\"%d\" sid=\"%d\"", h->pgrp, h->sid);
	xml_attr(b, "cwd", h->cwd);
	buf_puts(b, " wsize=\"64\">");
	xml_escape(b, h->command);
	buf_puts(b, "</process>\n");
}

static void put_origin(struct buf *b, const struct exp_header *h)
{
	buf_puts(b, "<experiment version=\"12.4\">\n");
	put_text(b, "collector", h->collector);
	buf_puts(b, "</experiment>\n");
	put_system(b, h);
}

static void put_run(struct buf *b, const struct exp_header *h)
{
	struct tm tm = { 0 };

	if (h->sample_period_s)
		buf_printf(b, "<setting sample_period=\"%" PRIu64 "\"/>\n", h->sample_period_s);
	localtime_r(&h->start_epoch, &tm);
	buf_puts(b, "<event kind=\"run\"");
	put_time(b, "tstamp", h->start_ns);
	buf_printf(b, " time=\"%lld\" tm_zone=\"%ld\"/>\n", (long long)h->start_epoch, tm.tm_gmtoff);
}

void log_header(struct expwriter *w, const struct exp_header *h)
{
	struct buf *b = out_buf(w, OUT_LOG);

	if (!w->founder)
		put_origin(b, h);
	put_process(b, h);
	if (!w->founder)
		put_run(b, h);
	if (h->wordsize == 32)
		expwriter_message(w, "comment", EXP_MSG_OURS, h->start_ns,
				  "the process has 32-bit addresses");
}

/* Readers need the word size before they read stacks, and they read stacks before map.xml. */
void log_common(struct expwriter *w, const struct exp_header *h)
{
	struct buf *b = &w->common;

	put_origin(b, h);
	buf_puts(b, "<process wsize=\"64\"></process>\n");
	put_run(b, h);
	put_kernel(w, b);
}

static void put_field(struct buf *b, const struct field_desc *f)
{
	buf_puts(b, "<field");
	xml_attr(b, "name", f->name);
	if (f->uname)
		xml_attr(b, "uname", f->uname);
	buf_printf(b, " offset=\"%u\" type=\"%s\"/>\n", f->offset, er_type_name(f->type));
}

static void put_packet(struct buf *b, enum er_packet kind)
{
	const struct packet_desc *d = packet_desc(kind);

	buf_printf(b, "<profpckt kind=\"%d\"", d->kind);
	xml_attr(b, "uname", d->uname);
	buf_puts(b, ">\n");
	for (size_t i = 0; i < d->nfields; i++) {
		if (d->fields[i].offset)
			put_field(b, &d->fields[i]);
	}
	buf_puts(b, "</profpckt>\n");
}

static void begin_profile(struct buf *b, enum er_packet kind, const char *fname, const char *attrs)
{
	buf_printf(b, "<profile name=\"%s\"%s%s>\n", packet_desc(kind)->profile, attrs ? " " : "",
		   attrs ? attrs : "");
	buf_printf(b, "<profdata fname=\"%s\"/>\n", fname);
}

void expwriter_profile(struct expwriter *w, enum er_packet kind, const char *attrs)
{
	struct buf *b = out_buf(w, OUT_LOG);

	begin_profile(b, kind, packet_desc(kind)->fname, attrs);
	put_packet(b, kind);
	buf_puts(b, "</profile>\n");
}

/* In a part, packets are in the same file as stacks: opening a second file would cost more. */
void expwriter_clock_profile(struct expwriter *w, unsigned ptimer_us, enum er_stateset states,
			     bool waits)
{
	__cleanup(freep) char *attrs =
		xasprintf("ptimer=\"%u\" numstates=\"%d\"", ptimer_us, states);
	struct buf *b = out_buf(w, OUT_LOG);

	begin_profile(b, ER_PKT_CLOCK,
		      w->for_parts ? "data.frameinfo" : packet_desc(ER_PKT_CLOCK)->fname, attrs);
	put_packet(b, ER_PKT_CLOCK);
	for (unsigned kind = ER_PKT_WAIT; kind < PACKED_FIRST + PACKED_KINDS; kind++) {
		if (is_wait_kind(kind) ? waits : is_packed_kind(kind))
			put_packet(b, kind);
	}
	buf_puts(b, "</profile>\n");
	*(w->for_parts ? &w->parts_have_waits : &w->has_waits) = waits;
}

void expwriter_parts_begin(struct expwriter *w, const struct exp_header *h)
{
	log_common(w, h);
	w->for_parts = true;
}

void expwriter_parts_end(struct expwriter *w)
{
	w->for_parts = false;
}

/*
 * Counters are written as simulated ones. For these gprofng takes label and unit from
 * here; for others it uses tables of CPUs, by a number (cpuver) that is no longer
 * assigned.
 */
enum { LOAD_STORE = 3 }; /* gprofng's ABST_LDST */

static void put_counter(struct buf *b, enum er_packet kind, const struct exp_counter_desc *c, bool last)
{
	buf_printf(b, "<profile name=\"%s\" cpuver=\"0\"",
		   kind == ER_PKT_HWC ? "hwsimctr" : packet_desc(kind)->profile);
	xml_attr(b, "hwcname", c->name);
	xml_attr(b, "int_name", c->int_name);
	xml_attr(b, "metric", c->label);
	buf_printf(b, " reg_num=\"0\" interval=\"%" PRId64 "\" timecvt=\"%d\" memop=\"%d\" tag=\"%d\"%s>\n",
		   c->interval, c->cycles, c->data ? LOAD_STORE : 0, c->tag, last ? "" : "/");
}

/* Each counter has an element; the last one describes the packets of all. */
void expwriter_counter_profile(struct expwriter *w, enum er_packet kind, const struct exp_counter_desc *c,
			       size_t n)
{
	struct buf *b = out_buf(w, OUT_LOG);

	size_t ndata = 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		put_counter(b, kind, &c[i], i + 1 == n);
		ndata += c[i].data;
	}
	buf_printf(b, "<profdata fname=\"%s\"/>\n", packet_desc(kind)->fname);
	if (ndata < n)
		put_packet(b, kind);
	if (ndata)
		put_packet(b, ER_PKT_MHWC);
	buf_puts(b, "</profile>\n");
}

static void put_event(struct expwriter *w, struct buf *b, const char *kind, uint64_t time_ns,
		      const char *attrs)
{
	buf_printf(b, "<event kind=\"%s\"", kind);
	put_stamp(w, b, "tstamp", time_ns);
	buf_printf(b, "%s%s/>\n", attrs ? " " : "", attrs ? attrs : "");
}

void expwriter_event(struct expwriter *w, const char *kind, uint64_t time_ns, const char *attrs)
{
	put_event(w, out_buf(w, OUT_LOG), kind, time_ns, attrs);
}

void expwriter_message(struct expwriter *w, const char *kind, int id, uint64_t time_ns,
		       const char *text)
{
	struct buf *b = out_buf(w, OUT_LOG);

	buf_printf(b, "<event kind=\"%s\" id=\"%d\"", kind, id);
	put_stamp(w, b, "tstamp", time_ns);
	/*
	 * gprofng shows a comment's text only from an attribute, other messages' only
	 * from the element.
	 */
	if (!strcmp(kind, "comment")) {
		xml_attr(b, "text", text);
		buf_puts(b, "/>\n");
		return;
	}
	buf_puts(b, ">");
	xml_escape(b, text);
	buf_puts(b, "</event>\n");
}

void expwriter_exit(struct expwriter *w, uint64_t time_ns)
{
	put_event(w, out_buf(w, OUT_EXIT), "exit", time_ns, NULL);
}

void expwriter_sample(struct expwriter *w, const struct exp_usage *u, const char *label)
{
	struct buf attrs = { 0 };

	usage_encode(u, buf_zero(out_buf(w, OUT_USAGE), USAGE_SIZE));
	buf_printf(&attrs, "id=\"%u\"", w->nsamples++);
	xml_attr(&attrs, "label", label);
	expwriter_event(w, "sample", u->time_ns, attrs.data);
	buf_free(&attrs);
}
