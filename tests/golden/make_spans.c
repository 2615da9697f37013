/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_spans DIR: spans.1.er, a recording of two seconds with spans of which every answer is known.
 * All are of PID 12 `app`.
 *
 * q: 100 calls in TID 12. The i-th of 99 begins at 10 i ms, computes for 0.6 ms + i × 10 us and
 *   waits 0.4 ms for the network; every tenth wait has a record. The last call lasts 60 ms: it
 *   computes for 1 ms, waits 50 ms for writeback and 8 ms for a lock that TID 14 has, and sleeps
 *   1 ms without a record. It has arguments and a hostile text. One more call, in TID 13, was
 *   still asleep after 100 ms when the recording ended.
 * inner: one call, which has the lock wait of the slow q.
 * rec: three calls in TID 13, each in the one before (30, 20 and 2 ms), and one of 1 ms that was
 *   left by longjmp. They compute. Two begins found no room.
 * hot: 1,000 calls, of which 990 took 10 us and have 9 records as samples, and 10 took 2 ms and
 *   more and have a record each. User and system time were measured. 3 records were lost.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/experiment/span.h"
#include "tests/fixtures/exp_builder.h"

enum { Q = 1, INNER, REC, HOT, NAMES };

#define US 1000ull
#define MS 1000000ull

#define SLEEPS ">k:entry_SYSCALL_64_after_hwframe>k:do_syscall_64>k:%s>k:schedule>k:__schedule"

static const char hostile[] = "select '\"<b>&amp;\x1b[31m%00%\xff\n'";

struct recording {
	struct exp_builder *founder, *app;
	struct span_row rows[NAMES];
	uint64_t hists[NAMES][SPAN_BUCKETS];
	uint32_t nspans;
};

/* Count a call in the sums of its name. */
static void count(struct recording *r, const struct span_packet *p, uint64_t n)
{
	struct span_row *row = &r->rows[p->name];

	row->count += n;
	row->dur_ns += n * p->dur_ns;
	row->max_ns = row->max_ns > p->dur_ns ? row->max_ns : p->dur_ns;
	row->run_ns += n * p->run_ns;
	for (int i = 0; i < MS_COUNT; i++)
		row->state_ns[i] += n * p->state_ns[i];
	row->waits += n * p->waits;
	r->hists[p->name][span_bucket(p->dur_ns)] += n;
}

/* Write a call. It began at begin_ns; its times are set. */
static uint64_t put(struct recording *r, struct span_packet p, uint64_t begin_ns)
{
	p.lwp = 12;
	p.dur_ns = p.run_ns;
	for (int i = 0; i < MS_COUNT; i++)
		p.dur_ns += mstate_descs[i].on_cpu ? 0 : p.state_ns[i];
	p.end_ns = BUILDER_START_NS + begin_ns + p.dur_ns;
	p.id = p.id ? p.id : 1000 + r->nspans;
	p.seq = r->nspans++;
	p.flags |= p.flags & (SPAN_LEFT | SPAN_OPEN_END) ? 0 : SPAN_RETURNED;
	expwriter_span(exp_builder_writer(r->app), &p);
	if (p.flags & SPAN_RETURNED && p.name != HOT)
		count(r, &p, 1);
	else if (!(p.flags & SPAN_RETURNED))
		r->rows[p.name].unended++;
	return p.id;
}

/* A wait that ends at end_ns, with a weight in ms. */
static void wait_for(struct recording *r, int thread, const char *call, enum er_mstate state,
		     uint64_t end_ns, unsigned weight, struct wait_info info)
{
	__cleanup(freep) char *kernel = xasprintf(SLEEPS, call);
	__cleanup(freep) char *stack = xasprintf("main>serve>query%s", kernel);

	exp_builder_at(r->app, end_ns - weight * MS);
	exp_builder_wait_of(r->app, 12, thread, stack, state, weight, &info);
}

static void fast_queries(struct recording *r)
{
	for (unsigned i = 0; i < 99; i++) {
		uint64_t begin = i * 10 * MS, run = 600 * US + i * 10 * US;

		if (i % 10 == 0)
			wait_for(r, 12, "sock_recvmsg", MS_SLEEP, begin + 5 * MS + run, 4,
				 (struct wait_info){ .reason = REASON_NETWORK, .syscall = 45,
						     .length_ns = 400 * US });
		put(r, (struct span_packet){ .thread = 12, .name = Q, .run_ns = run, .waits = 1,
					     .state_ns[MS_SLEEP] = 400 * US, .args = { i } },
		    begin + 5 * MS);
	}
}

static void slow_query(struct recording *r)
{
	uint64_t id = 4242;

	expwriter_span_text(exp_builder_writer(r->founder), 1, hostile, sizeof(hostile));
	exp_builder_at(r->app, 1000 * MS);
	exp_builder_wait_of(r->app, 12, 12, "main>serve>query>parse", MS_USER, 1, NULL);
	wait_for(r, 12, "ext4_sync_file", MS_SLEEP, 1051 * MS, 50,
		 (struct wait_info){ .reason = REASON_WRITEBACK, .syscall = 74, .length_ns = 50 * MS,
				     .flags = WFLAG_WAKER_IRQ });
	wait_for(r, 12, "futex_wait", MS_USER_LOCK, 1059 * MS, 8,
		 (struct wait_info){ .reason = REASON_USER_LOCK, .syscall = 202, .length_ns = 8 * MS,
				     .object = 0x5000, .holder = 14, .holder_pid = 12, .waker = 14,
				     .waker_pid = 12,
				     .waker_stack = exp_builder_stack(r->app, "main>work>unlock_queue") });
	put(r, (struct span_packet){ .thread = 12, .name = INNER, .parent = id, .depth = 1, .waits = 1,
				     .state_ns[MS_USER_LOCK] = 8 * MS }, 1051 * MS);
	put(r, (struct span_packet){ .thread = 12, .name = Q, .id = id, .run_ns = MS, .waits = 3,
				     .state_ns[MS_SLEEP] = 51 * MS, .state_ns[MS_USER_LOCK] = 8 * MS,
				     .args = { 42, -1, 0, 7 }, .text = 1 }, 1000 * MS);
}

static void open_query(struct recording *r)
{
	wait_for(r, 13, "sock_recvmsg", MS_SLEEP, 2000 * MS, 100,
		 (struct wait_info){ .reason = REASON_NETWORK, .syscall = 45, .length_ns = 100 * MS,
				     .flags = WFLAG_OPEN_END });
	put(r, (struct span_packet){ .thread = 13, .name = Q, .flags = SPAN_OPEN_END, .waits = 1,
				     .state_ns[MS_SLEEP] = 100 * MS }, 1900 * MS);
}

static void recursion(struct recording *r)
{
	static const unsigned samples[] = { 111, 120, 128, 140 };
	uint64_t outer = 77, middle = 78;

	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		exp_builder_at(r->app, (samples[i] - 10) * MS);
		exp_builder_wait_of(r->app, 12, 13, "main>work>descend", MS_USER, 10, NULL);
	}
	put(r, (struct span_packet){ .thread = 13, .name = REC, .parent = middle, .depth = 2,
				     .run_ns = 2 * MS }, 110 * MS);
	put(r, (struct span_packet){ .thread = 13, .name = REC, .id = middle, .parent = outer,
				     .depth = 1, .run_ns = 20 * MS }, 105 * MS);
	put(r, (struct span_packet){ .thread = 13, .name = REC, .id = outer, .run_ns = 30 * MS },
	    100 * MS);
	put(r, (struct span_packet){ .thread = 13, .name = REC, .flags = SPAN_LEFT, .run_ns = MS },
	    200 * MS);
	r->rows[REC].noroom = 2;
}

static void hot_calls(struct recording *r)
{
	for (unsigned i = 0; i < 9; i++)
		put(r, (struct span_packet){ .thread = 14, .name = HOT, .run_ns = 10 * US,
					     .flags = SPAN_SPLIT | SPAN_SAMPLED,
					     .state_ns = { [MS_USER] = 7 * US, [MS_SYSTEM] = 3 * US } },
		    (1100 + i) * MS);
	count(r, &(struct span_packet){ .name = HOT, .dur_ns = 10 * US, .run_ns = 10 * US,
					.state_ns = { [MS_USER] = 7 * US, [MS_SYSTEM] = 3 * US } }, 990);
	for (unsigned i = 0; i < 10; i++) {
		struct span_packet p = {
			.thread = 14, .name = HOT, .flags = SPAN_SPLIT | SPAN_OVER, .run_ns = 10 * US,
			.state_ns = { [MS_USER] = 7 * US, [MS_SYSTEM] = 3 * US,
				      [MS_WAIT_CPU] = 2 * MS + i * 100 * US }, .waits = 1,
		};

		put(r, p, (1200 + 10 * i) * MS);
		p.dur_ns = p.run_ns + p.state_ns[MS_WAIT_CPU];
		count(r, &p, 1);
	}
	r->rows[HOT].split = true;
	r->rows[HOT].threshold_ns = MS;
	r->rows[HOT].lost = 3;
}

static void finish(struct recording *r)
{
	static const char *const names[] = { [Q] = "q", [INNER] = "inner", [REC] = "rec", [HOT] = "hot" };
	static const char *const specs[] = {
		[Q] = "usdt:app:db:start,done(1:str)", [INNER] = "app:lock_queue", [REC] = "app:descend",
		[HOT] = "syscall:getpid",
	};
	struct buf b = { 0 };

	for (int i = Q; i < NAMES; i++) {
		r->rows[i].number = i;
		r->rows[i].name = names[i];
		r->rows[i].spec = specs[i];
		r->rows[i].sites = 1;
		r->rows[i].hist = r->hists[i];
		span_put_row(&b, &r->rows[i]);
	}
	if (expwriter_replace(exp_builder_writer(r->founder), SPANS_XML, b.data))
		perror(SPANS_XML);
	buf_free(&b);
	exp_builder_at(r->app, 2000 * MS);
	exp_builder_close(r->app);
	exp_builder_at(r->founder, 2000 * MS);
	exp_builder_close(r->founder);
}

int main(int argc, char **argv)
{
	static struct recording r;

	if (argc != 2) {
		fprintf(stderr, "usage: make_spans DIR\n");
		return 2;
	}
	r.founder = exp_builder_new_kernel(argv[1], "spans.1.er");
	r.app = exp_builder_sub_states(r.founder, "_app_PID_12.1.er", "./app serve", 12, STATES_ALL);
	expwriter_profile(exp_builder_writer(r.app), ER_PKT_SPAN, NULL);
	fast_queries(&r);
	slow_query(&r);
	open_query(&r);
	recursion(&r);
	hot_calls(&r);
	finish(&r);
	return 0;
}
