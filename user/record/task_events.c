/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/task_events_impl.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "loaders/capture.h"
#include "user/record/drain_impl.h"
#include "user/record/drops.h"
#include "user/record/schedule.h"
#include "user/space/procfs.h"

static void read_comm(struct thread *t)
{
	struct buf b = { 0 };
	char name[64];

	snprintf(name, sizeof(name), "task/%d/comm", t->tid);
	if (!procfs_read(t->pid, name, &b))
		snprintf(t->comm, sizeof(t->comm), "%.*s", (int)strcspn(b.data ? b.data : "", "\n"),
			 b.data ? b.data : "");
	buf_free(&b);
}

static struct process *add_process(struct task_events *te, pid_t pid, uint64_t start_time)
{
	struct process *p = process_of(te, pid);

	if (!p)
		*map_put(&te->processes, pid, NULL) = (uintptr_t)(p = xcalloc(1, sizeof(*p)));
	*p = (struct process){ .pid = pid, .start_time = start_time };
	return p;
}

static struct thread *add_thread(struct task_events *te, pid_t pid, pid_t tid, uint64_t time_ns)
{
	struct thread *t = thread_of(te, tid);

	if (t) {
		te->living -= !t->ended;
		vec_free(&t->samples);
	} else if (te->living >= TASK_THREADS) {
		return NULL;
	} else {
		*map_put(&te->threads, tid, NULL) = (uintptr_t)(t = xmalloc(sizeof(*t)));
	}
	*t = (struct thread){ .pid = pid, .tid = tid, .read_ns = time_ns };
	te->living++;
	return t;
}

/* The threads that there are when recording begins. */
static void add_present(struct task_events *te)
{
	__cleanup(freep) char *path = xasprintf("/proc/%d/task", te->parts.pid);
	DIR *dir = opendir(path);
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		pid_t tid = atoi(e->d_name);
		struct thread *t = tid > 0 ? add_thread(te, te->parts.pid, tid, now_ns()) : NULL;

		if (t)
			read_comm(t);
	}
	if (dir)
		closedir(dir);
}

static uint64_t ticks_ns(void)
{
	long hz = sysconf(_SC_CLK_TCK);

	return 1000000000ULL / (hz > 0 ? hz : 100);
}

struct task_events *task_events_new(const struct task_parts *parts)
{
	struct task_events *te = xcalloc(1, sizeof(*te));

	te->parts = *parts;
	te->paused = true;
	te->ticks_ns = ticks_ns();
	add_process(te, parts->pid, 1);
	procmap_image(parts->procmap, parts->pid, 1, now_ns());
	add_present(te);
	return te;
}

void task_events_free(struct task_events *te)
{
	if (!te)
		return;
	map_for_each(s, &te->threads)
		task_thread_free((struct thread *)(uintptr_t)s->value);
	map_for_each(s, &te->processes)
		free((struct process *)(uintptr_t)s->value);
	map_free(&te->threads);
	map_free(&te->processes);
	eventqueue_free(&te->queue);
	buf_free(&te->records);
	vec_free(&te->used);
	free(te);
}

static void thread_ended(struct task_events *te, struct thread *t, uint64_t time_ns)
{
	t->ended = true;
	t->ended_ns = time_ns;
	te->living--;
}

/* A thread that add_present has seen may come again. */
static void on_fork(struct task_events *te, const struct proc_event *e)
{
	const struct thread *by = thread_of(te, e->ppid), *have = thread_of(te, e->tid);
	struct thread *t;

	if (e->pid != te->parts.pid && !te->parts.descend)
		return; /* it has no events */
	if (e->pid == e->tid && e->pid != te->parts.pid)
		add_process(te, e->pid, e->time_ns);
	if (!process_of(te, e->pid) || (have && have->pid == e->pid && !have->ended))
		return;
	t = add_thread(te, e->pid, e->tid, e->time_ns);
	if (t && by)
		memcpy(t->comm, by->comm, sizeof(t->comm));
}

static void on_process(void *ctx, const struct proc_event *e)
{
	struct task_events *te = ctx;
	struct thread *t = thread_of(te, e->tid);

	procmap_apply(te->parts.procmap, e);
	if (e->kind == PROC_FORK) {
		on_fork(te, e);
	} else if (e->kind == PROC_EXIT && t && !t->ended) {
		thread_ended(te, t, e->time_ns);
	} else if (t && (e->kind == PROC_COMM || e->kind == PROC_EXEC)) {
		snprintf(t->comm, sizeof(t->comm), "%s", e->name);
	}
}

/* The fork of its process may be in a ring that is read later. */
static void on_sample(void *ctx, const struct task_sample *s)
{
	struct task_events *te = ctx;

	if (!te->paused)
		task_keep_sample(te, s, false);
}

static void on_record(void *ctx, const void *record, size_t size)
{
	struct task_events *te = ctx;

	eventqueue_add(&te->queue, record, size, NULL, 0);
}

static void on_used(void *ctx, uint32_t pid, uint32_t tid, uint64_t cpu_ns)
{
	struct task_events *te = ctx;

	vec_push(&te->used, (struct used){ pid, tid, cpu_ns });
}

static void use_used(struct task_events *te)
{
	vec_for_each(u, &te->used) {
		struct thread *t = thread_of(te, u->tid);

		if (t && t->pid == u->pid)
			t->perf_ns += u->cpu_ns;
	}
	te->used.len = 0;
}

/*
 * The time of a lost clock sample is in the thread's others. An event of the clock that takes no samples
 * brings records of processes only.
 */
static void count_lost(struct task_events *te)
{
	for (int clock = 0; clock < 2; clock++) {
		uint64_t n = task_perf_lost(te->parts.perf, clock);
		uint64_t more = n > te->lost[clock] ? n - te->lost[clock] : 0;

		te->lost[clock] += more;
		if (clock && !te->parts.interval_ns)
			te->parts.drops->n[DROP_SIDEBAND] += more;
		else if (more)
			task_lose_samples(te, clock, more);
	}
}

static void read_rings(struct task_events *te)
{
	const struct task_perf_sink sink = { .sample = on_sample, .process = on_record, .used = on_used, .ctx = te };

	task_perf_read(te->parts.perf, &sink);
}

/* Threads whose beginning will be known at the next take. */
static unsigned unborn(struct task_events *te)
{
	struct proc_event event;
	unsigned n = 0;

	read_rings(te);
	vec_for_each(e, &te->queue.events)
		n += sideband_parse(te->queue.bytes.data + e->offset, e->size, &event) && event.kind == PROC_FORK;
	return te->parts.descend ? n : 0;
}

/* A record of an end may have been lost. */
unsigned task_events_living(struct task_events *te)
{
	map_for_each(s, &te->threads) {
		struct thread *t = (struct thread *)(uintptr_t)s->value;

		if (!t->ended && syscall(SYS_tgkill, t->pid, t->tid, 0) && errno == ESRCH)
			thread_ended(te, t, now_ns());
	}
	return te->living + unborn(te);
}

void task_events_take(struct task_events *te, bool last)
{
	te->now_ns = now_ns();
	read_rings(te);
	eventqueue_deliver(&te->queue, last ? UINT64_MAX : now_ns(), on_process, te);
	task_use_samples(te);
	use_used(te);
	count_lost(te);
	if (te->paused || !te->parts.interval_ns)
		return;
	task_settle(te, last);
}

void task_events_pause(struct task_events *te, bool paused)
{
	if (paused == te->paused)
		return;
	if (paused)
		task_events_take(te, true);
	else
		task_settle_begin(te);
	te->paused = paused;
	task_perf_enable(te->parts.perf, !paused);
}
