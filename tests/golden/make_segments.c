/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_segments DIR: a recording of two seconds as one experiment, whole.1.er; as two segments, part.1.er and
 * part.2.er, with the group parts.erg; and as three, third.1.er to third.3.er, with thirds.erg. In milliseconds:
 *
 * PID 10 `app`: TID 10 computes, waits from 700 to 1300 for messages of TID 11, and computes again. TID 11 `worker`
 *     waits for a lock from 100 to 400 and from 900 to 1100, which TID 10 has, waits for the CPU from 1100 to 1250, and
 *     ends at 1900
 * PID 30 `old` computes from 600 to 700. `new` has its PID from 1400 to 1500
 * PID 43 `sh` computes from 1050 to 1100
 * PIDs 41 to 44 `cc1` compute for 50 each and wait for 10, two in each segment, and are folded; 43 has the PID of `sh`.
 *     Their waits are in one packet for each segment
 */
#include <stdio.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "tests/fixtures/exp_builder.h"

enum { CUT = 1000, CUT_1 = 800, CUT_2 = 1200, END = 2000, LOCK = 0x5000, WAIT = 10, FIRST_NUMBER = 1000000000 };

struct piece {
	int pid, tid, begin, end; /* ms */
	enum er_mstate state;
	enum er_reason reason;
};

static const struct piece pieces[] = {
	{ 10, 10, 0, 700, MS_USER, REASON_NONE },	{ 10, 10, 700, 1300, MS_SLEEP, REASON_POLL },
	{ 10, 10, 1300, 2000, MS_USER, REASON_NONE },	{ 10, 11, 100, 400, MS_USER_LOCK, REASON_USER_LOCK },
	{ 10, 11, 400, 900, MS_USER, REASON_NONE },	{ 10, 11, 900, 1100, MS_USER_LOCK, REASON_USER_LOCK },
	{ 10, 11, 1100, 1250, MS_WAIT_CPU, REASON_NONE },
	{ 10, 11, 1250, 1900, MS_USER, REASON_NONE },	{ 30, 30, 600, 700, MS_USER, REASON_NONE },
	{ 30, 30, 1400, 1500, MS_USER, REASON_NONE },	{ 41, 41, 100, 150, MS_USER, REASON_NONE },
	{ 42, 42, 500, 550, MS_USER, REASON_NONE },	{ 43, 43, 1050, 1100, MS_USER, REASON_NONE },
	{ 43, 43, 1200, 1250, MS_USER, REASON_NONE },	{ 44, 44, 1600, 1650, MS_USER, REASON_NONE },
};

enum { NPIECES = sizeof(pieces) / sizeof(pieces[0]) };

struct thread {
	int pid, tid, begin, end, start;
	const char *comm;
	bool folded;
};

static const struct thread threads[] = {
	{ 10, 10, 0, 2000, 1, "app", false },    { 10, 11, 100, 1900, 1, "worker", false },
	{ 30, 30, 600, 700, 2, "old", false },   { 30, 30, 1400, 1500, 3, "new", false },
	{ 41, 41, 100, 160, 4, "cc1", true },    { 42, 42, 500, 560, 5, "cc1", true },
	{ 43, 43, 1050, 1100, 6, "sh", false },  { 43, 43, 1200, 1260, 7, "cc1", true },
	{ 44, 44, 1600, 1660, 8, "cc1", true },
};

enum { NTHREADS = sizeof(threads) / sizeof(threads[0]) };

/* From `from` to `to`, in ms. */
struct part {
	struct exp_builder *founder;
	int from, to;
};

static int later(int a, int b)
{
	return a > b ? a : b;
}

static int earlier(int a, int b)
{
	return a < b ? a : b;
}

static bool is_in(const struct part *p, int begin, int end)
{
	return begin < p->to && end > p->from;
}

static uint32_t flags_of(const struct part *p, const struct piece *x)
{
	return WFLAG_TRACED | (x->begin < p->from ? WFLAG_OPEN_START | WFLAG_CONTINUED : 0) |
	       (x->end > p->to ? WFLAG_OPEN_END : 0);
}

/* TID 10 and TID 11 wake each other. Only the last part of a wait tells who woke the thread. */
static void put_waker(struct wait_info *info, struct exp_builder *b, const struct part *p, const struct piece *x)
{
	if (x->end > p->to || x->state == MS_WAIT_CPU)
		return;
	info->waker = x->tid == 10 ? 11 : 10;
	info->waker_pid = 10;
	info->waker_stack = exp_builder_stack(b, "main>give");
}

/* The stack of a wait that is open when its segment ends lacks functions. */
static const char *stack_of(const struct part *p, const struct piece *x)
{
	return x->state == MS_USER ? "main>work" : x->end > p->to ? "main>take" : "main>call>take";
}

/* A wait is also for a lock if it is in that state; what lies before the part was counted there. */
static void put_piece(struct exp_builder *b, const struct part *p, const struct piece *x)
{
	int begin = later(x->begin, p->from), end = earlier(x->end, p->to);
	bool wait = x->state != MS_USER;
	struct wait_info info = {
		.reason = x->reason, .syscall = -1, .length_ns = (uint64_t)(end - begin) * BUILDER_TICK_NS,
		.flags = flags_of(p, x), .object = x->state == MS_USER_LOCK ? LOCK : 0,
		.holder = x->state == MS_USER_LOCK ? 10 : 0, .holder_pid = x->state == MS_USER_LOCK ? 10 : 0,
	};

	put_waker(&info, b, p, x);

	exp_builder_at(b, (uint64_t)begin * BUILDER_TICK_NS);
	exp_builder_wait_of(b, x->pid, x->tid, stack_of(p, x), x->state, end - begin,
			    wait ? &info : NULL);
}

/* The pieces of a thread in a part, and the waits that end or are cut there and did not begin before it. */
static void put_times(struct buf *b, const struct part *p, const struct thread *t)
{
	int run = 0, sleep = 0, lock = 0, cpu = 0, nsleep = 0, nlock = 0, ncpu = 0;

	for (const struct piece *x = pieces; x < pieces + NPIECES; x++) {
		int ms = earlier(x->end, p->to) - later(x->begin, p->from);
		bool counts = x->begin >= p->from;

		if (x->tid != t->tid || x->begin < t->begin || x->end > t->end || ms <= 0)
			continue;
		run += x->state == MS_USER ? ms : 0;
		sleep += x->state == MS_SLEEP ? ms : 0;
		lock += x->state == MS_USER_LOCK ? ms : 0;
		nsleep += x->state == MS_SLEEP && counts;
		nlock += x->state == MS_USER_LOCK && counts;
		cpu += x->state == MS_WAIT_CPU ? ms : 0;
		ncpu += x->state == MS_WAIT_CPU && counts;
	}
	buf_printf(b, " run=\"%d000000\" user=\"%d000000\" sleep=\"%d000000\" nsleep=\"%d\"", run, run, sleep, nsleep);
	buf_printf(b, " lock=\"%d000000\" nlock=\"%d\" wait=\"%d000000\" nwait=\"%d\"", lock, nlock, cpu, ncpu);
	buf_printf(b, " comm=\"%s\" cgroup=\"/c\"", t->comm);
}

static void put_thread(const struct part *p, const struct thread *t)
{
	int begin = later(t->begin, p->from) - p->from, end = earlier(t->end, p->to) - p->from;
	struct buf b = { 0 };

	buf_printf(&b, "<thread pid=\"%d\" tid=\"%d\" begin=\"%d000000\" end=\"%d000000\"", t->pid, t->tid, begin, end);
	put_times(&b, p, t);
	buf_puts(&b, t->begin >= p->from ? " born=\"1\"/>" : "/>");
	expwriter_text(exp_builder_writer(p->founder), "threads.xml", b.data);
	buf_free(&b);
}

/* The packets with the waits of a fold have another number in each segment. */
static int fold_number(const struct part *p)
{
	return FIRST_NUMBER + p->from;
}

static void put_fold(const struct part *p)
{
	int n = 0, first = 0, last = 0;
	struct buf b = { 0 }, members = { 0 };

	for (const struct thread *t = threads; t < threads + NTHREADS; t++) {
		if (!t->folded || !is_in(p, t->begin, t->end))
			continue;
		first = n ? first : t->begin;
		last = t->end;
		buf_printf(&members, "%s%d:%d000000+60000000", n++ ? " " : "", t->tid, t->begin - first);
	}
	buf_printf(&b, "<threads count=\"%d\" begin=\"%d000000\" end=\"%d000000\" lived=\"%d000000\"", n, first - p->from,
		   last - p->from, n * (50 + WAIT));
	buf_printf(&b, " run=\"%d000000\" user=\"%d000000\" sleep=\"%d000000\" nsleep=\"%d\"", n * 50, n * 50, n * WAIT, n);
	buf_printf(&b, " comm=\"cc1\" cgroup=\"/c\" sums=\"%d\" members=\"%s\"/>", fold_number(p), members.data);
	if (n)
		expwriter_text(exp_builder_writer(p->founder), "threads.xml", b.data);
	buf_free(&b);
	buf_free(&members);
}

static void put_waits_of_fold(struct exp_builder *b, const struct part *p)
{
	struct wait_info rest = { .reason = REASON_DISK, .syscall = -1, .flags = WFLAG_REST };
	__cleanup(freep) char *line = xasprintf("<name pid=\"%d\" tid=\"%d\" at=\"0\" comm=\"cc1\"/>", fold_number(p),
						fold_number(p));
	int n = 0;

	for (const struct thread *t = threads; t < threads + NTHREADS; t++)
		n += t->folded && is_in(p, t->begin, t->end);
	if (!n)
		return;
	exp_builder_at(b, (uint64_t)(p->from + 200) * BUILDER_TICK_NS);
	exp_builder_wait_of(b, fold_number(p), fold_number(p), "main>take", MS_SLEEP, n * WAIT, &rest);
	expwriter_text(exp_builder_writer(p->founder), "names.xml", line);
}

/* A program that runs when the part begins has no begin there. */
static void put_process(const struct part *p, const struct thread *t)
{
	struct buf b = { 0 };

	buf_printf(&b, "<process pid=\"%d\" ppid=\"1\" start=\"%d\"", t->pid, t->start);
	if (t->begin > p->from)
		buf_printf(&b, " begin=\"%d000000\"", t->begin - p->from);
	buf_printf(&b, " comm=\"%s\" command=\"%s -x\"/>", t->comm, t->comm);
	expwriter_text(exp_builder_writer(p->founder), "processes.xml", b.data);
	buf_clear(&b);
	buf_printf(&b, "<exit pid=\"%d\" start=\"%d\" at=\"%d000000\" status=\"0\"/>", t->pid, t->start, t->end - p->from);
	if (t->end < END && t->end <= p->to)
		expwriter_text(exp_builder_writer(p->founder), "processes.xml", b.data);
	buf_free(&b);
}

static void put_name(const struct part *p, const struct thread *t)
{
	__cleanup(freep) char *line =
		xasprintf("<name pid=\"%d\" tid=\"%d\" at=\"%d000000\" start=\"%d\" comm=\"%s\"/>", t->pid, t->tid,
			  later(t->begin - p->from, 0), t->start, t->comm);

	expwriter_text(exp_builder_writer(p->founder), "names.xml", line);
}

static void put_threads(const struct part *p)
{
	for (const struct thread *t = threads; t < threads + NTHREADS; t++) {
		if (!is_in(p, t->begin, t->end))
			continue;
		if (!t->folded)
			put_thread(p, t);
		if (t->pid == t->tid)
			put_process(p, t);
		put_name(p, t);
	}
	put_fold(p);
}

/* At the same addresses in all parts. */
static void put_functions(struct exp_builder *b)
{
	static const char *const names[] = { "main", "work", "take", "give", "call" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		exp_builder_func(b, names[i], 256);
}

/* Two samples in each part. */
static void put_samples(const struct part *p)
{
	static const char *const labels[] = { "begin", "half", "end" };

	for (int i = 0; i < 3; i++) {
		exp_builder_at(p->founder, (uint64_t)(p->from + i * (p->to - p->from) / 2) * BUILDER_TICK_NS);
		exp_builder_sample(p->founder, labels[i], 0);
	}
}

static void record(const char *dir, const char *name, int from, int to)
{
	struct exp_builder *founder = exp_builder_new_kernel_later(dir, name, (uint64_t)from * BUILDER_TICK_NS);
	struct exp_builder *sub = exp_builder_sub_states(founder, "_app.1.er", "app", 0, STATES_ALL);
	struct part p = { founder, from, to };
	__cleanup(freep) char *recorder =
		xasprintf("<recorder version=\"0\" scope=\"system\" pid=\"%d\" state=\"closed\" first_ns=\"%llu\"/>\n"
			  "<capture how=\"a test\" states=\"1\"/>\n", BUILDER_PID, (unsigned long long)BUILDER_START_NS);

	put_functions(sub);
	for (const struct piece *x = pieces; x < pieces + NPIECES; x++) {
		if (is_in(&p, x->begin, x->end))
			put_piece(sub, &p, x);
	}
	put_waits_of_fold(sub, &p);
	put_threads(&p);
	put_samples(&p);
	expwriter_text(exp_builder_writer(founder), "recorder.xml", recorder);
	exp_builder_at(sub, (uint64_t)to * BUILDER_TICK_NS);
	exp_builder_close(sub);
	exp_builder_at(founder, (uint64_t)to * BUILDER_TICK_NS);
	exp_builder_close(founder);
}

static void put_group(const char *dir, const char *name, const char *members)
{
	__cleanup(freep) char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	if (!f || fprintf(f, "#analyzer experiment group\n%s", members) < 0 || fclose(f))
		perror(path);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_segments DIR\n");
		return 2;
	}
	record(argv[1], "whole.1.er", 0, END);
	record(argv[1], "part.1.er", 0, CUT);
	record(argv[1], "part.2.er", CUT, END);
	put_group(argv[1], "parts.erg", "part.1.er\npart.2.er\n");
	record(argv[1], "third.1.er", 0, CUT_1);
	record(argv[1], "third.2.er", CUT_1, CUT_2);
	record(argv[1], "third.3.er", CUT_2, END);
	put_group(argv[1], "thirds.erg", "third.1.er\nthird.2.er\nthird.3.er\n");
	return 0;
}
