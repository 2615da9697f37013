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

static bool has_process(const struct experiment *program, int64_t pid)
{
	vec_for_each(p, &program->processes) {
		if (p->pid == pid)
			return true;
	}
	return false;
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
		    has_process(p, pid))
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
		if (has_process(system, p->pid))
			return true;
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
			if (!is_program(*b, *a) || !overlap(*a, *b) || !share_a_process(*a, *b))
				continue;
			*system = *a;
			*program = *b;
			return true;
		}
	}
	return false;
}
