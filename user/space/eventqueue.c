/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/eventqueue.h"

#include <string.h>

void eventqueue_free(struct eventqueue *q)
{
	buf_free(&q->bytes);
	vec_free(&q->events);
}

void eventqueue_add(struct eventqueue *q, const char *head, size_t nhead, const char *tail,
		    size_t ntail)
{
	struct queued_event e = { .offset = q->bytes.len, .size = nhead + ntail };

	if (e.size < sizeof(e.time_ns))
		return;
	buf_add(&q->bytes, head, nhead);
	buf_add(&q->bytes, tail, ntail);
	memcpy(&e.time_ns, q->bytes.data + q->bytes.len - sizeof(e.time_ns), sizeof(e.time_ns));
	vec_push(&q->events, e);
}

static int by_time(const void *a, const void *b)
{
	const struct queued_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->offset < y->offset ? -1 : 1;
}

/* Remove the first n of the sorted events. */
static void remove_first(struct eventqueue *q, size_t n)
{
	struct eventqueue rest = { 0 };

	for (size_t i = n; i < q->events.len; i++) {
		const struct queued_event *e = &q->events.data[i];

		eventqueue_add(&rest, q->bytes.data + e->offset, e->size, NULL, 0);
	}
	eventqueue_free(q);
	*q = rest;
}

void eventqueue_deliver(struct eventqueue *q, uint64_t until_ns, proc_event_fn fn, void *ctx)
{
	size_t n = 0;

	vec_sort(&q->events, by_time);
	vec_for_each(e, &q->events) {
		struct proc_event event;

		if (e->time_ns > until_ns)
			break;
		if (sideband_parse(q->bytes.data + e->offset, e->size, &event))
			fn(ctx, &event);
		n++;
	}
	if (n)
		remove_first(q, n);
}
