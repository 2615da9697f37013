/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One recording in several experiments: each opens by itself and has all that its packets need. */
#include <errno.h>

#include "analysis/experiment/exp_packets.h"
#include "tests/unit/waits_fixture.h"

#include <sys/stat.h>

static const struct exp_header next_header = {
	.collector = "test", .hostname = "h", .arch = "x86_64", .os = "Linux 6", .pagesize = 4096,
	.cwd = "/", .command = "er_kernel", .wordsize = 64, .start_ns = 100000,
};

static const char *path_of(const char *name)
{
	static char path[96];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

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
	assert_int_equal(recording_prepare(f.recording, f.dirfd, "t.er", &next_header, &f.diag), -EEXIST);
	assert_int_equal(f.diag.nmsgs, 0);
	diag_free(&f.diag);
	f.diag = (struct diag){ 0 };
	give_sample(&f, 4000, 3);
	experiment_close(finish(&f));
	check_segment(&f, "t.er", 3);
}

enum { CUT_NS = 5000000, OPEN_NS = 4000000, SLEPT_NS = 7000000, END_NS = 8000000 };

/* The thread sleeps from 1 to 8 ms, and the cut is at 5 ms. */
static struct er_total total_at(uint64_t time_ns, uint64_t slept_ns, uint32_t flags)
{
	struct er_total t = {
		.h = { .kind = ER_KIND_TOTAL, .time_ns = time_ns }, .task = a_wait.task, .begin_ns = CUT_NS - OPEN_NS,
		.end_ns = time_ns, .flags = flags,
	};

	t.off_ns[ER_OFF_SLEEP] = slept_ns;
	t.off_n[ER_OFF_SLEEP] = 1;
	/* What a later record may represent again: the open wait. */
	t.rest_ns[ER_OFF_SLEEP] = flags & ER_TOTAL_CUT ? slept_ns : 0;
	return t;
}

static struct er_wait sleep_at(uint64_t time_ns, uint64_t slept_ns, uint32_t flags)
{
	struct er_wait w = a_wait;

	w.h.time_ns = time_ns;
	w.runq_ns = 0;
	w.blocked_ns = w.blocked_weight = slept_ns;
	w.flags = flags;
	return w;
}

/* The ring of one CPU gives a thread's last total before that of another gives its last wait. */
static void check_late_wait(const char *name, bool in_next_batch)
{
	const struct er_total cut = total_at(CUT_NS, OPEN_NS, ER_TOTAL_CUT);
	const struct er_total total = total_at(END_NS, SLEPT_NS, ER_TOTAL_ENDED);
	const struct er_wait open = sleep_at(CUT_NS, OPEN_NS, ER_WAIT_OPEN_END);
	struct experiment *e, *sub;
	struct seen_list *l;
	struct fixture f;

	fixture_cuts = true;
	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 1, 2, 0);
	drain_take_cut(f.drain, 0, &open, sizeof(open));
	drain_take_cut(f.drain, 0, &cut, sizeof(cut));
	drain_cut(f.drain, CUT_NS, CUT_NS);
	turn_to(&f, name);
	drain_take(f.drain, 0, &total, sizeof(total));
	if (in_next_batch)
		drain_process(f.drain, false);
	give_wait(&f, sleep_at(END_NS, SLEPT_NS, 0));
	experiment_close(finish(&f));
	fixture_cuts = false;
	e = experiment_open(path_of(name), &f.diag);
	assert_non_null(e);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	l = read_all_packets(sub);
	assert_int_equal(l->n, 1);
	assert_int_equal(l->s[0].length, SLEPT_NS - OPEN_NS);
	assert_int_equal(l->s[0].ticks, (SLEPT_NS - OPEN_NS) / 1000);
	assert_int_equal(l->s[0].flags, WFLAG_TRACED | WFLAG_OPEN_START | WFLAG_CONTINUED);
	experiment_close(sub);
	experiment_close(e);
}

static void test_total_before_its_wait(void **state)
{
	check_late_wait("same.er", false);
	check_late_wait("next.er", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_segment_is_whole),
		cmocka_unit_test(test_no_next_segment),
		cmocka_unit_test(test_total_before_its_wait),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
