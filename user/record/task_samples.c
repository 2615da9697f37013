/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/task_events_impl.h"

#include <string.h>

#include "loaders/capture.h"
#include "user/record/drain_impl.h"

static void fill_raw(struct task_events *te, const struct process *p, const struct task_sample *s)
{
	struct er_stack *head = &te->raw.s;
	struct er_raw *raw = (struct er_raw *)head->pcs;

	*head = (struct er_stack){ .h = { .kind = ER_KIND_STACK, .time_ns = s->time_ns },
				   .id = 1ULL << 63 | ++te->nstacks, .start_time = p->start_time,
				   .tgid = s->pid, .flags = ER_STACK_RAW | ER_STACK_USER_EXACT };
	memset(raw, 0, sizeof(*raw));
	raw->copied_ns = s->time_ns;
	if (!s->regs)
		return;
	memcpy(raw->regs, s->regs, sizeof(raw->regs));
	raw->nbytes = s->nstack < ER_RAW_BYTES ? s->nstack : ER_RAW_BYTES;
	memcpy(raw->bytes, s->stack, raw->nbytes);
}

static void count_event(struct task_events *te, const struct process *p, const struct thread *t,
			const struct task_sample *s)
{
	uint32_t cpu = s->cpu < (uint32_t)capture_ncpus(te->parts.capture) ? s->cpu : 0;
	const struct capture_counter *event = &te->parts.counters->data[s->source].event;
	struct er_counter r = {
		.at = { .h = { .kind = event->data ? ER_KIND_DATA : ER_KIND_COUNTER, .time_ns = s->time_ns },
			.task = { .start_time = p->start_time, .tgid = s->pid, .tid = s->tid },
			.stack = te->raw.s.id, .weight = event->interval, .cpu = cpu, .flags = ER_CLOCK_USER },
		.counter = s->source, .address = s->address, .pc = s->regs ? s->regs[TASK_PERF_PC] : 0,
	};

	memcpy(r.at.task.comm, t->comm, sizeof(r.at.task.comm));
	r.at.h.seq = capture_count(te->parts.capture, cpu, ER_KIND_COUNTER, 1, 0);
	drain_take(te->parts.drain, cpu, &r, sizeof(r));
}

void task_lose_samples(struct task_events *te, bool of_clock, uint64_t n)
{
	capture_count(te->parts.capture, 0, of_clock ? ER_KIND_CLOCK : ER_KIND_COUNTER, n, n);
}

void task_keep_sample(struct task_events *te, const struct task_sample *s, bool again)
{
	const struct kept k = { .s = *s, .again = again };

	buf_add(&te->records, &k, sizeof(k));
	if (s->regs)
		buf_add(&te->records, s->regs, TASK_PERF_REGS * sizeof(*s->regs));
	if (s->nstack)
		buf_add(&te->records, s->stack, s->nstack);
}

static void use_sample(struct task_events *te, const struct task_sample *s, bool again)
{
	struct process *p = process_of(te, s->pid);
	struct thread *t = thread_of(te, s->tid);

	if (!again && (!p || !t)) {
		task_keep_sample(te, s, true);
		return;
	}
	if (!p || !t || t->samples.len >= TASK_WAITING) {
		task_lose_samples(te, s->source == TASK_PERF_CLOCK, 1);
		return;
	}
	fill_raw(te, p, s);
	keep_stack(te->parts.drain, &te->raw.s);
	t->cpu = s->cpu;
	if (s->source != TASK_PERF_CLOCK) {
		count_event(te, p, t, s);
		return;
	}
	t->stack = te->raw.s.id;
	vec_push(&t->samples, (struct waiting){ .time_ns = s->time_ns, .stack = t->stack, .cpu = s->cpu });
}

void task_use_samples(struct task_events *te)
{
	struct buf records = te->records;
	size_t at = 0;

	te->records = (struct buf){ 0 };
	while (at < records.len) {
		struct kept k;

		memcpy(&k, records.data + at, sizeof(k));
		at += sizeof(k);
		if (k.s.regs)
			k.s.regs = (const uint64_t *)(records.data + at);
		at += k.s.regs ? TASK_PERF_REGS * sizeof(*k.s.regs) : 0;
		k.s.stack = (const uint64_t *)(records.data + at);
		at += k.s.nstack;
		use_sample(te, &k.s, k.again);
	}
	buf_free(&records);
}
