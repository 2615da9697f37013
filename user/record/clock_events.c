/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/clock_events.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "loaders/capture.h"
#include "user/record/drain_impl.h"
#include "user/record/schedule.h"
#include "user/space/procfs.h"

enum {
	BATCH = 1 << 16,      /* slots of each ring at a time */
	MAX_THREADS = 1 << 16, /* of one process */
	MAX_ANCESTORS = 64,
	SLACK_US = 1000000,   /* a program is started a moment before its recording */
};

struct thread {
	uint64_t user_us, system_us; /* up to its last sample */
	uint64_t stack; /* of its last sample; 0: none */
	char comm[16];
};

struct process {
	pid_t pid;
	uint64_t start_time; /* as the procmap knows the process */
	struct map threads;  /* tid, to an index in `all` */
	VEC(struct thread) all;
	uint64_t sum_us;     /* CPU time of all its threads */
	uint64_t read_ns;    /* when its mappings were read */
};

struct clock_events {
	struct clock_parts parts;
	struct map by_pid; /* to struct process * */
	bool paused;
	uint64_t total_ns;
	uint64_t now_ns;   /* when the present batch was read */
	uint64_t lost;     /* that were counted */
};

struct clock_events *clock_events_new(const struct clock_parts *parts)
{
	struct clock_events *ce = xcalloc(1, sizeof(*ce));

	ce->parts = *parts;
	ce->paused = true;
	return ce;
}

static void process_free(struct process *p)
{
	map_free(&p->threads);
	vec_free(&p->all);
	free(p);
}

void clock_events_free(struct clock_events *ce)
{
	if (!ce)
		return;
	map_for_each(s, &ce->by_pid)
		process_free((struct process *)(uintptr_t)s->value);
	map_free(&ce->by_pid);
	free(ce);
}

void clock_events_pause(struct clock_events *ce, bool paused)
{
	ce->paused = paused;
}

uint64_t clock_events_total(const struct clock_events *ce)
{
	return ce->total_ns;
}

/* --- processes --- */

static struct process *find(const struct clock_events *ce, pid_t pid)
{
	uint64_t *at = map_get(&ce->by_pid, pid);

	return at ? (struct process *)(uintptr_t)*at : NULL;
}

static void forget(struct clock_events *ce, pid_t pid)
{
	struct process *p = find(ce, pid);

	if (!p)
		return;
	map_remove(&ce->by_pid, pid);
	process_free(p);
}

/*
 * The process that created this one, if it is recorded itself. Otherwise an ancestor is: programs
 * without the library may lie between.
 */
static pid_t known_parent(const struct clock_events *ce, pid_t pid, pid_t parent)
{
	struct procfs_stat st;

	if (find(ce, parent))
		return parent;
	for (int i = 0; i < MAX_ANCESTORS && procfs_stat(pid, &st) && st.ppid > 1; i++) {
		pid = st.ppid;
		if (find(ce, pid))
			return pid;
	}
	return ce->parts.load;
}

/* The load was there before the recording. */
static void add_process(struct clock_events *ce, pid_t pid, pid_t parent, uint64_t time_ns)
{
	struct process *p = xcalloc(1, sizeof(*p));
	bool load = pid == ce->parts.load;

	p->pid = pid;
	p->start_time = load ? 1 : time_ns;
	if (!load)
		procmap_apply(ce->parts.procmap, &(struct proc_event){
			.kind = PROC_FORK, .time_ns = time_ns, .pid = pid, .tid = pid,
			.ppid = known_parent(ce, pid, parent) });
	procmap_image(ce->parts.procmap, pid, p->start_time, time_ns);
	*map_put(&ce->by_pid, pid, NULL) = (uintptr_t)p;
}

static void read_mappings(struct clock_events *ce, struct process *p, uint64_t time_ns)
{
	p->read_ns = now_ns();
	procmap_read(ce->parts.procmap, p->pid, time_ns);
}

static void execute(struct clock_events *ce, pid_t pid, uint64_t time_ns)
{
	struct procfs_stat st = { 0 };

	procfs_stat(pid, &st);
	procmap_apply(ce->parts.procmap, &(struct proc_event){
		.kind = PROC_EXEC, .time_ns = time_ns, .pid = pid, .tid = pid, .name = st.comm });
}

static bool on_began(void *ctx, pid_t pid, pid_t parent, bool forked)
{
	struct clock_events *ce = ctx;
	uint64_t time_ns = now_ns();

	if (!ce->parts.descend && pid != ce->parts.load)
		return false;
	if (forked)
		forget(ce, pid); /* an earlier process of this number */
	if (!find(ce, pid))
		add_process(ce, pid, parent, time_ns);
	if (!forked)
		execute(ce, pid, time_ns);
	read_mappings(ce, find(ce, pid), time_ns);
	return true;
}

static void on_ended(void *ctx, pid_t pid)
{
	struct clock_events *ce = ctx;

	if (!find(ce, pid))
		return;
	procmap_apply(ce->parts.procmap, &(struct proc_event){
		.kind = PROC_EXIT, .time_ns = now_ns(), .pid = pid, .tid = pid });
	forget(ce, pid);
}

struct heap_processes clock_events_hooks(struct clock_events *ce)
{
	return (struct heap_processes){ .began = on_began, .ended = on_ended, .ctx = ce };
}

/* --- samples --- */

static struct thread *thread_of(struct process *p, uint32_t tid)
{
	uint64_t *at = map_get(&p->threads, tid);

	if (at)
		return &p->all.data[*at];
	if (p->all.len >= MAX_THREADS)
		return NULL;
	*map_put(&p->threads, tid, NULL) = p->all.len;
	vec_push(&p->all, (struct thread){ 0 });
	return &p->all.data[p->all.len - 1];
}

/* The program may write any number. */
static uint64_t believable(const struct clock_events *ce, uint64_t us, unsigned ncpus)
{
	uint64_t most = ((ce->now_ns - ce->parts.start_ns) / 1000 + SLACK_US) * ncpus;

	return us < most ? us : most;
}

static uint64_t moment(const struct clock_events *ce, uint64_t time_ns)
{
	if (time_ns < ce->parts.start_ns)
		return ce->parts.start_ns;
	return time_ns < ce->now_ns ? time_ns : ce->now_ns;
}

/* One record; `us` is its weight. A residual's user and system time are two. */
static void send(struct clock_events *ce, const struct process *p, const struct heap_sample *s,
		 enum er_kind kind, uint32_t flags, uint64_t us, bool system)
{
	uint32_t cpu = s->cpu < (uint32_t)capture_ncpus(ce->parts.capture) ? s->cpu : 0;
	uint64_t at = moment(ce, s->time_ns);
	struct er_residual r = {
		.at = {
			.h = { .kind = kind, .time_ns = at },
			.task = { .start_time = p->start_time, .tgid = p->pid, .tid = s->tid },
			.stack = s->stack, .weight = us * 1000, .cpu = cpu, .flags = flags,
		},
		.ran_ns = at, .ran_cpu = cpu, .system_ns = system ? us * 1000 : 0,
	};

	if (ce->paused || !us)
		return;
	memcpy(r.at.task.comm, s->comm, sizeof(r.at.task.comm));
	r.at.h.seq = capture_count(ce->parts.capture, cpu, ER_KIND_CLOCK, 1, 0);
	ce->total_ns += r.at.weight;
	drain_take(ce->parts.drain, cpu, &r, kind == ER_KIND_CLOCK ? sizeof(r.at) : sizeof(r));
}

/* Time since the last sample of a thread that ends has the stack of that sample. */
static void send_rest(struct clock_events *ce, const struct process *p, const struct heap_sample *s,
		      uint64_t user_us, uint64_t system_us)
{
	uint32_t unsampled = s->stack ? 0 : ER_CLOCK_UNSAMPLED | ER_CLOCK_SPLIT;

	send(ce, p, s, ER_KIND_RESIDUAL, ER_CLOCK_USER | unsampled, user_us, false);
	send(ce, p, s, ER_KIND_RESIDUAL, unsampled, system_us, true);
}

static uint64_t advance(uint64_t *last, uint64_t to)
{
	uint64_t d = to > *last ? to - *last : 0;

	*last = to > *last ? to : *last;
	return d;
}

static void take_sample(void *ctx, const struct heap_process *from, const struct heap_sample *sample)
{
	struct clock_events *ce = ctx;
	struct process *p = find(ce, from->pid);
	struct thread *t = p ? thread_of(p, sample->tid) : NULL;
	struct heap_sample s = *sample;
	uint64_t user_us, system_us;

	if (!t)
		return;
	user_us = advance(&t->user_us, believable(ce, s.user_us, 1));
	system_us = advance(&t->system_us, believable(ce, s.system_us, 1));
	p->sum_us += user_us + system_us;
	memcpy(t->comm, s.comm, sizeof(t->comm));
	if (!s.stack) {
		s.stack = t->stack;
		send_rest(ce, p, &s, user_us, system_us);
		*t = (struct thread){ 0 }; /* the number may be used again */
		return;
	}
	s.stack = t->stack = heap_stack_id(from, s.stack);
	send(ce, p, &s, ER_KIND_CLOCK, ER_CLOCK_USER, user_us, false);
	send(ce, p, &s, ER_KIND_CLOCK, 0, system_us, true);
}

/* Threads that the library did not see, and the last moments of those that did not end by themselves. */
static void take_process(void *ctx, const struct heap_process *from, const struct heap_sample *sample)
{
	struct clock_events *ce = ctx;
	struct process *p = find(ce, from->pid);
	struct heap_sample s = *sample;
	struct thread *t = p ? thread_of(p, s.tid) : NULL;
	uint64_t us;

	if (!t)
		return;
	memcpy(s.comm, t->comm, sizeof(s.comm));
	us = believable(ce, s.user_us + s.system_us, capture_ncpus(ce->parts.capture));
	send_rest(ce, p, &s, advance(&p->sum_us, us), 0);
}

static void take_stack(void *ctx, const struct heap_process *from, uint64_t id, uint64_t time_ns,
		       const uint64_t *pcs, size_t n, unsigned end)
{
	struct clock_events *ce = ctx;
	struct process *p = find(ce, from->pid);
	struct image *im;

	time_ns = moment(ce, time_ns);
	im = p ? procmap_image(ce->parts.procmap, p->pid, p->start_time, time_ns) : NULL;
	if (im)
		heap_stack_keep(ce->parts.drain->stacks, im,
				&(struct heap_stack){ .id = heap_stack_id(from, id), .time_ns = time_ns,
						      .start_time = p->start_time, .pcs = pcs, .n = n,
						      .end = end, .exact = true });
}

/* What was read after the files were loaded has them. */
static void take_code(void *ctx, const struct heap_process *from, uint64_t time_ns)
{
	struct clock_events *ce = ctx;
	struct process *p = find(ce, from->pid);

	time_ns = moment(ce, time_ns);
	if (p && time_ns > p->read_ns)
		read_mappings(ce, p, time_ns);
}

static void take_event(void *ctx, const struct heap_process *from, const struct heap_record *r)
{
}

/* A lost sample's time is in the thread's next one. */
static void count_lost(struct clock_events *ce, const struct heap_server *server)
{
	struct heap_counts c = heap_server_counts(server);
	uint64_t n = c.lost + c.malformed;

	if (n <= ce->lost)
		return;
	capture_count(ce->parts.capture, 0, ER_KIND_CLOCK, n - ce->lost, n - ce->lost);
	ce->lost = n;
}

void clock_events_take(struct clock_events *ce, struct heap_server *server, bool last)
{
	const struct heap_sink sink = { .stack = take_stack, .event = take_event, .sample = take_sample,
					.process = take_process, .code = take_code, .ctx = ce };

	ce->now_ns = now_ns();
	heap_server_take(server, &sink, BATCH, last);
	count_lost(ce, server);
}
