/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorded waits: each thread has an extra track, with a slice for each wait. Arrows lead from the
 * holder of a lock or CPU to the beginning of the wait, and from the waker to its end.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/base/wrap.h"
#include "analysis/experiment/mstate.h"
#include "analysis/experiment/packet.h"
#include "analysis/export/perfetto_impl.h"
#include "analysis/export/protobuf.h"
#include "analysis/export/rootname.h"
#include "analysis/metrics/timeline.h"
#include "analysis/model/session.h"

enum {
	TRACK_UUID = 1, TRACK_NAME = 2, TRACK_THREAD = 4, TRACK_PARENT = 5,
	THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5,
	EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_CATEGORY = 22, EVENT_NAME = 23,
	EVENT_FLOW = 47, EVENT_FLOW_END = 48, EVENT_STACK = 56, EVENT_WEIGHT = 57,
	TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3,
	ANNOTATION_UINT = 3, ANNOTATION_STRING = 6, ANNOTATION_NAME = 10,
};

/* Each thread has two tracks. The ids of all other tracks are smaller. */
enum track { TRACK_OF_THREAD, TRACK_OF_WAITS, TRACKS };

struct waits {
	struct perfetto *p;
	struct map tracks; /* ids of described tracks */
};

static uint64_t track_id(const struct experiment *founder, int64_t tid, enum track which)
{
	return (uint64_t)founder->id << 34 | (uint64_t)(uint32_t)tid << 2 | which;
}

/* Describe both tracks of a thread at their first use. Returns the id of one. */
static uint64_t track(struct waits *w, const struct experiment *founder, int64_t pid, int64_t tid,
		      enum track which)
{
	uint64_t thread = track_id(founder, tid, TRACK_OF_THREAD);
	uint64_t waits = track_id(founder, tid, TRACK_OF_WAITS);
	struct perfetto *p = w->p;
	bool fresh;

	map_put(&w->tracks, thread, &fresh);
	if (!fresh)
		return which == TRACK_OF_THREAD ? thread : waits;
	pb_uint(&p->inner, THREAD_PID, perfetto_pid(pid, tid));
	pb_uint(&p->inner, THREAD_TID, tid);
	pb_string(&p->inner, THREAD_NAME, perfetto_text(p, perfetto_thread_name(p, founder, tid)));
	pb_uint(&p->message, TRACK_UUID, thread);
	pb_message(&p->message, TRACK_THREAD, &p->inner);
	pb_message(&p->packet, PACKET_TRACK, &p->message);
	perfetto_put(p, 0);
	pb_uint(&p->message, TRACK_UUID, waits);
	pb_uint(&p->message, TRACK_PARENT, thread);
	pb_string(&p->message, TRACK_NAME, "Recorded waits");
	pb_message(&p->packet, PACKET_TRACK, &p->message);
	perfetto_put(p, 0);
	return which == TRACK_OF_THREAD ? thread : waits;
}

static void annotate(struct perfetto *p, const char *name, const char *text)
{
	pb_string(&p->inner, ANNOTATION_NAME, name);
	pb_string(&p->inner, ANNOTATION_STRING, perfetto_text(p, text));
	pb_message(&p->message, EVENT_ANNOTATION, &p->inner);
}

/* "name (TID 12)" */
static void annotate_thread(struct perfetto *p, const char *what, const struct experiment *founder,
			    int64_t tid)
{
	char text[96];

	if (!tid)
		return;
	snprintf(text, sizeof(text), "%.64s (TID %" PRId64 ")", perfetto_thread_name(p, founder, tid),
		 tid);
	annotate(p, what, text);
}

static void put_event(struct perfetto *p, int64_t time)
{
	pb_message(&p->packet, PACKET_TRACK_EVENT, &p->message);
	perfetto_put(p, time);
}

/* The fields that all events begin with. */
static void begin_event(struct perfetto *p, unsigned type, uint64_t on)
{
	pb_uint(&p->message, EVENT_TYPE, type);
	pb_uint(&p->message, EVENT_TRACK, on);
}

/* A mark on another thread's track, from which an arrow begins. Returns the arrow's id. */
static uint64_t put_mark(struct waits *w, const struct timeline *t, int64_t pid, int64_t tid,
			 const char *what, int64_t time)
{
	struct perfetto *p = w->p;
	uint64_t on = track(w, t->founder, pid, tid, TRACK_OF_THREAD);
	char text[96];

	snprintf(text, sizeof(text), "%s %.64s (TID %" PRId64 ")", what,
		 perfetto_thread_name(p, t->founder, t->tid), t->tid);
	begin_event(p, TYPE_INSTANT, on);
	pb_string(&p->message, EVENT_NAME, perfetto_text(p, text));
	pb_fixed64(&p->message, EVENT_FLOW, ++p->flow);
	put_event(p, time);
	return p->flow;
}

static void put_begin(struct waits *w, const struct timeline *t, const struct activity *a,
		      int64_t begin)
{
	uint64_t on = track(w, t->founder, t->pid, t->tid, TRACK_OF_WAITS);
	struct perfetto *p = w->p;
	uint64_t held = 0, stack;

	if (a->holder)
		held = put_mark(w, t, a->holder_pid, a->holder,
				a->state == MS_WAIT_CPU ? "has the CPU for which waits" :
							  "holds the lock for which waits", begin);
	stack = perfetto_stack(p, a->stack);
	begin_event(p, TYPE_BEGIN, on);
	pb_string(&p->message, EVENT_CATEGORY, state_uname(a->state));
	pb_string(&p->message, EVENT_NAME, a->reason ? reason_uname(a->reason) : state_uname(a->state));
	if (held)
		pb_fixed64(&p->message, EVENT_FLOW_END, held);
	pb_uint(&p->message, EVENT_STACK, stack);
	pb_double(&p->message, EVENT_WEIGHT, a->weight);
	annotate(p, "state", state_uname(a->state));
	pb_string(&p->inner, ANNOTATION_NAME, "represents ns");
	pb_uint(&p->inner, ANNOTATION_UINT, a->weight);
	pb_message(&p->message, EVENT_ANNOTATION, &p->inner);
	annotate_thread(p, "holder", t->founder, a->holder);
	annotate_thread(p, a->flags & WFLAG_WAKER_IRQ ? "interrupted thread" : "waker", t->founder,
			a->waker);
	if (a->flags & WFLAG_OPEN_START)
		annotate(p, "began", "before the recording");
	if (a->flags & WFLAG_OPEN_END)
		annotate(p, "ended", "not in the recording");
	put_event(p, begin);
}

/* A thread that was stopped by an interrupt is not the waker. */
static bool has_waker(const struct activity *a)
{
	return a->waker && !(a->flags & (WFLAG_WAKER_IRQ | WFLAG_OPEN_END));
}

static void put_wait(struct waits *w, const struct timeline *t, const struct activity *a,
		     int64_t begin)
{
	uint64_t on = track(w, t->founder, t->pid, t->tid, TRACK_OF_WAITS), woken = 0;
	int64_t end = wrap_plus(t->founder->start_ns, a->end);
	struct perfetto *p = w->p;

	put_begin(w, t, a, begin);
	begin_event(p, TYPE_END, on);
	put_event(p, end);
	if (!has_waker(a))
		return;
	woken = put_mark(w, t, a->waker_pid, a->waker, "wakes", end);
	begin_event(p, TYPE_INSTANT, track_id(t->founder, t->tid, TRACK_OF_THREAD));
	pb_string(&p->message, EVENT_NAME, "woken");
	pb_fixed64(&p->message, EVENT_FLOW_END, woken);
	pb_uint(&p->message, EVENT_STACK, perfetto_stack(p, a->waker_stack));
	put_event(p, end);
}

/*
 * The waits of a thread must not overlap. In a damaged recording they may, and then they are cut.
 */
void perfetto_waits(struct perfetto *p, const struct timelines *tl)
{
	struct waits w = { .p = p };

	vec_for_each(t, &tl->threads) {
		int64_t last = 0;

		vec_for_each(a, &t->acts) {
			int64_t begin = wrap_plus(t->founder->start_ns, a->begin);

			if (mstate_descs[a->state].on_cpu)
				continue;
			begin = begin > last ? begin : last;
			last = wrap_plus(t->founder->start_ns, a->end);
			if (begin < last)
				put_wait(&w, t, a, begin);
		}
	}
	map_free(&w.tracks);
}
