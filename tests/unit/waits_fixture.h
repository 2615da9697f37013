/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times off a CPU that tests give to a drain, and the resulting packets. */
#ifndef WAITS_FIXTURE_H
#define WAITS_FIXTURE_H

#include <sys/syscall.h>

#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_stacks.h"
#include "tests/unit/drain_fixture.h"

/* A clock packet with all its fields. */
struct seen {
	int64_t lwp, thread, time, state, ticks, reason, syscall, flags, length, object, holder,
		holder_pid, waker, waker_pid, waker_stack, uid, goroutine, cpu;
	uint64_t pcs[8];
	size_t npcs;
	unsigned size;
};

struct seen_list {
	struct seen s[64];
	size_t n;
	int64_t ticks[MS_COUNT];
};

static inline struct seen_list *read_all_packets(struct experiment *e)
{
	static struct seen_list ret;
	struct packet_iter it;
	struct packet p;

	ret = (struct seen_list){ 0 };
	if (!e->streams.len)
		return &ret;
	const struct exp_stream *st = &e->streams.data[0];

	packet_iter_init(&it, e, st);
	while (packet_next(&it, &p)) {
		struct seen *s = &ret.s[ret.n++ % 64];
		int64_t i;

#define GET(m, f) s->m = packet_int(&p, stream_field(st, f))
		GET(lwp, "LWPID"); GET(thread, "THRID"); GET(time, "TSTAMP"); GET(state, "MSTATE");
		GET(ticks, "NTICK"); GET(reason, "REASON"); GET(syscall, "SYSCALL");
		GET(flags, "WFLAGS"); GET(length, "WLEN"); GET(object, "WOBJ"); GET(holder, "HOLDER");
		GET(holder_pid, "HOLDERPID"); GET(waker, "WAKER"); GET(waker_pid, "WAKERPID");
		GET(waker_stack, "WAKERSTACK"); GET(uid, "FRINFO");
		GET(goroutine, "GOID"); GET(cpu, "CPUID");
#undef GET
		s->size = p.size;
		ret.ticks[s->state] += s->ticks;
		i = experiment_stack(e, s->uid);
		assert_true(i >= 0);
		s->npcs = e->stacks.data[i].npcs;
		experiment_pcs(e, &e->stacks.data[i], s->pcs, s->npcs < 8 ? s->npcs : 8);
	}
	return &ret;
}

static const struct er_wait a_wait = {
	.h = { .kind = ER_KIND_WAIT, .seq = 7, .time_ns = 10000000 },
	.task = { .start_time = 1990, .tgid = PID, .tid = TID, .comm = "prog" },
	.stack = 77, .blocked_ns = 3000000, .runq_ns = 500000,
	.blocked_weight = 9000000, .waker_tgid = 4321, .waker_tid = 4322, .waker_start = 5,
	.oncpu_tgid = 11, .oncpu_tid = 12, .cpu = 1, .syscall = SYS_read,
	.state = ER_OFF_SLEEP,
};

static inline void give_wait(struct fixture *f, struct er_wait w)
{
	drain_take(f->drain, 1, &w, sizeof(w));
}

#endif
