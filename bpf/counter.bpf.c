// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counter overflows: each counter has a perf event on each CPU, which runs er_overflow every time
 * it has counted its interval of events. er_overflow sends the running thread, its stacks, and the
 * number of events that the record represents. These programs are an object of their own, which is
 * loaded only if counters are recorded.
 *
 * The link's cookie is the number of the counter, and whether it records addresses of data: of a page
 * fault the kernel knows the address, of an event of the CPU its unit for precise events. The kernel
 * gives the number of events: the period that has just ended. Hardware counters interrupt by an NMI;
 * software ones call er_overflow where they are counted: in a page fault, or in the scheduler with the
 * run queue locked. So the program uses only what is safe in all of these: existing maps, rings, user
 * memory that is present. The kernel never runs two programs of perf events nested on a CPU, and skips
 * the second. It also holds overflows back if there are too many (throttling). The program sees neither
 * kind. Their number is the counter's own value at the end minus `events`.
 *
 * Cost, by the kernel's statistics: 0.6 us for each overflow, measured with page faults that all
 * overflow (6.18, 2 virtual CPUs).
 *
 * A stack that clock samples have already sent is sent again. Its id is the same, because the seed
 * is, but each object knows only the stacks that it has sent itself.
 */
#include "bpf/vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/hotplug.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/sample.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* By CPU id, as er_cpus. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct er_counter_cpu);
} er_counter_cpus SEC(".maps");

const volatile bool er_idle; /* record idle CPUs, too */

static __always_inline void send_overflow(struct bpf_perf_event_data *ctx, const struct sample *sm,
					  __u64 stack, __u32 counter)
{
	enum er_kind kind = counter & ER_COUNTER_DATA ? ER_KIND_DATA : ER_KIND_COUNTER;
	__u32 seq = er_number(sm->cpu, ER_KIND_COUNTER);
	struct er_counter *r = NULL;

	if (sm->ring)
		r = bpf_ringbuf_reserve(sm->ring, sizeof(*r), 0);
	if (!r) {
		er_lost(sm->cpu, ER_KIND_COUNTER, sm->now, sm->tgid, sm->tid);
		return;
	}
	sample_fill(&r->at, sm, kind, seq, stack, ctx->sample_period);
	r->counter = counter & ~ER_COUNTER_DATA;
	r->pad = 0;
	r->address = ctx->addr;
	r->pc = ctx->regs[ER_REG_IP];
	bpf_ringbuf_submit(r, er_wakeup(sm->ring));
}

/*
 * Bounded directly before its use: on 6.1 the verifier loses the bound when the value is spilled.
 */
static __always_inline void count_events(struct er_counter_cpu *cc, __u32 counter, __u64 n)
{
	barrier_var(counter);
	if (counter < ER_MAX_COUNTERS)
		__sync_fetch_and_add(&cc->events[counter], n);
}

static __always_inline void overflow(struct bpf_perf_event_data *ctx, struct er_cpu *c, bool again)
{
	__u32 cpu = bpf_get_smp_processor_id(), counter = bpf_get_attach_cookie(ctx);
	struct er_counter_cpu *cc = bpf_map_lookup_elem(&er_counter_cpus, &cpu);
	struct sample sm;

	if (!cc)
		return;
	count_events(cc, counter & ~ER_COUNTER_DATA, ctx->sample_period);
	gather(&sm);
	sm.cpu = c;
	if (!thread_wanted(sm.task) || (!sm.task->pid && !er_idle))
		return;
	sm.ring = er_this_ring();
	sm.flags = er_sample_flags(ctx->regs[ER_REG_CS]);
	send_overflow(ctx, &sm, sample_stack(ctx, &sm, SCRATCH_CLOCK, again), counter);
}

static __always_inline void count(struct bpf_perf_event_data *ctx, bool again)
{
	struct er_cpu *c = er_this_cpu();
	__u64 began;

	if (!c)
		return;
	began = cost_begin(c, ER_PROG_COUNTER);
	overflow(ctx, c, again);
	cost_end(c, ER_PROG_COUNTER, began);
}

SEC("perf_event")
int er_overflow(struct bpf_perf_event_data *ctx)
{
	count(ctx, false);
	return 0;
}

/* As er_clock_again. */
SEC("perf_event")
int er_overflow_again(struct bpf_perf_event_data *ctx)
{
	count(ctx, true);
	return 0;
}
