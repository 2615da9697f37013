/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds up the records of a capture of the clock. Also children that use the CPU meanwhile. */
#ifndef CLOCK_SUMS_H
#define CLOCK_SUMS_H

#include <linux/types.h>
#include <sys/resource.h>

#include "analysis/base/map.h"
#include "bpf/command.h"
#include "loaders/capture.h"
#include "tests/live/selftest.h"

enum { CPUS = 4096 };

/* The sums of a capture. */
struct tally {
	struct map by_tid; /* weights, both kinds */
	struct map stacks; /* ids defined */
	struct map used;   /* ids that samples name */
	uint64_t kinds[ER_KIND_COUNT];
	uint64_t weight, unsampled, badsize;
	uint32_t only_tgid;	   /* sum only this process's weights; 0: all */
	uint64_t foreign;	   /* records of other processes */
	uint64_t per_cpu[CPUS][3]; /* stacks; clocks and residuals; command lines */
	uint64_t costs_ns, costs_runs;
};

static struct tally t;

/* The tolerance where the kernel's figure is taken a moment earlier or later. */
static inline double slack(void)
{
	return emulated ? 0.05 : 0.005;
}

static inline void on_clock(int cpu, const struct er_clock *r)
{
	t.per_cpu[cpu][1]++;
	*map_put(&t.by_tid, r->task.tid, NULL) += r->weight;
	if (r->stack)
		map_put(&t.used, r->stack, NULL);
	if (t.only_tgid && r->task.tgid != t.only_tgid) {
		t.foreign++;
		return;
	}
	t.weight += r->weight;
	t.unsampled += !!(r->flags & ER_CLOCK_UNSAMPLED);
}

static inline void on_record(void *ctx, int cpu, const void *record, size_t size)
{
	const struct er_header *h = record;

	if (h->kind >= ER_KIND_COUNT || cpu >= CPUS) {
		t.badsize++;
		return;
	}
	t.kinds[h->kind]++;
	if (h->kind == ER_KIND_STACK) {
		const struct er_stack *s = record;

		t.badsize += size != sizeof(*s) + (s->nkernel + s->nuser) * 8;
		t.per_cpu[cpu][0]++;
		map_put(&t.stacks, s->id, NULL);
	} else if (h->kind == ER_KIND_COMMAND) {
		t.badsize += size != sizeof(struct er_command);
		t.per_cpu[cpu][2]++;
	} else {
		t.badsize += size != (h->kind == ER_KIND_RESIDUAL ? sizeof(struct er_residual) :
								    sizeof(struct er_clock));
		on_clock(cpu, record);
	}
}

static inline void tally_reset(uint32_t only_tgid)
{
	map_free(&t.by_tid);
	map_free(&t.stacks);
	map_free(&t.used);
	memset(&t, 0, sizeof(t));
	t.only_tgid = only_tgid;
}

static inline uint64_t timeval_ns(struct timeval tv)
{
	return tv.tv_sec * 1000000000ull + tv.tv_usec * 1000ull;
}

static inline uint64_t rusage_ns(int who)
{
	struct rusage ru;

	getrusage(who, &ru);
	return timeval_ns(ru.ru_utime) + timeval_ns(ru.ru_stime);
}

static inline struct capture *begin(const struct capture_plan *plan)
{
	struct capture *c;
	uint64_t start;

	if (capture_open(plan, &diag, &c))
		exit(2);
	if (capture_start(c, &start, &diag))
		exit(2);
	return c;
}

static inline void drain(struct capture *c)
{
	while (capture_drain(c, 0, on_record, NULL) > 0)
		;
}

static inline void end(struct capture *c)
{
	struct capture_cost costs[16];
	uint64_t stop;
	size_t n;

	if (capture_stop(c, &stop, &diag))
		exit(2);
	drain(c);
	n = capture_costs(c, costs, 16);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(costs[i].program, "er_clock")) {
			t.costs_ns = costs[i].ns;
			t.costs_runs = costs[i].runs;
		}
}

static inline void count_loss(void *ctx, const struct er_loss_key *k, uint64_t n)
{
	*(uint64_t *)ctx += n;
}

/*
 * On each CPU recorded + lost = produced, and the table of losses agrees. Returns the number of
 * losses.
 */
static inline uint64_t check_counts(const char *name, struct capture *c)
{
	static const enum er_kind kinds[] = { ER_KIND_STACK, ER_KIND_CLOCK, ER_KIND_COMMAND };
	uint64_t lost = 0, listed = 0, unattributed = 0, wrong = 0;

	for (int cpu = 0; cpu < capture_ncpus(c); cpu++) {
		struct er_counts n;

		capture_counts(c, cpu, &n);
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
			wrong += t.per_cpu[cpu][i] + n.lost[kinds[i]] != n.produced[kinds[i]];
			lost += n.lost[kinds[i]];
		}
		unattributed += n.loss_unattributed;
	}
	capture_losses(c, count_loss, &listed);
	result(name, !wrong && !t.badsize && listed + unattributed == lost,
	       "%llu stacks, %llu samples, %llu residuals, %llu lost (%llu listed)",
	       (unsigned long long)t.kinds[ER_KIND_STACK],
	       (unsigned long long)t.kinds[ER_KIND_CLOCK],
	       (unsigned long long)t.kinds[ER_KIND_RESIDUAL], (unsigned long long)lost,
	       (unsigned long long)listed);
	return lost;
}

static inline size_t undefined_stacks(void)
{
	size_t n = 0;

	map_for_each (s, &t.used)
		n += !map_get(&t.stacks, s->key);
	return n;
}

/*
 * When a child is reaped its figure is added to the parent's. That figure changes only at ticks, so
 * the child is reaped when it has left its CPU for good.
 */
static inline void reap(pid_t pid)
{
	wait_dead(pid);
	waitpid(pid, NULL, 0);
}

static inline void burn_children(int n, int ms)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid) {
			spin_ms(ms);
			_exit(0);
		}
		reap(pid);
	}
}

static inline void *spin_and_go(void *arg)
{
	spin_ms(1);
	return NULL;
}

#endif
