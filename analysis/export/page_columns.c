/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_columns.h"

#include "analysis/export/outfile.h"
#include "analysis/export/page_events.h"
#include "analysis/export/page_pack.h"

/*
 * The number of events in a pack. If every event is a wait with a waker, that is about 8 MB of
 * base64.
 */
enum { PACK_EVENTS = 1 << 20 };

typedef void (*put_fn)(struct pack *p, const struct page_event *ev, const struct page_event *before);

static void put_time(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_int(p, ev->end - (before ? before->end : 0));
}

static void put_thread(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->thread);
}

static void put_path(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->path);
}

static void put_class(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->event_class);
}

static void put_weight(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_int(p, ev->weight);
}

static void put_cpu(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_int(p, ev->cpu);
}

/* If all waits are recorded, the length of a wait usually equals its weight. */
static void put_length(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_int(p, ev->length - ev->weight);
}

static void put_waker(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, ev->waker);
}

static void put_waker_path(struct pack *p, const struct page_event *ev,
			   const struct page_event *before)
{
	pack_uint(p, ev->waker_path);
}

/* The holder of a lock usually ends the wait for it: 0 none, 1 the waker, else index + 2. */
static void put_holder(struct pack *p, const struct page_event *ev, const struct page_event *before)
{
	pack_uint(p, !ev->holder ? 0 : ev->holder == ev->waker ? 1 : ev->holder + 1);
}

static const struct {
	const char *tag;
	bool waits_only;
	put_fn put;
} columns[] = {
	{ "time", false, put_time },	 { "thrd", false, put_thread },
	{ "path", false, put_path },	 { "clas", false, put_class },
	{ "wght", false, put_weight },	 { "cpus", false, put_cpu },
	{ "leng", true, put_length },	 { "wakr", true, put_waker },
	{ "wkpt", true, put_waker_path }, { "hold", true, put_holder },
};

static void put_pack(struct pack *p, const struct page_events *events, size_t from, size_t to)
{
	pack_begin(p, "evts");
	pack_uint(p, from);
	pack_uint(p, to - from);
	pack_end(p);
	for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
		pack_begin(p, columns[c].tag);
		for (size_t i = from; i < to; i++) {
			const struct page_event *ev = &events->all.data[i];

			if (!columns[c].waits_only ||
			    class_is_wait(&events->classes.data[ev->event_class]))
				columns[c].put(p, ev, i > from ? ev - 1 : NULL);
		}
		pack_end(p);
	}
}

bool put_columns(const struct page_events *events, struct outfile *out)
{
	struct pack p = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < events->all.len; i += PACK_EVENTS) {
		size_t rest = events->all.len - i;

		put_pack(&p, events, i, i + (rest < PACK_EVENTS ? rest : PACK_EVENTS));
		ok = pack_put(&p, "events", out);
	}
	pack_free(&p);
	return ok;
}
