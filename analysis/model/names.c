/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/model/model.h"

static uint64_t key(const struct experiment *e, int64_t id)
{
	return (uint64_t)(e->founder ? e->founder : e)->id << 32 | (uint32_t)id;
}

/* The first name stays: a thread may be told twice, a process has the name of its main thread. */
static void put(struct map *m, uint64_t k, const char *name, bool replace)
{
	bool fresh;
	uint64_t *at = map_put(m, k, &fresh);

	if (fresh || replace)
		*at = (uintptr_t)name;
}

static void add_name(struct names *n, const struct experiment *e, int64_t pid, int64_t tid,
		     const char *comm)
{
	put(&n->by_thread, key(e, tid), comm, false);
	if (pid)
		put(&n->by_process, key(e, pid), comm, pid == tid);
	else
		put(&n->kthreads, key(e, tid), comm, false);
}

static void add_recorded(struct names *n, const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		int64_t pid = element_int(el, "pid"), tid = element_int(el, "tid");
		const char *comm = element_get(el, "comm");

		if (!strcmp(el->name, "thread") && comm)
			add_name(n, e, pid, tid, comm);
	}
	vec_for_each(th, &e->threads) {
		if (*th->comm)
			add_name(n, e, th->pid, th->tid, th->comm);
		if (*th->cgroup)
			put(&n->cgroups, key(e, th->tid), th->cgroup, false);
	}
}

/* After an exec one process has two experiments: it is called by the last one. */
static void add_process(struct names *n, const struct experiment *e, struct map *last)
{
	uint64_t *at = map_put(last, key(e, e->pid), NULL);
	const struct experiment *had = (const struct experiment *)(uintptr_t)*at;

	if (had && had->start_ns + had->end_ns > e->start_ns + e->end_ns)
		return;
	*at = (uintptr_t)e;
	put(&n->by_process, key(e, e->pid), e->process, true);
}

static void names_init(struct names *n, const struct session *s)
{
	struct map last = { 0 };

	*n = (struct names){ 0 };
	vec_for_each(e, &s->experiments) {
		if (!(*e)->founder)
			add_recorded(n, *e);
	}
	vec_for_each(e, &s->experiments) {
		if ((*e)->pid && *(*e)->process)
			add_process(n, *e, &last);
	}
	map_free(&last);
}

void names_free(struct names *n)
{
	map_free(&n->by_thread);
	map_free(&n->by_process);
	map_free(&n->cgroups);
	map_free(&n->kthreads);
}

static const char *get(const struct map *m, uint64_t k)
{
	const uint64_t *at = map_get(m, k);

	return at ? (const char *)(uintptr_t)*at : NULL;
}

const char *names_thread(const struct names *n, const struct experiment *e, int64_t tid)
{
	return get(&n->by_thread, key(e, tid));
}

const char *names_process(const struct names *n, const struct experiment *e, int64_t pid)
{
	return get(&n->by_process, key(e, pid));
}

/* Who woke or had the CPU is told with the kernel's own process number, the thread's. */
static int64_t true_pid(const struct names *n, const struct experiment *e, int64_t pid, int64_t tid)
{
	bool process = get(&n->by_process, key(e, pid));

	return pid == tid && !process && get(&n->kthreads, key(e, tid)) ? 0 : pid;
}

void names_put_thread(const struct names *n, const struct experiment *e, int64_t pid, int64_t tid,
		      struct buf *b)
{
	const char *comm = names_thread(n, e, tid);
	const char *process;

	pid = true_pid(n, e, pid, tid);
	process = pid ? names_process(n, e, pid) : NULL;
	if (!process)
		process = comm ? comm : "(unknown)";
	if (!pid) {
		buf_printf(b, "%s, kernel thread %" PRId64, process, tid);
		return;
	}
	buf_printf(b, "%s, PID %" PRId64 ", TID %" PRId64, process, pid, tid);
	/* The kernel cuts names off: a main thread's is then the beginning of its process's. */
	if (comm && strncmp(comm, process, strlen(comm)))
		buf_printf(b, " (%s)", comm);
}

void names_put_process(const struct names *n, const struct experiment *e, int64_t pid, int64_t tid,
		       struct buf *b)
{
	const char *name = pid ? names_process(n, e, pid) : names_thread(n, e, tid);

	if (pid)
		buf_printf(b, "%s, PID %" PRId64, name ? name : "(unknown)", pid);
	else
		buf_printf(b, "%s, kernel thread %" PRId64, name ? name : "(unknown)", tid);
}

void names_put_kind(const struct names *n, const struct experiment *e, int64_t pid, int64_t tid,
		    struct buf *b)
{
	const char *comm = names_thread(n, e, tid);
	const char *process = pid ? names_process(n, e, pid) : NULL;

	if (!comm && !process)
		buf_printf(b, "TID %" PRId64, tid);
	else if (!comm)
		buf_puts(b, process);
	else if (!process || !strncmp(comm, process, strlen(comm)))
		buf_puts(b, process ? process : comm);
	else
		buf_printf(b, "%s (%s)", process, comm);
}

const char *names_cgroup(const struct names *n, const struct experiment *e, int64_t tid)
{
	return get(&n->cgroups, key(e, tid));
}

const struct names *session_names(struct session *s)
{
	struct names *n = &s->impl->names;

	/* An experiment that came or went since may have been the one that knew. */
	if (s->impl->names_of == s->experiments.len)
		return n;
	names_free(n);
	names_init(n, s);
	s->impl->names_of = s->experiments.len;
	return n;
}
