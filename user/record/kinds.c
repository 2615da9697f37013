/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/kinds.h"

#include "user/record/drain_impl.h"

static bool raw_valid(const void *at, size_t size)
{
	const struct er_raw *raw = at;

	return size >= sizeof(*raw) && raw->nbytes <= ER_RAW_ASLEEP_BYTES && raw->nbytes % 8 == 0 &&
	       size >= sizeof(*raw) + raw->nbytes;
}

static bool stack_valid(const void *record, size_t size)
{
	const struct er_stack *s = record;
	size_t npcs;

	if (s->nkernel > ER_MAX_KERNEL_FRAMES || s->nuser > ER_MAX_USER_FRAMES)
		return false;
	npcs = (size_t)s->nkernel + s->nuser;
	if (size < sizeof(*s) + npcs * sizeof(s->pcs[0]))
		return false;
	return !(s->flags & ER_STACK_RAW) ||
	       (!s->nuser && raw_valid(&s->pcs[npcs], size - sizeof(*s) - npcs * sizeof(s->pcs[0])));
}

static bool counter_valid(const void *record, size_t size)
{
	return ((const struct er_counter *)record)->counter < ER_MAX_COUNTERS;
}

/* Also of an overflow, which begins like a sample. */
static size_t clock_stacks(const void *record, uint64_t ret[KIND_STACKS])
{
	ret[0] = ((const struct er_clock *)record)->stack;
	return 1;
}

static size_t wait_stacks(const void *record, uint64_t ret[KIND_STACKS])
{
	const struct er_wait *w = record;

	ret[0] = w->stack;
	ret[1] = w->waker_stack;
	return 2;
}

static size_t total_stacks(const void *record, uint64_t ret[KIND_STACKS])
{
	const struct er_total *t = record;

	for (int i = 0; i < ER_OFF_STATES; i++)
		ret[i] = t->rest_stack[i];
	return ER_OFF_STATES;
}

static bool wants_states(const struct plan *plan)
{
	return plan->states;
}

static bool wants_counters(const struct plan *plan)
{
	return plan->counters.len > 0;
}

/* Samples are shown whether or not there is a clock: a recording without has none. */
static bool always(const struct plan *plan)
{
	return true;
}

static const struct data_kind kinds[ER_KIND_COUNT] = {
	[ER_KIND_STACK] = {
		"stack", NULL, ER_KIND_STACK, sizeof(struct er_stack), stack_valid,
	},
	[ER_KIND_CLOCK] = {
		"clock", &ring_descs[ER_RING_CLOCK], ER_KIND_CLOCK, sizeof(struct er_clock), NULL,
		clock_stacks, write_sample, always,
	},
	[ER_KIND_RESIDUAL] = {
		"residual", NULL, ER_KIND_CLOCK, sizeof(struct er_clock), NULL, clock_stacks,
		write_sample,
	},
	[ER_KIND_WAIT] = {
		"wait", &ring_descs[ER_RING_WAIT], ER_KIND_WAIT, sizeof(struct er_wait), NULL,
		wait_stacks, write_wait, wants_states,
	},
	[ER_KIND_TOTAL] = {
		"total", &ring_descs[ER_RING_TOTAL], ER_KIND_TOTAL, sizeof(struct er_total), NULL,
		total_stacks, write_total,
	},
	[ER_KIND_COUNTER] = {
		"counter", &ring_descs[ER_RING_COUNTER], ER_KIND_COUNTER, sizeof(struct er_counter),
		counter_valid, clock_stacks, write_overflow, wants_counters,
	},
};

const struct data_kind *data_kind(uint32_t kind)
{
	return kind < ER_KIND_COUNT ? &kinds[kind] : NULL;
}
