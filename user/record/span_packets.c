/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns records of spans into packets. */
#include <string.h>

#include "analysis/base/map.h"
#include "analysis/experiment/span.h"
#include "user/record/drain_impl.h"

_Static_assert((int)ER_SPAN_RETURNED == SPAN_RETURNED && (int)ER_SPAN_THREAD_END == SPAN_THREAD_END &&
		       (int)ER_SPAN_EXEC == SPAN_EXEC && (int)ER_SPAN_LEFT == SPAN_LEFT &&
		       (int)ER_SPAN_OPEN_START == SPAN_OPEN_START && (int)ER_SPAN_OPEN_END == SPAN_OPEN_END &&
		       (int)ER_SPAN_SPLIT == SPAN_SPLIT && (int)ER_SPAN_SAMPLED == SPAN_SAMPLED &&
		       (int)ER_SPAN_OVER == SPAN_OVER && (int)ER_SPAN_ARGS == SPAN_ARGS,
	       "one flag, one number");

/* The number of a text in the founder's file. One that came lately has its number already. */
static uint32_t text_number(struct drain *dr, const char *text, size_t n)
{
	struct span_texts *t = &dr->span_texts;
	uint64_t hash = n;
	struct span_text *at;

	for (size_t i = 0; i < n; i++)
		hash = hash64(hash ^ (unsigned char)text[i]);
	at = &t->last[hash % SPAN_TEXTS];
	if (at->number && at->n == n && !memcmp(at->text, text, n))
		return at->number;
	at->number = ++t->n;
	at->n = n;
	memcpy(at->text, text, n);
	expwriter_span_text(output_writer(recording_founder(dr->parts.recording)), at->number, text, n);
	return at->number;
}

static void fill(struct span_packet *p, const struct er_span *r)
{
	*p = (struct span_packet){
		.thread = r->task.tid, .cpu = r->cpu, .end_ns = r->h.time_ns, .name = r->name + 1,
		.id = r->id, .parent = r->parent, .dur_ns = r->dur_ns, .run_ns = r->run_ns,
		.stolen_ns = r->stolen_ns, .waits = r->waits, .minflt = r->minflt, .majflt = r->majflt,
		.depth = r->depth, .flags = r->flags, .seq = r->h.seq,
	};
	for (int i = 0; i < ER_OFF_STATES; i++)
		p->state_ns[off_states[i]] = r->off_ns[i];
	if (r->flags & ER_SPAN_SPLIT) {
		p->state_ns[MS_USER] = r->user_ns;
		p->state_ns[MS_SYSTEM] = r->run_ns - r->user_ns;
	}
	memcpy(p->args, r->args, sizeof(p->args));
}

bool write_span(struct drain *dr, const void *record, bool last_chance)
{
	const struct er_span *r = record;
	struct actor a = route_actor(dr, &r->task, false, r->h.time_ns);
	struct span_packet packet;
	struct output *own;

	if (recording_full(dr->parts.recording)) {
		drops_limit(dr->parts.drops, r->h.time_ns);
		return true;
	}
	own = route_output(dr, &a, r->h.time_ns, true);
	own = own ? own : recording_founder(dr->parts.recording);
	fill(&packet, r);
	packet.lwp = drain_lwp(&a, own);
	if (r->ntext)
		packet.text = text_number(dr, r->text, r->ntext);
	dr->nwritten[ER_KIND_SPAN]++;
	thread_names_note(dr->names, &r->task, a.comm, false, r->h.time_ns);
	output_span(dr->parts.recording, own, &packet);
	return true;
}
