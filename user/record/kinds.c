/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/kinds.h"

#include <string.h>

#include "analysis/experiment/expwriter.h"
#include "bpf/code.h"
#include "bpf/command.h"
#include "user/record/counter_log.h"
#include "user/record/drain_impl.h"
#include "user/record/io_log.h"
#include "user/record/probe_log.h"

enum { PTIMER_US = 1 };

#define HEAP_SAMPLED_ATTRS "sampled=\"512\"" /* KiB: HEAP_SAMPLE_BYTES */

static bool raw_valid(const void *at, size_t size)
{
	const struct er_raw *raw = at;

	return size >= sizeof(*raw) && raw->nbytes <= ER_RAW_BYTES && raw->nbytes % 8 == 0 &&
	       size >= sizeof(*raw) + raw->nbytes;
}

static bool stack_valid(const void *record, size_t size)
{
	const struct er_stack *s = record;
	size_t npcs;

	/* In all other records the id 0 says that there is no stack. */
	if (!s->id || s->nkernel > ER_MAX_KERNEL_FRAMES || s->nuser > ER_MAX_USER_FRAMES)
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

static bool probe_valid(const void *record, size_t size)
{
	return ((const struct er_probe *)record)->probe < ER_MAX_PROBES;
}

static bool io_valid(const void *record, size_t size)
{
	const struct er_io *r = record;

	return r->type < 2 * ER_IO_TYPES && r->nname <= sizeof(r->name) &&
	       size >= offsetof(struct er_io, name) + r->nname;
}

static bool text_fits(const struct er_code_text *t, size_t max)
{
	return !t->n || (size_t)t->n * t->width <= max;
}

static bool text_valid(const struct er_code_text *t, size_t max)
{
	return t->n && (t->width == 1 || t->width == 2 || t->width == 4) &&
	       (size_t)t->n * t->width <= max;
}

static bool code_valid(const void *record, size_t size)
{
	const struct er_code *c = record;

	return c->number && c->number < ER_MAX_CODES && c->units &&
	       c->language < ER_CODE_LANGUAGES && text_valid(&c->name, ER_CODE_NAME) &&
	       text_valid(&c->path, ER_CODE_PATH) && text_fits(&c->signature, ER_CODE_SIGNATURE) &&
	       text_fits(&c->source, ER_CODE_SOURCE) &&
	       c->table_size <= ER_CODE_TABLE && size >= sizeof(*c) + c->table_size;
}

static bool command_valid(const void *record, size_t size)
{
	return ((const struct er_command *)record)->n <= ER_COMMAND_TEXT;
}

/* A record without a text ends before it. */
static bool span_valid(const void *record, size_t size)
{
	const struct er_span *s = record;

	return s->name < ER_MAX_SPAN_NAMES && s->ntext <= ER_SPAN_TEXT &&
	       size >= offsetof(struct er_span, text) + s->ntext;
}

/* Applies to all records that begin like a sample. */
static size_t event_stacks(const void *record, uint64_t ret[KIND_STACKS])
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

static size_t no_stacks(const void *record, uint64_t ret[KIND_STACKS])
{
	return 0;
}

static bool wants_spans(const struct plan *plan)
{
	return plan->spans.len > 0;
}

static bool wants_states(const struct plan *plan)
{
	return plan->capture.states || plan->capture.only_locks;
}

static bool wants_counters(const struct plan *plan)
{
	return plan->counters.len > 0;
}

/* Probes that only count send no records. */
static bool wants_probes(const struct plan *plan)
{
	vec_for_each (p, &plan->probes)
		if (!p->counts_only)
			return true;
	return false;
}

static bool wants_io(const struct plan *plan)
{
	return plan->capture.io;
}

static bool heap_valid(const void *record, size_t size)
{
	return ((const struct er_heap *)record)->kind <= ER_HEAP_IS_MUNMAP;
}

static bool wants_clock(const struct plan *plan)
{
	return plan->capture.interval_ns > 0;
}

/* A founder never has waits. */
static void announce_clock(const struct plan *plan, struct expwriter *w, bool part)
{
	expwriter_clock_profile(w, PTIMER_US, part ? STATES_ALL : STATES_KERNEL,
				part && plan->capture.states);
}

/* Without a clock the profile has nothing but waits. */
static void announce_waits(const struct plan *plan, struct expwriter *w, bool part)
{
	if (plan->capture.only_locks && part)
		expwriter_clock_profile(w, PTIMER_US, STATES_ALL, true);
	if (plan_traces_locks(plan) && part)
		expwriter_profile(w, ER_PKT_SYNC, NULL);
}

static void announce_counters(const struct plan *plan, struct expwriter *w, bool part)
{
	counters_announce(&plan->counters, w);
}

static void counter_values(const void *record, int64_t *ret)
{
	const struct er_counter *c = record;

	*ret++ = counter_tag(c->counter, c->at.flags & ER_CLOCK_USER ? COUNTER_USER : COUNTER_KERNEL);
	*ret++ = c->at.weight;
	*ret++ = c->at.h.seq;
}

/* Physical addresses, sizes of pages, groups and latencies are not known. */
static void data_values(const void *record, int64_t *ret)
{
	const struct er_counter *c = record;
	int64_t values[] = { 0, c->at.weight, c->address, c->pc, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, c->at.h.seq };

	counter_values(record, ret);
	memcpy(ret + 1, values + 1, sizeof(values) - sizeof(*values));
}

static void announce_probes(const struct plan *plan, struct expwriter *w, bool part)
{
	probes_announce(&plan->probes, w);
}

static void probe_values(const void *record, int64_t *ret)
{
	const struct er_probe *p = record;

	*ret++ = p->probe;
	*ret++ = p->at.h.seq;
	for (int i = 0; i < ER_PROBE_VALUES; i++)
		*ret++ = p->values[i];
}

static const struct data_kind kinds[ER_KINDS] = {
	[ER_KIND_STACK] = {
		.word = "stack",
		.counted_as = ER_KIND_STACK,
		.size = sizeof(struct er_stack),
		.valid = stack_valid,
		.keep = keep_stack,
	},
	[ER_KIND_CLOCK] = {
		.word = "clock",
		.ring = &ring_descs[ER_RING_CLOCK],
		.counted_as = ER_KIND_CLOCK,
		.size = sizeof(struct er_clock),
		.stacks = event_stacks,
		.write = write_sample,
		.wanted = wants_clock,
		.announce = announce_clock,
	},
	[ER_KIND_RESIDUAL] = {
		.word = "residual",
		.counted_as = ER_KIND_CLOCK,
		.size = sizeof(struct er_residual),
		.stacks = event_stacks,
		.write = write_residual,
	},
	[ER_KIND_WAIT] = {
		.word = "wait",
		.ring = &ring_descs[ER_RING_WAIT],
		.counted_as = ER_KIND_WAIT,
		.size = sizeof(struct er_wait),
		.stacks = wait_stacks,
		.write = write_wait,
		.wanted = wants_states,
		.announce = announce_waits,
	},
	[ER_KIND_TOTAL] = {
		.word = "total",
		.ring = &ring_descs[ER_RING_TOTAL],
		.counted_as = ER_KIND_TOTAL,
		.size = sizeof(struct er_total),
		.stacks = total_stacks,
		.write = write_total,
	},
	[ER_KIND_CODE] = {
		.word = "code",
		.counted_as = ER_KIND_CODE,
		.size = sizeof(struct er_code),
		.valid = code_valid,
		.keep = keep_code,
	},
	[ER_KIND_COUNTER] = {
		.word = "counter",
		.ring = &ring_descs[ER_RING_COUNTER],
		.counted_as = ER_KIND_COUNTER,
		.size = sizeof(struct er_counter),
		.valid = counter_valid,
		.stacks = event_stacks,
		.write = write_event,
		.wanted = wants_counters,
		.packet = ER_PKT_HWC,
		.values = counter_values,
		.announce = announce_counters,
	},
	[ER_KIND_DATA] = {
		.word = "counter",
		.counted_as = ER_KIND_COUNTER,
		.size = sizeof(struct er_counter),
		.valid = counter_valid,
		.stacks = event_stacks,
		.write = write_event,
		.packet = ER_PKT_MHWC,
		.values = data_values,
		.addresses = { 2, 3 },
	},
	[ER_KIND_PROBE] = {
		.word = "probe",
		.ring = &ring_descs[ER_RING_PROBE],
		.counted_as = ER_KIND_PROBE,
		.size = sizeof(struct er_probe),
		.valid = probe_valid,
		.stacks = event_stacks,
		.write = write_event,
		.wanted = wants_probes,
		.packet = ER_PKT_PROBE,
		.values = probe_values,
		.announce = announce_probes,
	},
	[ER_KIND_IO] = {
		.word = "io",
		.ring = &ring_descs[ER_RING_IO],
		.counted_as = ER_KIND_IO,
		.size = offsetof(struct er_io, name),
		.valid = io_valid,
		.stacks = event_stacks,
		.write = write_event,
		.wanted = wants_io,
		.packet = ER_PKT_IO,
		.values = io_values,
		.text = io_name,
		.own = true,
	},
	[ER_KIND_COMMAND] = {
		.word = "command",
		.counted_as = ER_KIND_COMMAND,
		.size = sizeof(struct er_command),
		.valid = command_valid,
		.keep = keep_command,
	},
	[ER_KIND_HEAP] = {
		.word = "heap",
		.counted_as = ER_KIND_HEAP,
		.size = sizeof(struct er_heap),
		.valid = heap_valid,
		.stacks = event_stacks,
		.write = write_heap,
	},
	[ER_KIND_SPAN] = {
		.word = "span",
		.ring = &ring_descs[ER_RING_SPAN],
		.counted_as = ER_KIND_SPAN,
		.size = offsetof(struct er_span, text),
		.valid = span_valid,
		.stacks = no_stacks,
		.write = write_span,
		.wanted = wants_spans,
		.packet = ER_PKT_SPAN,
	},
};

const struct data_kind *data_kind(uint32_t kind)
{
	return kind < ER_KINDS ? &kinds[kind] : NULL;
}

void kinds_announce(const struct plan *plan, struct expwriter *w, bool part)
{
	for (int i = 0; i < ER_KIND_COUNT; i++) {
		const struct data_kind *k = &kinds[i];

		if (!k->wanted || !k->wanted(plan))
			continue;
		if (k->announce)
			k->announce(plan, w, part);
		else if (k->packet)
			expwriter_profile(w, k->packet, NULL);
	}
	/* These do not come from BPF. Each process with a heap has an experiment of its own. */
	if (plan->heap && part)
		expwriter_profile(w, ER_PKT_HEAP, plan->heap == HEAP_SAMPLED ? HEAP_SAMPLED_ATTRS : NULL);
	if (plan->locks && part)
		expwriter_profile(w, ER_PKT_LOCKS, NULL);
}
