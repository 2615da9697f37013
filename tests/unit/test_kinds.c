/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kinds of data log.xml describes, in the founder and in the sub-experiments. */
#include "analysis/experiment/exp_packets.h"
#include "tests/unit/drain_fixture.h"

static const struct exp_stream *stream_of(const struct experiment *e, enum er_packet kind)
{
	vec_for_each(s, &e->streams) {
		if (s->kind == kind)
			return s;
	}
	return NULL;
}

/* A process that has one sample, so that it has a sub-experiment. */
static struct experiment *record_one(struct fixture *f)
{
	struct er_clock c = { .h = { .kind = ER_KIND_CLOCK, .time_ns = 4000 },
			      .task = { .start_time = 1990, .tgid = PID, .tid = PID, .comm = "prog" },
			      .stack = 77, .weight = 1000 };

	begin(f, FOLLOW_ALL, NULL);
	give_stack(f, 77, 2, 2, 0);
	drain_take(f->drain, 0, &c, sizeof(c));
	return finish(f);
}

static void test_described(void **state)
{
	struct fixture f;
	struct experiment *e, *sub;

	fixture_counters = "cycles,20000";
	e = record_one(&f);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	assert_int_equal(stream_of(e, ER_PKT_CLOCK)->numstates, STATES_KERNEL);
	assert_false(stream_of(e, ER_PKT_CLOCK)->waits);
	assert_int_equal(stream_of(sub, ER_PKT_CLOCK)->numstates, STATES_ALL);
	assert_true(stream_of(sub, ER_PKT_CLOCK)->waits);
	assert_non_null(stream_of(e, ER_PKT_HWC));
	assert_non_null(stream_of(sub, ER_PKT_HWC));
	experiment_close(sub);
	experiment_close(e);
}

/* A kind that the plan does not ask for is not described. */
static void test_not_described(void **state)
{
	struct fixture f;
	struct experiment *e;

	fixture_counters = NULL;
	e = record_one(&f);
	assert_int_equal(e->streams.len, 1);
	experiment_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_described),
					    cmocka_unit_test(test_not_described) };

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
