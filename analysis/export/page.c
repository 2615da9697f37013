/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One HTML file that shows the recording in a browser, without a network. The application comes
 * first, then the index, then the events, so that the page can be used while the rest of the
 * file is still read. docs/howto-page.md describes the file.
 */
#include "analysis/base/diag.h"
#include "analysis/base/parallel.h"
#include "analysis/export/export.h"
#include "analysis/export/outfile.h"
#include "analysis/export/page_ahead.h"
#include "analysis/export/page_app.h"
#include "analysis/export/page_coarse.h"
#include "analysis/export/page_code.h"
#include "analysis/export/page_columns.h"
#include "analysis/export/page_events.h"
#include "analysis/export/page_heap.h"
#include "analysis/export/page_index.h"
#include "analysis/export/page_locks.h"
#include "analysis/export/page_reports.h"
#include "analysis/export/page_snapshots.h"
#include "analysis/metrics/leaks.h"
#include "analysis/views/view_state.h"

/* The part of --page-size that events of page_counts.h may have. */
enum { COUNTS_PART = 4 };

/* What follows the packs: an empty one, which shows that the file is whole, and this. */
static const struct packed no_pack;
static const char page_end[] = "\n</body>\n</html>\n";

struct page {
	const struct export *x;
	struct page_ahead ahead;
	struct page_events events;
	struct page_coarse coarse;
	struct pack raw_index;
	packed_vec columns, counts, snapshots, reports, later;
	struct packed index, code, places, heap, objects;
	bool has_code, has_heap;
	size_t ncoded; /* functions in `code` */
};

/* Lines and pcs name source files, so a redacted page has none. */
static bool has_places(const struct page *pg)
{
	return !pg->x->redact;
}

static void make_code_and_places(struct page *pg)
{
	struct pack p = { 0 };

	pg->has_code = make_code(pg->x, &pg->events, &pg->ncoded, &p);
	if (pg->has_code)
		pg->code = pack_compress(&p);
	pack_clear(&p);
	if (has_places(pg)) {
		put_places(pg->x->view, &pg->events.places, &pg->events.tree, &p);
		put_locks(pg->x->view, &pg->events, &p);
		pg->places = pack_compress(&p);
	}
	pack_free(&p);
}

static void make_events(struct page *pg)
{
	make_columns(&pg->events, &pg->columns);
	if (has_places(pg))
		make_later_columns(&pg->events, &pg->later);
}

/* The reports; and a section of the index, which says what other packs there are. */
static void make_all_reports(struct page *pg)
{
	struct buf rows = { 0 };

	make_reports(pg->x, &pg->events, pg->has_heap, &pg->ahead.reports, &pg->reports, &rows);
	if (pg->has_code)
		buf_printf(&rows, "%s\"code\":%zu", rows.len ? "," : "", pg->ncoded);
	if (has_places(pg))
		buf_printf(&rows, "%s\"places\":%zu", rows.len ? "," : "", pg->events.places.all.len);
	if (pg->has_heap)
		buf_printf(&rows, "%s\"heap\":%d", rows.len ? "," : "", leaks_sampled(pg->x->view->session) ? 2 : 1);
	pack_begin(&pg->raw_index, "rprt");
	buf_printf(&pg->raw_index.bytes, "{%s}", rows.len ? rows.data : "");
	pack_end(&pg->raw_index);
	buf_free(&rows);
}

/* A redacted page does not tell addresses. */
static void make_heap(struct page *pg)
{
	struct pack p = { 0 };

	pg->has_heap = !pg->x->redact && page_heap_usable(&pg->events.counts.heap);
	if (!pg->has_heap)
		return;
	put_heap(&pg->events.counts.heap, pg->x->view, &p);
	pg->heap = pack_compress(&p);
	pack_free(&p);
}

/* What is no time by state. The timeline can be made coarser to make room, but these cannot. */
static void make_counts(struct page *pg)
{
	struct page_counts *c = &pg->events.counts;
	size_t room;

	make_count_columns(&pg->events, &pg->counts);
	make_heap(pg);
	room = packs_room(&pg->counts) + packed_room(&pg->heap);
	c->left_out = pg->x->page_size && room > pg->x->page_size / COUNTS_PART;
	if (!c->left_out)
		return;
	packs_free(&pg->counts);
	packed_free(&pg->heap);
	pg->has_heap = false;
	diag_note(pg->x->diag,
		  "counters, memory and I/O need %.1f MB, more than a quarter of --page-size: in the page they do not obey "
		  "its filter", (double)room / (1 << 20));
}

/* The objects of events, which may have been merged since. A redacted page does not name them. */
static void make_objects(struct page *pg)
{
	struct pack p = { 0 };

	packed_free(&pg->objects);
	if (!pg->events.objects.types.len)
		return;
	put_objects(&pg->events.objects, &pg->events, &p);
	pg->objects = pack_compress(&p);
	pack_free(&p);
}

/* All but the events. This reads the session, which only one thread may do. */
static void make_tables(struct page *pg)
{
	make_counts(pg);
	make_objects(pg);
	make_code_and_places(pg);
	page_ahead_end(&pg->ahead);
	make_index(pg->x, &pg->events, &pg->ahead.findings, &pg->raw_index);
	make_snapshots(pg->x, &pg->events, &pg->raw_index, &pg->snapshots);
	make_all_reports(pg);
	pg->index = pack_compress(&pg->raw_index);
}

static void make_half(void *ctx, size_t i)
{
	struct page *pg = ctx;

	if (i)
		make_events(pg);
	else
		make_tables(pg);
}

/* Compressing the events takes long and needs only the events, which do not change any more. */
static void make_page(struct page *pg)
{
	parallel_run(make_half, pg, 2);
}

static void free_events(struct page *pg)
{
	packs_free(&pg->columns);
	packs_free(&pg->later);
}

/* Take the events as they were recorded. */
static void unfit_page(struct page *pg)
{
	page_events_free(&pg->events);
	page_events_read(pg->x, &pg->events);
	page_coarse_free(&pg->coarse);
	free_events(pg);
	make_events(pg);
}

static size_t events_room(const struct page *pg)
{
	return packs_room(&pg->columns) + packs_room(&pg->later);
}

/* What the list of coarse ranges adds to the index, at most: compressed it is hardly ever larger. */
static size_t coarse_room(const struct page *pg)
{
	enum { BEYOND = 16 };
	struct pack p = { 0 };
	struct packed raw = { 0 };

	if (!pg->coarse.ranges.len)
		return 0;
	put_coarse(&p, &pg->coarse, &pg->events);
	raw.n = p.bytes.len + BEYOND;
	pack_free(&p);
	return packed_room(&raw);
}

/*
 * Make the timeline coarser until the page has the size that the user wants. How well events can be
 * compressed is known only afterwards, so it may take several turns.
 */
static void fit_page(struct page *pg, size_t napp)
{
	size_t other = napp + packed_room(&pg->index) + packs_room(&pg->reports) +
		       packs_room(&pg->counts) + packs_room(&pg->snapshots) + packed_room(&pg->code) +
		       packed_room(&pg->places) + packed_room(&pg->heap) +
		       packed_room(&pg->objects) + packed_room(&no_pack) + sizeof(page_end);
	size_t room, used, most = pg->x->page_size;
	size_t as_recorded = events_room(pg);
	bool possible = true;

	if (!most)
		return;
	page_range(pg->x, &pg->events, &pg->coarse.begin, &pg->coarse.end);
	while ((used = other + coarse_room(pg)) + (room = events_room(pg)) > most && possible) {
		double part = used < most ? (double)(most - used) / (double)room : 0;

		possible = page_coarsen(&pg->coarse, &pg->events, pg->events.all.len * part * 0.98);
		free_events(pg);
		make_events(pg);
	}
	if (room >= as_recorded && pg->coarse.ranges.len)
		unfit_page(pg);
	if (used + room > most)
		diag_note(pg->x->diag,
			  "the page has %.1f MB, more than --page-size allows, and a coarser timeline "
			  "cannot make it smaller: export less with -filters, -from or -to",
			  (double)(other + coarse_room(pg) + events_room(pg)) / (1 << 20));
	if (pg->coarse.ranges.len) {
		make_objects(pg);
		put_coarse(&pg->raw_index, &pg->coarse, &pg->events);
		packed_free(&pg->index);
		pg->index = pack_compress(&pg->raw_index);
	}
}

static void write_page(struct page *pg, struct outfile *out)
{
	struct packed end = no_pack;

	/* If a write fails, the caller reports it when it commits the file. */
	if (packed_put(&pg->index, "index", out) && packs_put(&pg->columns, "events", out) &&
	    packs_put(&pg->counts, "counts", out) && packs_put(&pg->snapshots, "snaps", out) &&
	    packs_put(&pg->reports, "reports", out) &&
	    (!pg->has_code || packed_put(&pg->code, "code", out)) &&
	    (!has_places(pg) || packed_put(&pg->places, "places", out)) &&
	    (!pg->has_heap || packed_put(&pg->heap, "heap", out)) &&
	    (!pg->events.objects.types.len || packed_put(&pg->objects, "objects", out)) &&
	    packs_put(&pg->later, "later", out) && packed_put(&end, "end", out))
		buf_puts(&out->buf, page_end);
}

static void page_fini(struct page *pg)
{
	page_ahead_free(&pg->ahead);
	page_events_free(&pg->events);
	page_coarse_free(&pg->coarse);
	pack_free(&pg->raw_index);
	packed_free(&pg->index);
	packs_free(&pg->columns);
	packs_free(&pg->counts);
	packs_free(&pg->snapshots);
	packs_free(&pg->reports);
	packs_free(&pg->later);
	packed_free(&pg->code);
	packed_free(&pg->places);
	packed_free(&pg->heap);
	packed_free(&pg->objects);
}

static int page_write(const struct export *x, struct outfile *out)
{
	struct page pg = { .x = x };
	int rc;

	page_ahead_begin(&pg.ahead, x);
	rc = page_events_read(x, &pg.events);
	if (!rc) {
		put_app(&out->buf);
		make_page(&pg);
		fit_page(&pg, out->buf.len);
		write_page(&pg, out);
	}
	page_fini(&pg);
	return rc;
}

const struct exporter page_exporter = {
	.name = "page", .suffix = ".html", .write = page_write, .redacts = true,
	.help = "a page that shows everything in a web browser, without a network",
};
