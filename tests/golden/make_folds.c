/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_folds DIR: recordings of the same threads. each.1.er has a line of threads.xml for each thread;
 * in folded.1.er short-lived threads are folded. In sums.1.er, too, and the time of theirs that no wait
 * represents is in one packet for each fold. In milliseconds:
 *
 * PIDs 100 to 103 `cc1`, in the cgroup /build: user 5, 6, 7 and 8, waits 4 for the disk, and 2
 *     between samples
 * PID 104 `cc1`, in the cgroup /other: user 9, waits 6
 * PID 200 `make`: user 100, waits 900 for its children
 * PID 300 `server`: TID 300 waits 1000 for messages; TIDs 301 and 302 `conn` use 20 and 30, wait 1
 * PID 100 comes again after 500: `cc1` uses 700, and is not short-lived
 */
#include <stdio.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "tests/fixtures/exp_builder.h"

enum { SYS_READ = 0, FIRST_NUMBER = 1000000000 };

enum folding { EACH, FOLDED, SUMS };

struct thread {
	int pid, tid, begin, user, wait, rest; /* ms; rest: no wait represents it */
	const char *comm, *cgroup, *program;
	enum er_reason reason;
	bool folded;
};

static const struct thread threads[] = {
	{ 100, 100, 10, 5, 4, 2, "cc1", "/build", "_cc1.1.er", REASON_DISK, true },
	{ 101, 101, 20, 6, 4, 2, "cc1", "/build", "_cc1.1.er", REASON_DISK, true },
	{ 102, 102, 30, 7, 4, 2, "cc1", "/build", "_cc1.1.er", REASON_DISK, true },
	{ 103, 103, 40, 8, 4, 2, "cc1", "/build", "_cc1.1.er", REASON_DISK, true },
	{ 104, 104, 50, 9, 4, 2, "cc1", "/other", "_cc1.1.er", REASON_DISK, true },
	{ 100, 100, 500, 700, 0, 0, "cc1", "/build", "_cc1.1.er", REASON_DISK, false },
	{ 200, 200, 0, 100, 900, 0, "make", "/build", "_make.1.er", REASON_CHILD, false },
	{ 300, 300, 0, 0, 1000, 0, "server", "/srv", "_server.1.er", REASON_POLL, false },
	{ 300, 301, 100, 20, 1, 0, "conn", "/srv", "_server.1.er", REASON_POLL, true },
	{ 300, 302, 200, 30, 1, 0, "conn", "/srv", "_server.1.er", REASON_POLL, true },
};

enum { NTHREADS = sizeof(threads) / sizeof(threads[0]) };

static const char *const programs[] = { "_cc1.1.er", "_make.1.er", "_server.1.er" };

enum { NPROGRAMS = sizeof(programs) / sizeof(programs[0]) };

static int end_of(const struct thread *t)
{
	return t->begin + t->user + t->wait + t->rest;
}

/* Half of a wait is sampled: its packet represents two waits. */
static void put_packets(struct exp_builder *b, const struct thread *t, bool with_rest)
{
	struct wait_info info = { .reason = t->reason, .syscall = SYS_READ,
				  .length_ns = (uint64_t)t->wait * BUILDER_TICK_NS / 2 };
	struct wait_info rest = { .reason = t->reason, .syscall = SYS_READ, .flags = WFLAG_REST };

	exp_builder_at(b, (uint64_t)t->begin * BUILDER_TICK_NS);
	if (t->user)
		exp_builder_wait_of(b, t->pid, t->tid, "main>work", MS_USER, t->user, NULL);
	if (t->wait)
		exp_builder_wait_of(b, t->pid, t->tid, "main>load>k:schedule", MS_SLEEP, t->wait,
				    &info);
	if (t->rest && with_rest)
		exp_builder_wait_of(b, t->pid, t->tid, "main>load>k:schedule", MS_SLEEP, t->rest,
				    &rest);
}

static bool is_folded_with(const struct thread *t, const struct thread *first)
{
	return t->folded && !strcmp(t->comm, first->comm) && !strcmp(t->cgroup, first->cgroup);
}

static int number_of(const struct thread *first)
{
	return FIRST_NUMBER + (int)(first - threads);
}

/* The packet with the remainders of a fold, if the thread is the first with some of it. */
static void put_sum(struct exp_builder *b, const struct thread *first)
{
	struct thread sum = *first;

	for (const struct thread *t = threads; t < first; t++) {
		if (is_folded_with(t, first))
			return;
	}
	for (const struct thread *t = first + 1; t < threads + NTHREADS; t++)
		sum.rest += is_folded_with(t, first) ? t->rest : 0;
	sum.pid = sum.tid = number_of(first);
	sum.user = sum.wait = 0;
	put_packets(b, &sum, true);
}

static void put_name(struct expwriter *w, const struct thread *first)
{
	__cleanup(freep) char *line = xasprintf("<name pid=\"%d\" tid=\"%d\" at=\"0\" comm=\"%s\"/>",
						number_of(first), number_of(first), first->comm);

	expwriter_text(w, "names.xml", line);
}

static void put_sums(struct buf *b, int user, int sleep, int n)
{
	buf_printf(b, " run=\"%d000000\" user=\"%d000000\" sleep=\"%d000000\" nsleep=\"%d\"", user, user,
		   sleep, n);
}

static void put_names(struct buf *b, const struct thread *t)
{
	buf_printf(b, " comm=\"%s\" cgroup=\"%s\"", t->comm, t->cgroup);
}

static void put_line(struct expwriter *w, const struct thread *t)
{
	struct buf b = { 0 };

	buf_printf(&b, "<thread pid=\"%d\" tid=\"%d\" begin=\"%d000000\" end=\"%d000000\"", t->pid,
		   t->tid, t->begin, end_of(t));
	put_sums(&b, t->user, t->wait + t->rest, t->wait ? 4 : 0);
	put_names(&b, t);
	buf_puts(&b, "/>");
	expwriter_text(w, "threads.xml", b.data);
	buf_free(&b);
}

/* Fold the threads from `first` on that have its names. */
static void put_fold(struct expwriter *w, const struct thread *first, bool *done, bool sums)
{
	int n = 0, user = 0, sleep = 0, end = 0;
	struct buf b = { 0 }, members = { 0 };

	for (const struct thread *t = first; t < threads + NTHREADS; t++) {
		if (!is_folded_with(t, first))
			continue;
		done[t - threads] = true;
		buf_printf(&members, "%s%d/%d:%d000000+%d000000", n ? " " : "", t->pid, t->tid,
			   t->begin - first->begin, end_of(t) - t->begin);
		n++;
		user += t->user;
		sleep += t->wait + t->rest;
		end = end_of(t) > end ? end_of(t) : end;
	}
	buf_printf(&b, "<threads count=\"%d\" begin=\"%d000000\" end=\"%d000000\" lived=\"%d000000\"", n,
		   first->begin, end, user + sleep);
	put_sums(&b, user, sleep, 4 * n);
	put_names(&b, first);
	if (sums)
		buf_printf(&b, " sums=\"%d\"", number_of(first));
	buf_printf(&b, " members=\"%s\"/>", members.data);
	expwriter_text(w, "threads.xml", b.data);
	buf_free(&b);
	buf_free(&members);
}

static void put_threads(struct expwriter *w, enum folding folding)
{
	bool done[NTHREADS] = { false };

	for (int i = 0; i < NTHREADS; i++) {
		if (folding && threads[i].folded && !done[i])
			put_fold(w, &threads[i], done, folding == SUMS);
		else if (!done[i])
			put_line(w, &threads[i]);
	}
}

static void put_processes(struct expwriter *w)
{
	for (int i = 0; i < NTHREADS; i++) {
		const struct thread *t = &threads[i];
		__cleanup(freep) char *begin = xasprintf(
			"<process pid=\"%d\" ppid=\"1\" begin=\"%d000000\" comm=\"%s\" command=\"%s -x\"/>",
			t->pid, t->begin, t->comm, t->comm);
		__cleanup(freep) char *end = xasprintf(
			"<exit pid=\"%d\" at=\"%d000000\" status=\"0\"/>", t->pid, end_of(t));

		if (t->pid != t->tid)
			continue;
		expwriter_text(w, "processes.xml", begin);
		expwriter_text(w, "processes.xml", end);
	}
}

/* The packets of one program. */
static void put_program(struct exp_builder *b, const char *program, enum folding folding)
{
	for (const struct thread *t = threads; t < threads + NTHREADS; t++) {
		bool sums = folding == SUMS && t->folded;

		if (strcmp(t->program, program))
			continue;
		put_packets(b, t, !sums);
		if (sums)
			put_sum(b, t);
	}
}

static void record(const char *dir, const char *name, enum folding folding)
{
	struct exp_builder *founder = exp_builder_new_kernel(dir, name), *subs[NPROGRAMS];

	for (int i = 0; i < NPROGRAMS; i++)
		subs[i] = exp_builder_sub_states(founder, programs[i], programs[i], 0, STATES_ALL);
	for (int k = 0; k < NPROGRAMS; k++)
		put_program(subs[k], programs[k], folding);
	put_threads(exp_builder_writer(founder), folding);
	for (int i = 0; i < NTHREADS && folding == SUMS; i++) {
		if (threads[i].folded)
			put_name(exp_builder_writer(founder), &threads[i]);
	}
	put_processes(exp_builder_writer(founder));
	for (int i = 0; i < NPROGRAMS; i++) {
		exp_builder_at(subs[i], (uint64_t)1300 * BUILDER_TICK_NS);
		exp_builder_close(subs[i]);
	}
	exp_builder_at(founder, (uint64_t)1300 * BUILDER_TICK_NS);
	exp_builder_close(founder);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_folds DIR\n");
		return 2;
	}
	record(argv[1], "each.1.er", EACH);
	record(argv[1], "folded.1.er", FOLDED);
	record(argv[1], "sums.1.er", SUMS);
	return 0;
}
