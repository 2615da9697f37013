/* SPDX-License-Identifier: GPL-2.0-or-later */
/* More processes than pseudo functions: no time is shown under another process's name. */
#include "analysis/experiment/exp_map.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_stacks.h"
#include "tests/unit/drain_fixture.h"

enum {
	NPROCESSES = 62000, /* the output has room for 61,425 */
	US_EACH = 3,
};

static void give_user_time(struct fixture *f, uint32_t pid, uint64_t time_ns)
{
	struct er_clock c = { .h = { .kind = ER_KIND_CLOCK, .time_ns = time_ns },
			      .task = { .start_time = 1990, .tgid = pid, .tid = pid },
			      .weight = US_EACH * 1000, .flags = ER_CLOCK_USER };

	snprintf(c.task.comm, sizeof(c.task.comm), "p%u", pid);
	drain_take(f->drain, 0, &c, sizeof(c));
}

/* Names of functions by their addresses, all of which are low. */
static const char *names[0x10000];

static void learn_names(const struct experiment *e)
{
	memset(names, 0, sizeof(names));
	vec_for_each(m, &e->maps) {
		assert_true(m->vaddr < sizeof(names) / sizeof(names[0]));
		names[m->vaddr] = m->name;
	}
}

struct named {
	uint64_t own, others, wrong; /* packets */
	bool last_is_own;
};

static struct named read_names(struct experiment *e)
{
	const struct exp_stream *s = &e->streams.data[0];
	struct named ret = { 0 };
	struct packet_iter it;
	struct packet p;

	learn_names(e);
	packet_iter_init(&it, e, s);
	while (packet_next(&it, &p)) {
		unsigned pid = packet_int(&p, stream_field(s, "LWPID"));
		int64_t i = experiment_stack(e, packet_int(&p, stream_field(s, "FRINFO")));
		const char *name;
		char own[64];

		assert_true(i >= 0);
		name = names[experiment_pc(e, &e->stacks.data[i], 0)];
		assert_non_null(name);
		snprintf(own, sizeof(own), "<p%u_PID_%u>", pid, pid);
		ret.last_is_own = !strcmp(name, own);
		ret.own += ret.last_is_own;
		ret.others += !strcmp(name, "<other processes>");
		ret.wrong += !ret.last_is_own && strcmp(name, "<other processes>");
	}
	return ret;
}

static void test_nothing_is_misnamed(void **state)
{
	struct fixture f;
	struct experiment *e;
	struct named n;

	begin(&f, FOLLOW_OFF, NULL);
	for (uint32_t pid = 1; pid <= NPROCESSES; pid++)
		give_user_time(&f, PID + pid, 4000 + pid);
	give_user_time(&f, PID + 1, 5000 + NPROCESSES);
	e = finish(&f);
	n = read_names(e);
	assert_int_equal(n.wrong, 0);
	assert_int_equal(n.own + n.others, NPROCESSES + 1);
	assert_true(n.own > 61000 && n.others > 500);
	assert_int_equal(f.drops.n[DROP_PSEUDO], n.others);
	/* A known name keeps its function when there is no room for new ones. */
	assert_true(n.last_is_own);
	experiment_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_misnamed),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
