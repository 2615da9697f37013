/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/thread_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/xml.h"
#include "bpf/er_event.h"
#include "user/record/processes.h"

enum {
	MAX_KNOWN = 1 << 15, /* threads; 4 MB with their entries in the map */
	RUNS = 2,            /* per thread: records are late by fewer than two renames */
};

/* A time in which all packets seen of a thread had one name. */
struct run {
	uint64_t first, last;
	uint64_t start; /* of the process: tells processes apart that had one PID */
	uint32_t pid;   /* 0: a kernel thread */
	char comm[16];
};

struct known {
	struct run runs[RUNS]; /* the latest first */
	unsigned n;
};

struct thread_names {
	struct recording *recording;
	struct map by_tid; /* into `threads`, + 1 */
	VEC(struct known) threads;
	bool forgot; /* threads that have lines */
};

struct thread_names *thread_names_new(struct recording *recording)
{
	struct thread_names *n = xcalloc(1, sizeof(*n));

	n->recording = recording;
	return n;
}

void thread_names_free(struct thread_names *n)
{
	if (!n)
		return;
	map_free(&n->by_tid);
	vec_free(&n->threads);
	free(n);
}

static void put_line(struct thread_names *n, uint32_t tid, const struct run *r, uint64_t time_ns)
{
	uint64_t start = recording_start(n->recording);
	struct buf b = { 0 };

	buf_printf(&b, "<name pid=\"%" PRIu32 "\" tid=\"%" PRIu32 "\" at=\"%" PRIu64 "\"", r->pid,
		   tid, time_ns > start ? time_ns - start : 0);
	if (r->pid)
		buf_printf(&b, " start=\"%" PRIu64 "\"", process_start(r->start));
	xml_attr(&b, "comm", r->comm);
	buf_puts(&b, "/>");
	recording_name(n->recording, b.data);
	buf_free(&b);
}

static struct known *known_of(struct thread_names *n, uint32_t tid)
{
	uint64_t *at;

	if (n->threads.len >= MAX_KNOWN && !map_get(&n->by_tid, tid)) {
		map_free(&n->by_tid);
		n->threads.len = 0;
		n->forgot = true;
	}
	at = map_put(&n->by_tid, tid, NULL);
	if (!*at) {
		vec_push(&n->threads, (struct known){ 0 });
		*at = n->threads.len;
	}
	return &n->threads.data[*at - 1];
}

/*
 * Since when the first name of a number is said to be in use. No packet came before, so it may be
 * earlier than the first one: a whole millisecond takes less room.
 */
static uint64_t first_time(const struct thread_names *n, uint64_t time_ns)
{
	uint64_t start = recording_start(n->recording);

	return time_ns > start ? time_ns - (time_ns - start) % 1000000 : time_ns;
}

static bool same(const struct run *a, const struct run *b)
{
	return a->pid == b->pid && a->start == b->start && !strcmp(a->comm, b->comm);
}

static void insert(struct known *k, unsigned at, const struct run *r)
{
	if (at >= RUNS)
		return;
	memmove(&k->runs[at + 1], &k->runs[at], (RUNS - 1 - at) * sizeof(*r));
	k->runs[at] = *r;
	k->n += k->n < RUNS;
}

void thread_names_note(struct thread_names *n, const struct er_task *task, const char *comm,
		       bool kthread, uint64_t time_ns)
{
	struct run new = { .first = time_ns, .last = time_ns, .start = task->start_time,
			   .pid = kthread ? 0 : task->tgid };
	struct known *k = known_of(n, task->tid);
	unsigned i = 0;

	/* Idle CPUs share number 0, and each adds its own number to the name. */
	if (task->tid)
		memcpy(new.comm, comm, strnlen(comm, sizeof(new.comm) - 1));
	else
		strcpy(new.comm, "swapper");
	if (!k->n && !n->forgot)
		new.first = time_ns = first_time(n, time_ns);
	while (i < k->n && k->runs[i].first > time_ns)
		i++;
	if (i < k->n && same(&k->runs[i], &new)) {
		if (time_ns > k->runs[i].last)
			k->runs[i].last = time_ns;
		return;
	}
	put_line(n, task->tid, &new, time_ns);
	/* Later packets that are already written keep their name. */
	if (i < k->n && time_ns < k->runs[i].last)
		put_line(n, task->tid, &k->runs[i], time_ns + 1);
	else
		insert(k, i, &new);
}

bool thread_names_process(struct thread_names *n, uint32_t pid, uint64_t start_time, const char *comm,
			  uint64_t begin_ns)
{
	struct run new = { .first = begin_ns, .last = begin_ns, .start = start_time, .pid = pid };
	struct known *k = known_of(n, pid);

	memcpy(new.comm, comm, strnlen(comm, sizeof(new.comm) - 1));
	/* Packets at or after the begin that have another name must keep it. */
	if (k->n && (same(&k->runs[0], &new) || k->runs[0].last >= begin_ns))
		return false;
	insert(k, 0, &new);
	return true;
}
