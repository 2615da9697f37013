/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/task_events_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loaders/capture.h"
#include "user/record/drain_impl.h"
#include "user/record/schedule.h"
#include "user/space/procfs.h"

enum {
	FEW_THREADS = 64, /* if there are more, not all are read at each take, */
	ALL_EVERY = 10,   /* but every so many takes */
	BLUR_NS = 1000000, /* while more CPU time than this passes, two counts cannot be compared */
	ENOUGH_NS = 500 * BLUR_NS, /* of CPU time, for a share of the difference */
	PAUSE_FACTOR = 100, /* comparing takes a hundredth of the time at most */
};

/* The CPU time of all threads of a process, also of those that have ended. 0: it is gone. */
static uint64_t process_clock(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* The kernel's count of a thread's time, and the part of it in the kernel. False: it has ended. */
static bool read_times(const struct task_events *te, const struct thread *t, uint64_t *run_ns,
		       uint64_t *system_ns)
{
	char name[64];
	struct buf b = { 0 };
	uint64_t system = 0;
	const char *p;
	bool ok;

	snprintf(name, sizeof(name), "task/%d/stat", t->tid);
	ok = !procfs_read(t->pid, name, &b);
	buf_add(&b, "", 1);
	p = ok ? strrchr(b.data, ')') : NULL;
	ok = p && sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %" SCNu64, &system) == 1;
	buf_clear(&b);
	snprintf(name, sizeof(name), "task/%d/schedstat", t->tid);
	ok = ok && !procfs_read(t->pid, name, &b);
	buf_add(&b, "", 1);
	ok = ok && sscanf(b.data, "%" SCNu64, run_ns) == 1;
	buf_free(&b);
	*system_ns = system * te->ticks_ns;
	return ok;
}

/* One record; `ns` is its weight. */
static void send(struct task_events *te, const struct thread *t, enum er_kind kind, const struct waiting *at,
		 uint32_t flags, uint64_t ns)
{
	struct process *p = process_of(te, t->pid);
	uint32_t cpu = at->cpu < (uint32_t)capture_ncpus(te->parts.capture) ? at->cpu : 0;
	struct er_residual r = {
		.at = {
			.h = { .kind = kind, .time_ns = at->time_ns },
			.task = { .start_time = p ? p->start_time : 0, .tgid = t->pid, .tid = t->tid },
			.stack = at->stack, .weight = ns, .cpu = cpu, .flags = flags,
		},
		.ran_ns = at->time_ns, .ran_cpu = cpu, .system_ns = flags & ER_CLOCK_USER ? 0 : ns,
	};

	if (!p || !ns)
		return;
	p->told_ns += ns;
	memcpy(r.at.task.comm, t->comm, sizeof(r.at.task.comm));
	r.at.h.seq = capture_count(te->parts.capture, cpu, ER_KIND_CLOCK, 1, 0);
	drain_take(te->parts.drain, cpu, &r, kind == ER_KIND_CLOCK ? sizeof(r.at) : sizeof(r));
}

static void send_rest(struct task_events *te, const struct thread *t, uint32_t flags, uint64_t ns)
{
	const struct waiting at = { .time_ns = te->now_ns, .cpu = t->cpu,
				    .stack = flags & ER_CLOCK_UNSAMPLED ? 0 : t->stack };

	send(te, t, ER_KIND_RESIDUAL, &at, flags, ns);
}

/* Equal parts of the time for each sample. */
static void send_samples(struct task_events *te, struct thread *t)
{
	uint64_t left = t->user_ns;
	size_t n = t->samples.len;

	vec_for_each(s, &t->samples) {
		uint64_t part = left / n--;

		send(te, t, ER_KIND_CLOCK, s, ER_CLOCK_USER, part);
		left -= part;
	}
	t->user_ns = 0;
	t->samples.len = 0;
}

/*
 * The clock's event does not count as the scheduler does: it has the time of interrupts, and lacks that of
 * switches. In 2 s of a busy machine we saw 47 ms more and 20 ms less. So the difference is noted each time when
 * the times of all threads are known, `before` being the event's count before they were read.
 */
static void note_drift(struct task_events *te, uint64_t before, uint64_t began_ns)
{
	uint64_t after = task_perf_cpu_ns(te->parts.perf), now = now_ns();

	te->drift_due_ns = now + PAUSE_FACTOR * (now - began_ns);
	if (after - before > BLUR_NS)
		return;
	te->drift_perf_ns = after;
	te->drift_ns = (int64_t)(after - te->told_ns);
}

/*
 * What a thread has used since its last reading, when there is nothing more to read. An event that was
 * opened for the thread itself counts the threads that it created, too: there the sum of all helps, as
 * the times of the others are up to date.
 */
static uint64_t last_time(const struct task_events *te, const struct thread *t)
{
	uint64_t all = t->perf_ns ? t->perf_ns : task_perf_cpu_ns(te->parts.perf);
	uint64_t told = t->perf_ns ? t->told_ns : te->told_ns;
	uint64_t passed = t->ended_ns > t->read_ns ? t->ended_ns - t->read_ns : 0;
	int64_t drift = te->drift_ns, more;

	if (t->perf_ns) /* its share; of a short time the two counts differ by chance */
		drift = te->drift_perf_ns > ENOUGH_NS ? (double)drift * all / te->drift_perf_ns : 0;
	more = (int64_t)(all - told) - drift;
	if (more < 0)
		return 0;
	return (uint64_t)more < passed ? (uint64_t)more : passed;
}

/*
 * Record what the thread has used since the last time. With `end` also what has no sample. Returns whether its
 * time could be read.
 */
static bool settle(struct task_events *te, struct thread *t, bool end)
{
	uint64_t run = t->run_ns, system = t->system_ns, used, in_kernel;
	bool living = !t->ended && read_times(te, t, &run, &system);

	if (living)
		used = run > t->run_ns ? run - t->run_ns : 0;
	else if (end)
		used = last_time(te, t);
	else
		return false; /* it is about to end */
	in_kernel = system > t->system_ns ? system - t->system_ns : 0;
	in_kernel = in_kernel < used ? in_kernel : used;
	t->run_ns += used;
	t->system_ns += in_kernel;
	t->told_ns += used;
	te->told_ns += used;
	t->read_ns = te->now_ns;
	t->user_ns += used - in_kernel;
	send_rest(te, t, ER_CLOCK_UNSAMPLED | ER_CLOCK_SPLIT, in_kernel);
	if (t->samples.len)
		send_samples(te, t);
	if (end)
		send_rest(te, t, ER_CLOCK_USER | (t->stack ? 0 : ER_CLOCK_UNSAMPLED | ER_CLOCK_SPLIT), t->user_ns);
	t->user_ns = end ? 0 : t->user_ns;
	return living;
}

static void settle_living(struct task_events *te, bool last)
{
	bool all = last || te->living <= FEW_THREADS || te->takes++ % ALL_EVERY == 0;
	bool compare = all && te->now_ns >= te->drift_due_ns;
	uint64_t began = compare ? now_ns() : 0, before = compare ? task_perf_cpu_ns(te->parts.perf) : 0;

	map_for_each(s, &te->threads) {
		struct thread *t = (struct thread *)(uintptr_t)s->value;

		if (!t->ended && (all || t->samples.len))
			compare &= settle(te, t, last);
		compare &= !t->ended;
	}
	if (compare)
		note_drift(te, before, began);
}

/* The record of a thread's end comes before its last count. So a thread stays for one more take. */
static void settle_ended(struct task_events *te, bool last)
{
	VEC(uint64_t) gone = { 0 };

	map_for_each(s, &te->threads) {
		struct thread *t = (struct thread *)(uintptr_t)s->value;

		if (!t->ended || !(last || t->takes++))
			continue;
		settle(te, t, true);
		vec_push(&gone, t->tid);
	}
	vec_for_each(tid, &gone) {
		task_thread_free(thread_of(te, *tid));
		map_remove(&te->threads, *tid);
	}
	vec_free(&gone);
}

/* Time of threads that ended without a count, and of the moment of each end. */
static void settle_processes(struct task_events *te)
{
	map_for_each(s, &te->processes) {
		const struct process *p = (struct process *)(uintptr_t)s->value;
		uint64_t clock = process_clock(p->pid);
		struct thread main = { .pid = p->pid, .tid = p->pid };
		const struct thread *t = thread_of(te, p->pid);

		if (clock <= p->clock_ns + p->told_ns)
			continue;
		if (t)
			memcpy(main.comm, t->comm, sizeof(main.comm));
		te->told_ns += clock - p->clock_ns - p->told_ns;
		send_rest(te, &main, ER_CLOCK_UNSAMPLED, clock - p->clock_ns - p->told_ns);
	}
}

void task_thread_free(struct thread *t)
{
	vec_free(&t->samples);
	free(t);
}

void task_settle(struct task_events *te, bool last)
{
	settle_living(te, last);
	settle_ended(te, last);
	if (last)
		settle_processes(te);
}

void task_settle_begin(struct task_events *te)
{
	map_for_each(s, &te->threads) {
		struct thread *t = (struct thread *)(uintptr_t)s->value;

		read_times(te, t, &t->run_ns, &t->system_ns);
	}
	map_for_each(s, &te->processes) {
		struct process *p = (struct process *)(uintptr_t)s->value;

		p->clock_ns = process_clock(p->pid);
		p->told_ns = 0;
	}
}
