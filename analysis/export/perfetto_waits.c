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
	THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5,
	ANNOTATION_UINT = 3, ANNOTATION_STRING = 6, ANNOTATION_NAME = 10,
};

/* A thread's track and those below it. The ids of all other tracks are smaller. */
enum { TRACK_OF_WAITS = 1, TRACK_BITS = 8 };

struct waits {
	struct perfetto *p;
};

/* True at the first use of a track. */
static bool is_new(struct perfetto *p, uint64_t id)
{
	bool fresh;

	map_put(&p->tracks, id, &fresh);
	return fresh;
}

uint64_t perfetto_thread_track(struct perfetto *p, const struct experiment *origin, int64_t pid, int64_t tid)
{
	uint64_t id = 1ULL << 63 | (uint64_t)origin->id << (32 + TRACK_BITS) | (uint64_t)(uint32_t)tid << TRACK_BITS;

	if (!is_new(p, id))
		return id;
	pb_uint(&p->inner, THREAD_PID, perfetto_pid(pid, tid));
	pb_uint(&p->inner, THREAD_TID, tid);
	pb_string(&p->inner, THREAD_NAME, perfetto_text(p, perfetto_thread_name(p, origin, tid)));
	pb_uint(&p->message, TRACK_UUID, id);
	pb_message(&p->message, TRACK_THREAD, &p->inner);
	pb_message(&p->packet, PACKET_TRACK, &p->message);
	perfetto_put(p, 0);
	return id;
}

uint64_t perfetto_track_below(struct perfetto *p, uint64_t thread, unsigned number, const char *name)
{
	uint64_t id = thread | number;

	if (!is_new(p, id))
		return id;
	pb_uint(&p->message, TRACK_UUID, id);
	pb_uint(&p->message, TRACK_PARENT, thread);
	pb_string(&p->message, TRACK_NAME, name);
	pb_message(&p->packet, PACKET_TRACK, &p->message);
	perfetto_put(p, 0);
	return id;
}

void perfetto_annotate(struct perfetto *p, const char *name, const char *text)
{
	pb_string(&p->inner, ANNOTATION_NAME, name);
	pb_string(&p->inner, ANNOTATION_STRING, perfetto_text(p, text));
	pb_message(&p->message, EVENT_ANNOTATION, &p->inner);
}

void perfetto_annotate_number(struct perfetto *p, const char *name, uint64_t value)
{
	pb_string(&p->inner, ANNOTATION_NAME, name);
	pb_uint(&p->inner, ANNOTATION_UINT, value);
	pb_message(&p->message, EVENT_ANNOTATION, &p->inner);
}

/* "name (TID 12)" */
static void annotate_thread(struct perfetto *p, const char *what, const struct experiment *origin,
			    int64_t tid)
{
	char text[96];

	if (!tid)
		return;
	snprintf(text, sizeof(text), "%.64s (TID %" PRId64 ")", perfetto_thread_name(p, origin, tid),
		 tid);
	perfetto_annotate(p, what, text);
}

void perfetto_put_event(struct perfetto *p, int64_t time)
{
	pb_message(&p->packet, PACKET_TRACK_EVENT, &p->message);
	perfetto_put(p, time);
}

/* The fields that all events begin with. */
void perfetto_begin_event(struct perfetto *p, unsigned type, uint64_t on)
{
	pb_uint(&p->message, EVENT_TYPE, type);
	pb_uint(&p->message, EVENT_TRACK, on);
}

static uint64_t waits_track(struct perfetto *p, const struct timeline *t)
{
	return perfetto_track_below(p, perfetto_thread_track(p, t->origin, t->pid, t->tid), TRACK_OF_WAITS,
				    "Recorded waits");
}

/* A mark on another thread's track, from which an arrow begins. Returns the arrow's id. */
static uint64_t put_mark(struct waits *w, const struct timeline *t, int64_t pid, int64_t tid,
			 const char *what, int64_t time)
{
	struct perfetto *p = w->p;
	uint64_t on = perfetto_thread_track(p, t->origin, pid, tid);
	char text[96];

	snprintf(text, sizeof(text), "%s %.64s (TID %" PRId64 ")", what,
		 perfetto_thread_name(p, t->origin, t->tid), t->tid);
	perfetto_begin_event(p, TYPE_INSTANT, on);
	pb_string(&p->message, EVENT_NAME, perfetto_text(p, text));
	pb_fixed64(&p->message, EVENT_FLOW, ++p->flow);
	perfetto_put_event(p, time);
	return p->flow;
}

static void put_begin(struct waits *w, const struct timeline *t, const struct activity *a,
		      int64_t begin)
{
	uint64_t on = waits_track(w->p, t);
	struct perfetto *p = w->p;
	uint64_t held = 0, stack;

	if (a->holder)
		held = put_mark(w, t, a->holder_pid, a->holder,
				a->state == MS_WAIT_CPU ? "has the CPU for which waits" :
							  "holds the lock for which waits", begin);
	stack = perfetto_stack(p, a->stack);
	perfetto_begin_event(p, TYPE_BEGIN, on);
	pb_string(&p->message, EVENT_CATEGORY, state_uname(a->state));
	pb_string(&p->message, EVENT_NAME, a->reason ? reason_uname(a->reason) : state_uname(a->state));
	if (held)
		pb_fixed64(&p->message, EVENT_FLOW_END, held);
	pb_uint(&p->message, EVENT_STACK, stack);
	pb_double(&p->message, EVENT_WEIGHT, a->weight);
	perfetto_annotate(p, "state", state_uname(a->state));
	perfetto_annotate_number(p, "represents ns", a->weight);
	annotate_thread(p, "holder", t->origin, a->holder);
	annotate_thread(p, a->flags & WFLAG_WAKER_IRQ ? "interrupted thread" : "waker", t->origin,
			a->waker);
	if (a->flags & WFLAG_OPEN_START)
		perfetto_annotate(p, "began", "before the recording");
	if (a->flags & WFLAG_OPEN_END)
		perfetto_annotate(p, "ended", "not in the recording");
	perfetto_put_event(p, begin);
}

/* A thread that was stopped by an interrupt is not the waker. */
static bool has_waker(const struct activity *a)
{
	return a->waker && !(a->flags & (WFLAG_WAKER_IRQ | WFLAG_OPEN_END));
}

static void put_wait(struct waits *w, const struct timeline *t, const struct activity *a,
		     int64_t begin)
{
	uint64_t on = waits_track(w->p, t), woken = 0;
	int64_t end = wrap_plus(t->origin->start_ns, a->end);
	struct perfetto *p = w->p;

	put_begin(w, t, a, begin);
	perfetto_begin_event(p, TYPE_END, on);
	perfetto_put_event(p, end);
	if (!has_waker(a))
		return;
	woken = put_mark(w, t, a->waker_pid, a->waker, "wakes", end);
	perfetto_begin_event(p, TYPE_INSTANT, perfetto_thread_track(p, t->origin, t->pid, t->tid));
	pb_string(&p->message, EVENT_NAME, "woken");
	pb_fixed64(&p->message, EVENT_FLOW_END, woken);
	pb_uint(&p->message, EVENT_STACK, perfetto_stack(p, a->waker_stack));
	perfetto_put_event(p, end);
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
			int64_t begin = wrap_plus(t->origin->start_ns, a->begin);

			if (mstate_descs[a->state].on_cpu)
				continue;
			begin = begin > last ? begin : last;
			last = wrap_plus(t->origin->start_ns, a->end);
			if (begin < last)
				put_wait(&w, t, a, begin);
		}
	}
}
