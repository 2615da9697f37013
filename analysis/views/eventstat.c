/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heapstat and iostat: numbers of calls by size; least size, largest size and sum. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/leaks.h"
#include "analysis/metrics/pass.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

/* Ranges of sizes, as in gprofng. A range holds sizes up to its end that no earlier range holds. */
static const struct size_range {
	const char *name;
	uint64_t end;
} ranges[] = {
	{ "0KB - 1KB", 1024 }, { "1KB - 8KB", 8 * 1024 }, { "8KB - 32KB", 32 * 1024 },
	{ "32KB - 128KB", 128 * 1024 }, { "128KB - 256KB", 256 * 1024 },
	{ "256KB - 512KB", 512 * 1024 }, { "512KB - 1000KB", 1000 * 1024 },
	{ "1000KB - 10MB", (uint64_t)10 << 20 }, { "10MB - 100MB", (uint64_t)100 << 20 },
	{ "100MB - 1GB", (uint64_t)1 << 30 }, { "1GB - 10GB", (uint64_t)10 << 30 },
	{ "10GB - 100GB", (uint64_t)100 << 30 }, { "100GB - 1TB", (uint64_t)1 << 40 },
	{ "1TB - 10TB", (uint64_t)10 << 40 }, { "10TB and more", UINT64_MAX },
};

enum { NRANGES = sizeof(ranges) / sizeof(ranges[0]) };

/* The statistics of one kind of calls. */
struct stat {
	uint64_t in_range[NRANGES], calls, bytes, least, most;
	int64_t time_ns, longest_ns;
	double variance; /* of bytes, where only a sample was recorded */
};

static void stat_add(struct stat *s, uint64_t bytes, int64_t ns)
{
	int i = 0;

	while (i < NRANGES - 1 && bytes > ranges[i].end)
		i++;
	s->in_range[i]++;
	s->least = !s->calls || bytes < s->least ? bytes : s->least;
	s->most = bytes > s->most ? bytes : s->most;
	s->longest_ns = ns > s->longest_ns ? ns : s->longest_ns;
	s->calls++;
	s->bytes += bytes;
	add_to(&s->time_ns, ns);
}

/* A group of lines: a title, then labels and values. */
struct lines {
	struct table *t;
	int group;
};

static void begin(struct lines *l, const char *title)
{
	struct row *r;

	if (l->t->rows.len)
		l->group++;
	r = table_row(l->t);
	r->group = l->group;
	put_text(r, 0, title);
}

static void number(struct lines *l, const char *label, uint64_t n)
{
	struct row *r = table_row(l->t);

	r->group = l->group;
	put_textf(l->t, r, 0, "  %s", label);
	r->cells[1] = (struct cell){ .kind = CELL_COUNT, .i = n };
}

static void seconds(struct lines *l, const char *label, int64_t ns)
{
	struct row *r = table_row(l->t);

	r->group = l->group;
	put_textf(l->t, r, 0, "  %s", label);
	r->cells[1] = (struct cell){ .kind = CELL_TIME, .i = ns };
}

/* Calls take microseconds, so times are milliseconds with three decimals. */
static void milliseconds(struct lines *l, const char *label, int64_t ns)
{
	struct row *r = table_row(l->t);

	r->group = l->group;
	put_textf(l->t, r, 0, "  %s", label);
	r->cells[1] = (struct cell){ .kind = CELL_MSEC, .i = ns };
}

static void sizes(struct lines *l, const struct stat *s)
{
	for (int i = 0; i < NRANGES; i++) {
		if (s->in_range[i])
			number(l, ranges[i].name, s->in_range[i]);
	}
}

static void columns(struct table *t, const char *name)
{
	t->name = name;
	text_column(t, NULL);
	vec_push(&t->columns, (struct column){ .kind = CELL_COUNT });
}

/* The field in the stream of the current hits. */
struct field_cache {
	const struct exp_stream *stream;
	struct field_ref type, size, start;
};

static void cache_fields(struct field_cache *c, const struct hit *h, const char *type,
			 const char *size, const char *start)
{
	if (c->stream == h->stream)
		return;
	*c = (struct field_cache){ .stream = h->stream, .type = stream_field(h->stream, type),
				   .size = stream_field(h->stream, size) };
	if (start)
		c->start = stream_field(h->stream, start);
}

struct heap_stat {
	const struct leaks *leaks;
	struct field_cache fields;
	struct stat allocated, leaked;
	struct map *passed; /* addresses of the packets that pass the filter; unused without one */
};

static void add_heap(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct heap_stat *hs = ctx;
	uint64_t leaked, size;
	double variance;
	int64_t type;

	if (h->stream->kind != ER_PKT_HEAP)
		return;
	if (hs->passed)
		map_put(hs->passed, (uintptr_t)h->packet->p, NULL);
	cache_fields(&hs->fields, h, "HTYPE", "HSIZE", NULL);
	type = packet_int(h->packet, hs->fields.type);
	if (type != HEAP_MALLOC && type != HEAP_REALLOC && type != HEAP_MMAP)
		return;
	size = packet_int(h->packet, hs->fields.size);
	variance = leaks_variance(h->stream, type, size);
	stat_add(&hs->allocated, size, 0);
	hs->allocated.variance += variance;
	leaked = leaks_of(hs->leaks, h->packet);
	if (leaked) {
		stat_add(&hs->leaked, leaked, 0);
		hs->leaked.variance += variance;
	}
}

static struct heap_peak highest_peak(const struct leaks *leaks)
{
	size_t n;
	const struct heap_peak *p = leaks_peaks(leaks, &n), *highest = p;

	for (size_t i = 1; i < n; i++)
		highest = p[i].bytes >= highest->bytes ? &p[i] : highest;
	return *highest;
}

/* Sums of bytes of a sampled heap are estimates. */
static void estimated(struct lines *l, const char *label, uint64_t n, bool sampled)
{
	number(l, label, n);
	l->t->rows.data[l->t->rows.len - 1].cells[1].estimate = sampled;
}

static void put_peak(struct lines *l, const struct heap_peak *highest, bool sampled)
{
	begin(l, "Process With Highest Peak Memory Usage");
	estimated(l, "Heap size bytes", highest->bytes, sampled);
	if (!highest->e || !highest->bytes)
		return;
	number(l, "Experiment Id", highest->e->id);
	number(l, "Process Id", highest->e->pid);
	seconds(l, "Time of peak (secs.)", highest->time_ns);
}

static void put_heap(struct lines *l, const char *title, const char *const labels[4],
		     const struct stat *s, bool sampled)
{
	begin(l, title);
	sizes(l, s);
	number(l, labels[0], s->least);
	number(l, labels[1], s->most);
	number(l, labels[2], s->calls);
	estimated(l, labels[3], s->bytes, sampled);
	if (sampled)
		number(l, "Standard error, bytes", llround(sqrt(s->variance)));
}

/* Shown only if there are any, as gprofng has no such lines. */
static void put_unknown(struct lines *l, const struct leaks *leaks)
{
	uint64_t n = leaks_unknown_frees(leaks);

	if (!n)
		return;
	begin(l, "Frees of Blocks Allocated Before the Recording");
	number(l, "Total frees", n);
}

int view_heapstat(struct view_state *v, struct table *t, struct diag *d)
{
	static const char *const of_allocations[] = {
		"Smallest allocation bytes", "Largest allocation bytes", "Total allocations",
		"Total bytes",
	};
	static const char *const of_leaks[] = {
		"Smallest leaked bytes", "Largest leaked bytes", "Total leaked", "Total bytes",
	};
	struct map passed = { 0 };
	struct heap_stat hs = { .leaks = v->metric_set->leaks, .passed = v->filter ? &passed : NULL };
	struct lines l = { .t = t };
	struct heap_peak peak;
	bool sampled = leaks_sampled(v->session);

	if (!hs.leaks)
		return diag_error(d, "heapstat: the experiments were recorded without heap tracing "
				  "(collect -H on)");
	columns(t, "heapstat");
	pass_run(v->session, v->metric_set, v->filter, add_heap, NULL, &hs);
	if (v->filter)
		leaks_peak_among(v->session, &passed, &peak);
	else
		peak = highest_peak(hs.leaks);
	map_free(&passed);
	put_peak(&l, &peak, sampled);
	put_heap(&l, "Memory Allocations Statistics", of_allocations, &hs.allocated, sampled);
	put_heap(&l, "Memory Leaks Statistics", of_leaks, &hs.leaked, sampled);
	put_unknown(&l, hs.leaks);
	return 0;
}

enum io_class { IO_WRITE, IO_READ, IO_OTHER, IO_ERROR, NCLASSES };

struct io_stat {
	struct field_cache fields;
	struct stat by_class[NCLASSES];
};

static void add_io(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	/*
	 * Classes by field IOTYPE: read, write, open, close, other; then the same for failed
	 * calls.
	 */
	static const enum io_class classes[] = {
		IO_READ, IO_WRITE, IO_OTHER, IO_OTHER, IO_OTHER,
		IO_ERROR, IO_ERROR, IO_ERROR, IO_ERROR, IO_ERROR,
	};
	struct io_stat *is = ctx;
	uint64_t type;
	int64_t ns;

	if (h->stream->kind != ER_PKT_IO)
		return;
	cache_fields(&is->fields, h, "IOTYPE", "IONBYTE", "IORQST");
	type = packet_int(h->packet, is->fields.type);
	if (type >= sizeof(classes) / sizeof(classes[0]))
		return;
	ns = packet_int(h->packet, h->fields->time);
	add_to(&ns, -(uint64_t)packet_int(h->packet, is->fields.start));
	stat_add(&is->by_class[classes[type]], packet_int(h->packet, is->fields.size), ns);
}

static void put_io(struct lines *l, const char *title, const char *longest, const struct stat *s)
{
	begin(l, title);
	if (longest) {
		sizes(l, s);
		milliseconds(l, longest, s->longest_ns);
		number(l, "Smallest bytes", s->least);
		number(l, "Largest bytes", s->most);
	}
	milliseconds(l, "Total time (msec.)", s->time_ns);
	number(l, "Total calls", s->calls);
	if (longest)
		number(l, "Total bytes", s->bytes);
}

int view_iostat(struct view_state *v, struct table *t, struct diag *d)
{
	struct io_stat is = { .fields = { NULL } };
	struct lines l = { .t = t };

	if (!metric_find(v->metric_set, "iowritetime"))
		return diag_error(d, "iostat: the experiments were recorded without I/O tracing "
				  "(collect -i on)");
	columns(t, "iostat");
	pass_run(v->session, v->metric_set, v->filter, add_io, NULL, &is);
	put_io(&l, "Write Statistics", "Longest write (msec.)", &is.by_class[IO_WRITE]);
	put_io(&l, "Read Statistics", "Longest read (msec.)", &is.by_class[IO_READ]);
	put_io(&l, "Other I/O Statistics", NULL, &is.by_class[IO_OTHER]);
	put_io(&l, "I/O Error Statistics", NULL, &is.by_class[IO_ERROR]);
	return 0;
}
