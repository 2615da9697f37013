/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_losses.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/export/export.h"
#include "analysis/export/page_events.h"
#include "analysis/model/session.h"
#include "analysis/views/view_state.h"

static const int64_t second_ns = 1000000000;

struct span {
	int64_t begin, end; /* nanoseconds since the origin's start */
};

/*
 * Records are counted by seconds of the clock, which begin at other moments than those of the
 * recording. recorder.xml has the recording's second in which the clock's second began. Second 0
 * may also be the one that began before the recording.
 */
static struct span span_of(const struct experiment *founder, int64_t second)
{
	int64_t end = founder->end_ns < 0 ? 0 : founder->end_ns < INT64_MAX / 2 ? founder->end_ns :
										  INT64_MAX / 2;
	int64_t last = end / second_ns;
	int64_t part = founder->start_ns % second_ns;
	int64_t offset = part > 0 ? second_ns - part : 0;
	struct span ret;

	second = second < 0 ? 0 : second > last ? last : second;
	ret.begin = second ? second * second_ns + offset : 0;
	ret.end = second * second_ns + offset + second_ns;
	/* A record that was lost while the recording ended is listed in its last second. */
	if (ret.begin >= end)
		ret.begin = end > second_ns ? end - second_ns : 0;
	if (ret.end > end)
		ret.end = end;
	ret.begin = wrap_plus(ret.begin, experiment_offset_ns(founder));
	ret.end = wrap_plus(ret.end, experiment_offset_ns(founder));
	return ret;
}

static uint64_t key_of(const struct experiment *origin, int64_t tid)
{
	return (uint64_t)origin->id << 32 | (uint32_t)tid;
}

static void put_loss(const struct experiment *founder, const struct exp_element *el,
		     const struct map *threads, size_t n, struct buf *b)
{
	const uint64_t *thread = map_get(threads, key_of(founder->origin, element_int(el, "tid")));
	struct span span = span_of(founder, element_int(el, "second"));

	buf_printf(b, "%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]",
		   n ? "," : ",\"lost\":[", thread ? (int64_t)*thread : -1, span.begin / 1000,
		   span.end / 1000, element_int(el, "count"));
}

/* Records of counters are not events of the page. */
static bool is_loss(const struct exp_element *el)
{
	const char *kind = element_get(el, "kind");

	return !strcmp(el->name, "loss") && (!kind || strcmp(kind, "counter"));
}

void put_losses(const struct export *x, const struct page_events *events, struct buf *b)
{
	struct map threads = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < events->threads.len; i++) {
		const struct page_thread *t = &events->threads.data[i];

		*map_put(&threads, key_of(t->origin, t->tid), NULL) = i;
	}
	vec_for_each(e, &x->view->session->experiments) {
		if ((*e)->founder)
			continue;
		vec_for_each(el, &(*e)->recorder) {
			if (is_loss(el))
				put_loss(*e, el, &threads, n++, b);
		}
	}
	buf_puts(b, n ? "]" : "");
	map_free(&threads);
}
