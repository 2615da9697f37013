/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One recording in several experiments: each opens by itself and has all that its packets need. */
#include "analysis/experiment/exp_packets.h"
#include "tests/unit/drain_fixture.h"

#include <sys/stat.h>

static const struct exp_header next_header = {
	.collector = "test", .hostname = "h", .arch = "x86_64", .os = "Linux 6", .pagesize = 4096,
	.cwd = "/", .command = "er_kernel", .wordsize = 64, .start_ns = 100000,
};

static void give_sample(struct fixture *f, uint64_t t, uint64_t us)
{
	struct er_clock c = { .h = { .kind = ER_KIND_CLOCK, .seq = f->seq++, .time_ns = t },
			      .task = { .start_time = 1990, .tgid = PID, .tid = TID, .comm = "prog" },
			      .stack = 77, .weight = us * 1000 };

	drain_take(f->drain, 0, &c, sizeof(c));
}

static void turn_to(struct fixture *f, const char *name)
{
	assert_int_equal(recording_prepare(f->recording, f->dirfd, name, &next_header, &f->diag), 0);
	assert_int_equal(recording_finish(f->recording, 90000), 0);
	drain_restart(f->drain);
	assert_int_equal(recording_switch(f->recording), 0);
}

/* The experiment has this one packet, its whole stack, and the symbols and names for it. */
static void check_segment(struct fixture *f, const char *name, int64_t us)
{
	char path[96];
	struct experiment *e, *sub;
	const struct exp_stream *s;
	struct packet_iter it;
	struct stat st;
	struct packet p;
	int64_t i;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	e = experiment_open(path, &f->diag);
	assert_non_null(e);
	assert_true(e->closed);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	s = &sub->streams.data[0];
	packet_iter_init(&it, sub, s);
	assert_true(packet_next(&it, &p));
	assert_int_equal(packet_int(&p, stream_field(s, "NTICK")), us);
	i = experiment_stack(sub, packet_int(&p, stream_field(s, "FRINFO")));
	assert_true(i >= 0);
	assert_int_equal(sub->stacks.data[i].npcs, 3);
	assert_false(packet_next(&it, &p));
	assert_int_equal(e->processes.len, 1);
	assert_int_equal(f->diag.nmsgs, 0);
	for (int file = 0; file < 2; file++) {
		snprintf(path, sizeof(path), "%s/%s/%s", dir, name,
			 file ? "kallmodsyms" : "names.xml.gz");
		assert_int_equal(stat(path, &st), 0);
		assert_true(st.st_size > 20);
	}
	experiment_close(sub);
	experiment_close(e);
}

static void test_each_segment_is_whole(void **state)
{
	struct fixture f;

	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 1, 2, 0); /* BPF sends it only once */
	give_sample(&f, 4000, 3);
	drain_process(f.drain, true);
	turn_to(&f, "t2.er");
	assert_int_equal(drain_written(f.drain, ER_KIND_CLOCK), 0);
	give_sample(&f, 104000, 5);
	drain_process(f.drain, true);
	turn_to(&f, "t3.er");
	give_sample(&f, 204000, 7);
	experiment_close(finish(&f));
	check_segment(&f, "t.er", 3);
	check_segment(&f, "t2.er", 5);
	check_segment(&f, "t3.er", 7);
}

/* If the next experiment cannot be created the present one is continued. */
static void test_no_next_segment(void **state)
{
	struct fixture f;

	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 1, 2, 0);
	assert_true(recording_prepare(f.recording, f.dirfd, "t.er", &next_header, &f.diag) < 0);
	assert_int_equal(f.diag.nmsgs, 1);
	diag_free(&f.diag);
	f.diag = (struct diag){ 0 };
	give_sample(&f, 4000, 3);
	experiment_close(finish(&f));
	check_segment(&f, "t.er", 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_segment_is_whole),
		cmocka_unit_test(test_no_next_segment),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
