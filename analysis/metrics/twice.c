/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/twice.h"

#include <string.h>

#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/metrics/hit.h"
#include "analysis/model/session.h"

/* The founder of a program's recording by our recorder, on the same machine as `e`. */
static bool is_program(const struct experiment *program, const struct experiment *e)
{
	return !program->founder && !program->system_wide && program->recorder.len &&
	       !strcmp(program->hostname, e->hostname);
}

/* The counter or probe of a packet; NULL: it is of another kind. */
static const struct exp_counter *counter_of(const struct hit *h)
{
	const char *field = h->stream->kind == ER_PKT_PROBE ? "PROBE" : "HWCTAG";
	int64_t tag = packet_int(h->packet, stream_field(h->stream, field));

	vec_for_each(c, &h->stream->counters) {
		if (c->tag == tag)
			return c;
	}
	return NULL;
}

static bool has_counter(const struct exp_stream *st, const struct exp_counter *counter)
{
	vec_for_each(c, &st->counters) {
		if (c->name && counter->name && !strcmp(c->name, counter->name))
			return true;
	}
	return false;
}

/* Whether the recording has such packets at all: it may be without the clock, or without states. */
static bool has_kind(const struct experiment *program, const struct hit *h)
{
	vec_for_each(st, &program->streams) {
		const struct exp_counter *counter;

		if (st->kind != h->stream->kind)
			continue;
		counter = h->stream->counters.len ? counter_of(h) : NULL;
		return (st->waits || !hit_is_wait(h)) && (!counter || has_counter(st, counter));
	}
	return false;
}

/* Whether the recording paused then. */
static bool was_paused(const struct experiment *program, int64_t at)
{
	size_t from = 0, to = program->pauses.len;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (program->pauses.data[mid].end_ns <= at)
			from = mid + 1;
		else
			to = mid;
	}
	return from < program->pauses.len && program->pauses.data[from].begin_ns <= at;
}

/* Whether the recording had begun to record the process, `at` from its own start. */
static bool had_process(const struct experiment *program, int64_t pid, int64_t at)
{
	const uint64_t *begin = map_get(&program->process_begins, (uint64_t)pid);

	return begin && (int64_t)*begin <= at;
}

bool twice_has(const struct hit *h)
{
	int64_t pid, at;

	if (!h->e->system_wide)
		return false;
	pid = hit_pid(h);
	at = packet_int(h->packet, h->fields->time);
	vec_for_each(e, &h->session->experiments) {
		const struct experiment *p = *e;

		if (is_program(p, h->e) && at >= p->start_ns && at - p->start_ns <= p->end_ns &&
		    had_process(p, pid, at - p->start_ns) && !was_paused(p, at - p->start_ns) &&
		    has_kind(p, h))
			return true;
	}
	return false;
}

static bool overlap(const struct experiment *a, const struct experiment *b)
{
	return a->start_ns <= b->start_ns ? b->start_ns - a->start_ns <= a->end_ns :
					    a->start_ns - b->start_ns <= b->end_ns;
}

static bool share_a_process(const struct experiment *system, const struct experiment *program)
{
	vec_for_each(p, &program->processes) {
		if (map_get(&system->process_begins, (uint64_t)p->pid))
			return true;
	}
	return false;
}

static bool share_a_kind(const struct experiment *system, const struct experiment *program)
{
	vec_for_each(a, &system->streams) {
		vec_for_each(b, &program->streams) {
			if (a->kind == b->kind)
				return true;
		}
	}
	return false;
}

bool twice_find(const struct session *s, const struct experiment **system,
		const struct experiment **program)
{
	vec_for_each(a, &s->experiments) {
		if (!(*a)->system_wide || (*a)->founder)
			continue;
		vec_for_each(b, &s->experiments) {
			if (!is_program(*b, *a) || !overlap(*a, *b) || !share_a_process(*a, *b) ||
			    !share_a_kind(*a, *b))
				continue;
			*system = *a;
			*program = *b;
			return true;
		}
	}
	return false;
}
