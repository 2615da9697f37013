/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is recorded on a CPU: clock samples, residuals, and overflows of counters. */
#include <string.h>

#include "user/record/drain_impl.h"

/* What both kinds of records say of where they were. */
struct route {
	struct actor actor;
	uint32_t flags; /* enum er_clock_flags */
	uint64_t stack, time_ns;
	struct output *output;
	bool followed;
	uint32_t uid;   /* of the stack in the output */
};

/* A thread on an idle CPU is none: it has no process, as a kernel thread. */
static bool is_kthread(uint32_t flags)
{
	return flags & (ER_CLOCK_KTHREAD | ER_CLOCK_IDLE);
}

/* The function that stands for a sample that has no stack to show. */
static uint32_t pseudo_stack(struct drain *dr, const struct route *at)
{
	char name[64];

	if (at->flags & ER_CLOCK_IDLE)
		return output_pseudo(dr->parts.recording, at->output, "<IDLE>");
	if (at->flags & ER_CLOCK_UNSAMPLED)
		return output_pseudo(dr->parts.recording, at->output, "<Unsampled-CPU>");
	route_pseudo_name(&at->actor, name, sizeof(name));
	return output_pseudo(dr->parts.recording, at->output, name);
}

static bool is_pseudo(const struct route *at)
{
	return at->flags & (ER_CLOCK_IDLE | ER_CLOCK_UNSAMPLED) ||
	       (!at->followed && at->flags & ER_CLOCK_USER);
}

/* Page and stack, written where they are new. False: the stack is not there yet. */
static bool find_place(struct drain *dr, struct route *at, bool last_chance)
{
	struct output *own;

	/* What never had a sample gets no directory for a residual. */
	own = route_output(dr, &at->actor, at->time_ns, !(at->flags & ER_CLOCK_UNSAMPLED));
	at->output = own ? own : recording_founder(dr->parts.recording);
	at->followed = own;
	if (is_pseudo(at))
		at->uid = pseudo_stack(dr, at);
	else
		at->uid = stacks_write(dr->stacks, at->output, at->stack,
				       &(struct stack_shape){ .with_user = own });
	if (!at->uid && !last_chance)
		return false;
	if (!at->uid) {
		dr->parts.drops->n[DROP_STACK]++;
		at->uid = output_pseudo(dr->parts.recording, at->output, "<Stack-lost>");
	}
	if (!at->followed)
		route_note(dr, &at->actor);
	return true;
}

/* Asked first: beyond the limit no stack is written, nor an experiment made, either. */
static bool is_full(struct drain *dr)
{
	if (!recording_full(dr->parts.recording))
		return false;
	dr->parts.drops->n[DROP_LIMIT]++;
	return true;
}

bool write_sample(struct drain *dr, const struct er_clock *c, bool last_chance)
{
	struct route at = {
		.actor = { .tgid = c->tgid, .tid = c->tid, .start_time = c->start_time,
			   .kthread = is_kthread(c->flags), .comm = c->comm },
		.flags = c->flags, .stack = c->stack, .time_ns = c->h.time_ns,
	};
	bool user = c->flags & ER_CLOCK_USER ||
		    (!at.actor.kthread && c->flags & ER_CLOCK_UNSAMPLED);
	struct clock_packet packet = { .cpu = c->cpu, .time_ns = c->h.time_ns, .seq = c->h.seq };

	if (is_full(dr))
		return true;
	if (!find_place(dr, &at, last_chance))
		return false;
	packet.stack = at.uid;
	packet.state = user ? MS_USER : at.followed ? MS_SYSTEM : MS_KERNEL_CPU;
	dr->nsamples++;
	drain_packet(dr, at.output, at.followed, &at.actor, &packet, c->weight_ns);
	return true;
}

bool write_overflow(struct drain *dr, const struct er_counter *c, bool last_chance)
{
	struct route at = {
		.actor = { .tgid = c->tgid, .tid = c->tid, .start_time = c->start_time,
			   .kthread = is_kthread(c->flags), .comm = c->comm },
		.flags = c->flags, .stack = c->stack, .time_ns = c->h.time_ns,
	};
	enum counter_mode mode = c->flags & ER_CLOCK_USER ? COUNTER_USER : COUNTER_KERNEL;

	if (is_full(dr))
		return true;
	if (!find_place(dr, &at, last_chance))
		return false;
	dr->noverflows++;
	/* In the order of the fields of packet.c. */
	output_packet(dr->parts.recording, at.output, ER_PKT_HWC, (const int64_t[]){
		drain_lwp(&at.actor, at.followed), c->tid, c->cpu, c->h.time_ns, at.uid,
		counter_tag(c->counter, mode), c->weight, c->h.seq });
	return true;
}
