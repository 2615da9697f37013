/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The capture counts from its begin on; a segment shows what was added in it. At a cut some records
 * are still in rings: they are counted as produced in the segment that records them. So in each
 * segment but the last, produced is recorded + lost by definition. In the last one it is what the
 * kernel counted less that, and so proves the sum of all segments.
 */
#include "user/record/recorder_base.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "analysis/base/alloc.h"
#include "loaders/task_perf.h"

enum { COUNTS = sizeof(struct er_counts) / sizeof(__u64) };

_Static_assert(sizeof(struct er_counts) == COUNTS * sizeof(__u64), "all fields are counts");

void recorder_xml_cpu(const struct recorder_xml *a, int cpu, struct er_counts *ret)
{
	const struct ring_count *ring = drain_ring(a->drain, cpu);
	const __u64 *base = a->base.cpus ? (const __u64 *)&a->base.cpus[cpu] : NULL;
	__u64 *count = (__u64 *)ret;

	capture_counts(a->capture, cpu, ret);
	for (int i = 0; base && i < COUNTS; i++)
		count[i] -= base[i];
	for (int kind = 0; a->followed && kind < ER_KIND_COUNT; kind++)
		ret->produced[kind] = ring->recorded[kind] + ret->lost[kind];
}

uint64_t recorder_xml_produced(const struct recorder_xml *a, enum er_kind kind)
{
	struct er_counts c;
	uint64_t n = 0;

	for (int cpu = 0; a->capture && cpu < capture_ncpus(a->capture); cpu++) {
		capture_counts(a->capture, cpu, &c);
		n += c.produced[kind];
	}
	return n;
}

size_t recorder_costs(const struct recorder_xml *a, struct capture_cost *ret)
{
	size_t n = capture_costs(a->capture, ret, ER_PROG_COUNT), rows = 0;

	for (size_t i = 0; i < n && i < ER_PROG_COUNT; i++) {
		struct capture_cost row = ret[i];

		for (int k = 0; k < ER_PROG_COUNT; k++) {
			const struct capture_cost *base = &a->base.costs[k];

			if (!base->runs || strcmp(base->program, row.program))
				continue;
			row.runs -= base->runs;
			row.ns -= base->ns < row.ns ? base->ns : row.ns;
		}
		if (row.runs)
			ret[rows++] = row;
	}
	return rows;
}

void recorder_calls(const struct recorder_xml *a, struct er_calls *ret)
{
	capture_calls(a->capture, ret);
	for (int i = 0; a->base.calls && i < ER_MAX_SYSCALLS; i++) {
		ret[i].calls -= a->base.calls[i].calls;
		ret[i].errors -= a->base.calls[i].errors;
	}
}

void recorder_counted(const struct recorder_xml *a, size_t counter, struct capture_counted *ret)
{
	const struct capture_counted *base = &a->base.counted[counter];

	if (a->perf)
		task_perf_counted(a->perf, counter, ret);
	else
		capture_counted(a->capture, counter, ret);
	ret->events -= base->events;
	ret->seen -= base->seen;
	ret->enabled_ns -= base->enabled_ns;
	ret->running_ns -= base->running_ns;
}

void recorder_probed(const struct recorder_xml *a, size_t probe, struct capture_probed *ret)
{
	capture_probed(a->capture, probe, ret);
	ret->hits -= a->base.probed[probe].hits;
	ret->unread -= a->base.probed[probe].unread;
	ret->missed -= a->base.probed[probe].missed;
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return t->tv_sec * 1000000000ULL + t->tv_usec * 1000;
}

void recorder_self(uint64_t *user_ns, uint64_t *system_ns)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	*user_ns = timeval_ns(&ru.ru_utime);
	*system_ns = timeval_ns(&ru.ru_stime);
}

static void restart_cpus(struct recorder_xml *a)
{
	int ncpus = capture_ncpus(a->capture);
	struct er_counts *cpus = xcalloc(ncpus, sizeof(*cpus));

	for (int cpu = 0; cpu < ncpus; cpu++) {
		struct er_counts part;

		recorder_xml_cpu(a, cpu, &part);
		capture_counts(a->capture, cpu, &cpus[cpu]);
		for (int kind = 0; kind < ER_KIND_COUNT; kind++) {
			cpus[cpu].produced[kind] = part.produced[kind];
			if (a->base.cpus)
				cpus[cpu].produced[kind] += a->base.cpus[cpu].produced[kind];
			/* Losses since then are the next segment's, as `part` has not counted them. */
			cpus[cpu].lost[kind] = part.lost[kind];
			if (a->base.cpus)
				cpus[cpu].lost[kind] += a->base.cpus[cpu].lost[kind];
		}
	}
	free(a->base.cpus);
	a->base.cpus = cpus;
}

void recorder_xml_restart(struct recorder_xml *a, uint64_t start_ns)
{
	struct recorder_base *base = &a->base;

	if (a->capture) {
		restart_cpus(a);
		if (!base->calls)
			base->calls = xcalloc(ER_MAX_SYSCALLS, sizeof(*base->calls));
		memset(base->calls, 0, ER_MAX_SYSCALLS * sizeof(*base->calls));
		capture_calls(a->capture, base->calls);
		for (size_t i = 0; i < a->plan->counters.len; i++)
			capture_counted(a->capture, i, &base->counted[i]);
		for (size_t i = 0; i < a->plan->probes.len; i++)
			capture_probed(a->capture, i, &base->probed[i]);
		memset(base->costs, 0, sizeof(base->costs));
		capture_costs(a->capture, base->costs, ER_PROG_COUNT);
	}
	recorder_self(&base->user_ns, &base->system_ns);
	a->start_ns = a->began_ns = start_ns;
	a->start_asleep_ns = recorder_xml_asleep_ns();
	a->stop_ns = 0;
	a->pauses = (struct pauses){ 0 };
	a->closed = a->followed = false;
	a->archives = ARCHIVES_NONE;
	a->unarchived = 0;
}

void recorder_xml_fini(struct recorder_xml *a)
{
	free(a->base.cpus);
	free(a->base.calls);
}
