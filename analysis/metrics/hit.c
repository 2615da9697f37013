/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/hit.h"

#include <string.h>

#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_numbers.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/mstate.h"
#include "analysis/model/atrest.h"
#include "analysis/model/divided.h"
#include "analysis/model/names.h"
#include "analysis/model/session.h"
#include "analysis/model/spans.h"

static void wait_fields(struct hit_fields *f, const struct exp_stream *st)
{
	f->state = stream_field(st, "MSTATE");
	f->ticks = stream_field(st, "NTICK");
	f->reason = stream_field(st, "REASON");
	f->syscall = stream_field(st, "SYSCALL");
	f->wflags = stream_field(st, "WFLAGS");
	f->length = stream_field(st, "WLEN");
	f->object = stream_field(st, "WOBJ");
	f->holder = stream_field(st, "HOLDER");
	f->holder_pid = stream_field(st, "HOLDERPID");
	f->waker = stream_field(st, "WAKER");
	f->waker_pid = stream_field(st, "WAKERPID");
	f->waker_stack = stream_field(st, "WAKERSTACK");
	f->goroutine = stream_field(st, "GOID");
}

static void lock_fields(struct hit_fields *f, const struct exp_stream *st)
{
	f->object = stream_field(st, "SOBJ");
	f->lock_kind = stream_field(st, "LOCKKIND");
	f->lock_count = stream_field(st, "NLOCKS");
}

void hit_fields_init(struct hit_fields *f, const struct exp_stream *st)
{
	*f = (struct hit_fields){
		.time = stream_field(st, "TSTAMP"),
		.stack = stream_field(st, "FRINFO"),
		.thread = stream_field(st, "THRID"),
		.lwp = stream_field(st, "LWPID"),
		.cpu = stream_field(st, "CPUID"),
	};
	if (st->kind == ER_PKT_CLOCK)
		wait_fields(f, st);
	else if (st->kind == ER_PKT_LOCKS)
		lock_fields(f, st);
}

int64_t hit_time(const struct hit *h)
{
	return wrap_minus(packet_int(h->packet, h->fields->time), h->e->origin->start_ns);
}

const struct exp_fold *hit_sums(const struct hit *h)
{
	const struct experiment *founder = experiment_founder(h->e);
	const struct folded_threads *folded;
	const struct exp_fold *part;

	if (!founder->fold_numbers.len)
		return NULL;
	folded = &session_names(h->session)->folded;
	part = folded_sums(folded, founder, hit_thread(h));
	return part ? folded_whole(folded, part) : NULL;
}

const struct experiment *hit_origin(const struct hit *h)
{
	const struct experiment *founder = experiment_founder(h->e);

	return founder != h->e->origin && hit_sums(h) ? founder : h->e->origin;
}

int64_t hit_thread(const struct hit *h)
{
	return packet_int(h->packet, h->fields->thread);
}

static int64_t lwp_field(const struct hit *h)
{
	return packet_int(h->packet, h->fields->lwp);
}

int64_t hit_thrid(const struct hit *h)
{
	if (h->e->system_wide)
		return hit_thread(h);
	return experiment_thread_number(h->e, hit_thread(h));
}

int64_t hit_lwpid(const struct hit *h)
{
	if (h->e->system_wide)
		return hit_pid(h);
	return experiment_lwp_number(h->e, lwp_field(h));
}

int64_t hit_cpu(const struct hit *h)
{
	return h->fields->cpu.offset ? packet_int(h->packet, h->fields->cpu) : -1;
}

int64_t hit_pid(const struct hit *h)
{
	return h->e->many_processes ? lwp_field(h) : h->e->pid;
}

unsigned hit_serial(const struct hit *h)
{
	return names_serial_at(session_names(h->session), h->e, hit_pid(h), hit_time(h));
}

const struct exp_fold *hit_fold(const struct hit *h)
{
	const struct experiment *founder = experiment_founder(h->e);

	if (!founder->folds.len)
		return NULL;
	return folded_at(&session_names(h->session)->folded, founder, hit_pid(h), hit_thread(h),
			hit_time(h));
}

const struct exp_fold *hit_process_fold(const struct hit *h)
{
	const struct exp_fold *f = hit_pid(h) == hit_thread(h) ? hit_fold(h) : NULL;

	return f && f->summed ? f : NULL;
}

/*
 * A sample extends from the previous sample event to its own, inclusive. A
 * sub-experiment without samples uses its founder's.
 */
int64_t hit_sample(const struct hit *h)
{
	const struct experiment *e = h->e;
	bool own = false, begun = false;
	int64_t t;

	vec_for_each(ev, &e->events)
		own |= !strcmp(ev->kind, "sample");
	if (!own)
		e = experiment_founder(e);
	t = wrap_minus(packet_int(h->packet, h->fields->time), e->start_ns);
	vec_for_each(ev, &e->events) {
		if (strcmp(ev->kind, "sample"))
			continue;
		if (t < ev->time_ns || (t == ev->time_ns && begun))
			return e->first_sample + ev->id;
		begun = true;
	}
	return -1;
}

int64_t hit_state(const struct hit *h)
{
	return h->fields->state.offset ? packet_int(h->packet, h->fields->state) : -1;
}

bool hit_is_wait(const struct hit *h)
{
	int64_t state = hit_state(h);

	return state >= 0 && state < MS_COUNT && !mstate_descs[state].on_cpu;
}

int64_t hit_weight(const struct hit *h)
{
	return wrap_times(packet_int(h->packet, h->fields->ticks), wrap_times(h->stream->ptimer_us, 1000));
}

int64_t hit_reason(const struct hit *h)
{
	enum at_rest rest = hit_state(h) == MS_USER_LOCK ? session_at_rest(h->session, h->stack) : REST_NONE;

	return rest == REST_IDLE ? REASON_RUNTIME_IDLE : rest == REST_ASLEEP ? REASON_TIMER :
	       packet_int(h->packet, h->fields->reason);
}

/* The field is the number + 1, so a short packet, whose missing fields read as 0, has none. */
int64_t hit_syscall(const struct hit *h)
{
	return packet_int(h->packet, h->fields->syscall) - 1;
}

int64_t hit_goroutine(const struct hit *h)
{
	return packet_int(h->packet, h->fields->goroutine);
}

static uint32_t own_flags(const struct hit *h)
{
	return (uint32_t)packet_int(h->packet, h->fields->wflags) & ~(uint32_t)WFLAG_GOES_ON;
}

/* The wait that the packet is a part of; NULL: it is not divided. */
static const struct divided_wait *whole_of(const struct hit *h)
{
	const struct divided *d;

	if (!(own_flags(h) & (WFLAG_OPEN_END | WFLAG_CONTINUED)))
		return NULL;
	d = session_divided(h->session);
	return d ? divided_find(d, h->packet->p) : NULL;
}

uint32_t hit_wait_flags(const struct hit *h)
{
	const struct divided_wait *whole = whole_of(h);
	uint32_t flags = own_flags(h);

	if (!whole)
		return flags;
	flags = (flags & ~divided_flags) | whole->flags;
	/* It is known to be one wait, whatever sample chose its first part. */
	flags |= flags & WFLAG_CONTINUED ? 0 : WFLAG_TRACED;
	return packet_int(h->packet, h->fields->time) == whole->last_time ? flags : flags | WFLAG_GOES_ON;
}

int64_t hit_part_length(const struct hit *h)
{
	return packet_int(h->packet, h->fields->length);
}

int64_t hit_wait_length(const struct hit *h)
{
	const struct divided_wait *whole = whole_of(h);

	return whole ? whole->length_ns : hit_part_length(h);
}

uint64_t hit_wait_object(const struct hit *h)
{
	return packet_int(h->packet, h->fields->object);
}

int64_t hit_lock_kind(const struct hit *h)
{
	return packet_int(h->packet, h->fields->lock_kind);
}

int64_t hit_lock_count(const struct hit *h)
{
	return packet_int(h->packet, h->fields->lock_count);
}

/* Where a part does not say who had what was waited for, another part does. */
int64_t hit_holder(const struct hit *h)
{
	int64_t own = packet_int(h->packet, h->fields->holder);
	const struct divided_wait *whole = own ? NULL : whole_of(h);

	return whole ? whole->holder : own;
}

int64_t hit_holder_pid(const struct hit *h)
{
	const struct divided_wait *whole = packet_int(h->packet, h->fields->holder) ? NULL : whole_of(h);

	return whole ? whole->holder_pid : packet_int(h->packet, h->fields->holder_pid);
}

int64_t hit_waker(const struct hit *h)
{
	const struct divided_wait *whole = whole_of(h);

	return whole ? whole->waker : packet_int(h->packet, h->fields->waker);
}

int64_t hit_waker_pid(const struct hit *h)
{
	const struct divided_wait *whole = whole_of(h);

	return whole ? whole->waker_pid : packet_int(h->packet, h->fields->waker_pid);
}

uint32_t hit_waker_stack(const struct hit *h)
{
	const struct divided_wait *whole = whole_of(h);

	if (whole)
		return session_resolve_in_process(h->session, experiment_founder(whole->last_in), whole->waker_pid,
						  whole->waker_stack, whole->last_time);
	return session_resolve_in_process(h->session, experiment_founder(h->e),
					  hit_waker_pid(h),
					  packet_int(h->packet, h->fields->waker_stack),
					  packet_int(h->packet, h->fields->time));
}

const struct span_call hit_no_span;

void hit_spans(const struct hit *h, struct span_walk *w)
{
	bool wait = hit_is_wait(h);

	*w = (struct span_walk){ 0 };
	/* The last moment of a wait is before its end. */
	if (!wait || !(hit_wait_flags(h) & WFLAG_REST))
		span_walk_begin(w, session_spans(h->session), h->e, hit_thread(h),
				wrap_minus(hit_time(h), wait));
}

const struct span_call *hit_span(const struct hit *h)
{
	struct span_walk w;

	if (h->span)
		return h->span == &hit_no_span ? NULL : h->span;
	if (h->stream->kind == ER_PKT_SPAN)
		return span_of_packet(session_spans(h->session), h->e, hit_thread(h), h->packet);
	hit_spans(h, &w);
	return span_walk_next(&w);
}
