/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns clock samples, residuals and events such as counter overflows into packets. */
#include <string.h>

#include "user/record/drain_impl.h"

/* The destination of a sample or of an event, which begins like a sample. */
struct route {
	const struct er_clock *record;
	struct actor actor;
	struct output *output;
	bool followed;
	uint32_t uid;   /* of the stack in the output */
};

/* Like a kernel thread, an idle CPU has no process. */
static struct route route_of(struct drain *dr, const struct er_clock *c)
{
	bool kthread = c->flags & (ER_CLOCK_KTHREAD | ER_CLOCK_IDLE);

	return (struct route){ .record = c,
			       .actor = route_actor(dr, &c->task, kthread, c->h.time_ns) };
}

/* The pseudo function for a sample without a stack. */
static uint32_t pseudo_stack(struct drain *dr, const struct route *at)
{
	char name[64];

	if (at->record->flags & ER_CLOCK_IDLE)
		return output_pseudo(dr->parts.recording, at->output, "<IDLE>");
	if (at->record->flags & ER_CLOCK_UNSAMPLED && !at->actor.recorder)
		return output_pseudo(dr->parts.recording, at->output, "<Unsampled-CPU>");
	route_pseudo_name(&at->actor, name, sizeof(name));
	return output_pseudo(dr->parts.recording, at->output, name);
}

static bool is_pseudo(const struct route *at)
{
	return at->record->flags & (ER_CLOCK_IDLE | ER_CLOCK_UNSAMPLED) || at->actor.recorder ||
	       (!at->followed && at->record->flags & ER_CLOCK_USER);
}

/* Find output and stack; new ones are written. False: the stack has not come yet. */
static bool find_output(struct drain *dr, struct route *at, bool last_chance)
{
	struct output *own;

	/* A process without a sample gets no directory for a residual. */
	own = route_output(dr, &at->actor, at->record->h.time_ns, !(at->record->flags & ER_CLOCK_UNSAMPLED));
	if (own && (data_kind(at->record->h.kind)->own ||
		    stacks_in_no_file(dr->stacks, at->record->stack)))
		own = route_own(dr, &at->actor, at->record->h.time_ns);
	at->output = own ? own : route_rest(dr, &at->actor, true);
	at->followed = own;
	if (is_pseudo(at))
		at->uid = pseudo_stack(dr, at);
	else
		at->uid = stacks_write(dr->stacks, at->output, at->record->stack,
				       &(struct stack_shape){ .with_user = own,
						      .time_ns = at->record->h.time_ns });
	if (!at->uid && !last_chance)
		return false;
	if (!at->uid && at->record->h.kind == ER_KIND_RESIDUAL) {
		/* It has the stack of a sample that may be long ago, so its stack may be forgotten. */
		at->uid = output_pseudo(dr->parts.recording, at->output, "<Unsampled-CPU>");
	} else if (!at->uid) {
		dr->parts.drops->n[DROP_STACK]++;
		at->uid = output_pseudo(dr->parts.recording, at->output, "<Stack-lost>");
	}
	return true;
}

/* Checked first: beyond the limit no stack is written and no experiment is made. */
static bool is_full(struct drain *dr, uint64_t time_ns)
{
	if (!recording_full(dr->parts.recording))
		return false;
	drops_limit(dr->parts.drops, time_ns);
	return true;
}

static enum er_mstate state_of(const struct drain *dr, const struct route *at, bool user)
{
	return user ? MS_USER : at->followed || dr->parts.program ? MS_SYSTEM : MS_KERNEL_CPU;
}

bool write_sample(struct drain *dr, const void *record, bool last_chance)
{
	const struct er_clock *c = record;
	struct route at = route_of(dr, c);
	struct clock_packet packet = { .cpu = c->cpu, .time_ns = c->h.time_ns, .seq = c->h.seq,
				       .goroutine = c->goroutine };

	if (is_full(dr, c->h.time_ns))
		return true;
	if (!find_output(dr, &at, last_chance))
		return false;
	packet.stack = at.uid;
	packet.state = state_of(dr, &at, c->flags & ER_CLOCK_USER);
	dr->nwritten[ER_KIND_CLOCK]++;
	route_count_end(dr, &at.actor, c->h.time_ns, ENDS_CPU, c->stack, c->weight);
	drain_packet(dr, at.output, &at.actor, &packet, c->weight);
	return true;
}

/* --- residuals --- */

/* Within the segment, and not after the record: clocks differ by some microseconds. */
static uint64_t moment_of(const struct drain *dr, const struct er_residual *r)
{
	uint64_t start = recording_start(dr->parts.recording);

	if (r->ran_ns > r->at.h.time_ns)
		return r->at.h.time_ns;
	return r->ran_ns < start ? start : r->ran_ns;
}

static void put_sampled(struct drain *dr, const struct er_residual *r, const struct route *at,
			struct clock_packet *packet)
{
	packet->state = state_of(dr, at, r->at.flags & ER_CLOCK_USER);
	drain_packet(dr, at->output, &at->actor, packet, r->at.weight);
}

/*
 * The residual of a thread without a sample follows its total, which may have been folded: fold, or 0. Returns whether
 * it got no packet of its own.
 */
static bool put_unsampled(struct drain *dr, const struct route *at, const struct clock_packet *like, uint32_t fold,
			  bool user, uint64_t ns)
{
	struct clock_packet packet = *like;
	bool joined = false;

	packet.state = state_of(dr, at, user);
	if (!fold || !drain_fold(dr, at->output, &at->actor, fold, &packet, ns, &joined))
		drain_packet(dr, at->output, &at->actor, &packet, ns);
	return joined;
}

static bool put_unsampled_parts(struct drain *dr, const struct er_residual *r, const struct route *at,
				const struct clock_packet *like)
{
	const struct er_clock *c = &r->at;
	uint32_t fold = dr->folds ? folds_recent(dr->folds, &c->task) : 0;
	uint64_t system = c->weight;
	bool joined = true;

	if (!at->actor.kthread)
		system = modes_system(&dr->modes, c->task.comm, c->weight, c->flags & ER_CLOCK_SPLIT, r->system_ns);
	if (system < c->weight)
		joined &= put_unsampled(dr, at, like, fold, true, c->weight - system);
	if (system)
		joined &= put_unsampled(dr, at, like, fold, false, system);
	return joined;
}

bool write_residual(struct drain *dr, const void *record, bool last_chance)
{
	const struct er_residual *r = record;
	struct route at = route_of(dr, &r->at);
	bool elsewhere = r->ran_cpu != r->at.cpu, joined = false;
	struct clock_packet packet = { .cpu = r->ran_cpu, .time_ns = moment_of(dr, r),
				       .seq = elsewhere ? SEQ_NONE : r->at.h.seq };

	if (is_full(dr, r->at.h.time_ns))
		return true;
	if (!find_output(dr, &at, last_chance))
		return false;
	packet.stack = at.uid;
	dr->nwritten[ER_KIND_CLOCK]++;
	route_count_end(dr, &at.actor, r->at.h.time_ns, ENDS_CPU, r->at.stack, r->at.weight);
	if (r->at.flags & ER_CLOCK_UNSAMPLED)
		joined = put_unsampled_parts(dr, r, &at, &packet);
	else
		put_sampled(dr, r, &at, &packet);
	dr->rings[r->at.cpu].folded += elsewhere || joined;
	return true;
}

bool write_event(struct drain *dr, const void *record, bool last_chance)
{
	const struct er_clock *c = record;
	const struct data_kind *kind = data_kind(c->h.kind);
	struct route at = route_of(dr, c);
	int64_t values[KIND_VALUES];
	char text[KIND_TEXT];

	if (is_full(dr, c->h.time_ns))
		return true;
	if (!find_output(dr, &at, last_chance))
		return false;
	dr->nwritten[kind->counted_as]++;
	thread_names_note(dr->names, &c->task, at.actor.comm, at.actor.kthread, c->h.time_ns);
	values[0] = drain_lwp(&at.actor, at.output);
	values[1] = c->task.tid;
	values[2] = c->cpu;
	values[3] = c->h.time_ns;
	values[4] = at.uid;
	if (kind->values)
		kind->values(record, &values[5]);
	for (const uint8_t *a = kind->addresses; *a; a++)
		values[5 + *a] = route_data(dr, &at.actor, c->h.time_ns, at.output, values[5 + *a]);
	if (kind->text)
		kind->text(record, text);
	output_packet(dr->parts.recording, at.output, kind->packet, values, kind->text ? text : NULL);
	return true;
}
