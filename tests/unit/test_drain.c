/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ring records in, experiments out, read back with the reader. */
#include <sys/stat.h>

#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_stacks.h"
#include "user/record/stacks.h"
#include "tests/unit/drain_fixture.h"

static void give_clock(struct fixture *f, uint32_t tid, uint64_t stack, uint64_t weight,
		       uint32_t flags, uint64_t time_ns)
{
	bool sampled = !(flags & ER_CLOCK_UNSAMPLED);
	struct er_residual r = { .at = { .h = { .kind = sampled ? ER_KIND_CLOCK : ER_KIND_RESIDUAL,
						.seq = f->seq++, .time_ns = time_ns },
					 .task = { .start_time = 1990, .tid = tid, .comm = "prog",
						   .tgid = flags & ER_CLOCK_KTHREAD ? tid : PID },
					 .stack = stack, .weight = weight, .cpu = 1, .flags = flags },
				 .ran_ns = time_ns, .ran_cpu = 1 };

	drain_take(f->drain, 1, &r, sampled ? sizeof(r.at) : sizeof(r));
}

struct clocks {
	size_t n;
	int64_t ticks, lwp, thread, state, npcs;
	uint64_t pcs[16];
};

/* The clock packets of an experiment: sums, and the last one in full. */
static struct clocks read_clocks(struct experiment *e)
{
	struct clocks ret = { 0 };
	struct packet_iter it;
	struct packet p;

	if (!e->streams.len)
		return ret;
	const struct exp_stream *s = &e->streams.data[0];

	packet_iter_init(&it, e, s);
	while (packet_next(&it, &p)) {
		int64_t i = experiment_stack(e, packet_int(&p, stream_field(s, "FRINFO")));

		ret.n++;
		ret.ticks += packet_int(&p, stream_field(s, "NTICK"));
		ret.lwp = packet_int(&p, stream_field(s, "LWPID"));
		ret.thread = packet_int(&p, stream_field(s, "THRID"));
		ret.state = packet_int(&p, stream_field(s, "MSTATE"));
		assert_true(i >= 0);
		ret.npcs = e->stacks.data[i].npcs;
		experiment_pcs(e, &e->stacks.data[i], ret.pcs, ret.npcs < 16 ? ret.npcs : 16);
	}
	return ret;
}

static void test_followed_goes_to_its_own(void **state)
{
	struct fixture f;
	struct experiment *e, *sub;
	struct clocks c;

	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 2, 2, 0);
	give_clock(&f, TID, 77, 1000000, 0, 4000);
	e = finish(&f);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	assert_int_equal(read_clocks(e).n, 0);
	c = read_clocks(sub);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.ticks, 1000);
	assert_int_equal(c.lwp, TID);
	assert_int_equal(c.thread, TID);
	assert_int_equal(c.state, MS_SYSTEM);
	assert_int_equal(c.npcs, 4);
	assert_true(c.pcs[0] == 0xffffffff81001010); /* the leaf is exact */
	assert_true(c.pcs[1] == 0xffffffff8100110f); /* a caller is its return address - 1 */
	assert_true(c.pcs[2] == 0x40100f);
	assert_true(c.pcs[3] == 0x40110f);
	experiment_close(sub);
	experiment_close(e);
}

/* The recording calls this once, while it creates the experiment of the first sample. */
static void give_more(void *ctx)
{
	struct fixture *f = ctx;

	recording_set_relief(f->recording, NULL, NULL);
	give_clock(f, TID, 77, 2000000, 0, 5000);
}

static void test_rings_are_emptied_meanwhile(void **state)
{
	struct fixture f;
	struct experiment *e, *sub;
	struct clocks c;

	begin(&f, FOLLOW_ALL, NULL);
	recording_set_relief(f.recording, give_more, &f);
	give_stack(&f, 77, 2, 2, 0);
	give_clock(&f, TID, 77, 1000000, 0, 4000);
	drain_process(f.drain, false);
	assert_int_equal(drain_written(f.drain, ER_KIND_CLOCK), 1);
	drain_process(f.drain, false);
	assert_int_equal(drain_written(f.drain, ER_KIND_CLOCK), 2);
	assert_false(drain_is_behind(f.drain));
	e = finish(&f);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	c = read_clocks(sub);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.ticks, 3000);
	experiment_close(sub);
	experiment_close(e);
}

static void test_not_followed_is_one_frame(void **state)
{
	struct fixture f;
	struct experiment *e;
	struct clocks c;

	begin(&f, FOLLOW_OFF, NULL);
	give_stack(&f, 77, 0, 3, ER_STACK_USER_EXACT);
	give_clock(&f, TID, 77, 5000, ER_CLOCK_USER, 4000);
	e = finish(&f);
	c = read_clocks(e);
	assert_int_equal(c.state, MS_USER);
	assert_int_equal(c.lwp, PID);
	assert_int_equal(c.npcs, 1);
	assert_int_equal(e->maps.len, 1);
	assert_string_equal(e->maps.data[0].name, "<prog_PID_5000000>");
	assert_true(e->maps.data[0].vaddr == c.pcs[0]);
	experiment_close(e);
}

/* Checks its kernel frames and its name as well, and the same with -F on. */
static void test_the_recorder_is_one_frame(void **state)
{
	static const uint32_t flags[] = { 0, ER_CLOCK_USER, ER_CLOCK_UNSAMPLED };

	fixture_recorder = PID;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct fixture f;
		struct experiment *e;
		struct clocks c;

		begin(&f, FOLLOW_ALL, NULL);
		give_stack(&f, 77, 2, 3, ER_STACK_USER_EXACT);
		give_clock(&f, TID, 77, 5000, flags[i], 4000);
		e = finish(&f);
		c = read_clocks(e);
		assert_int_equal(c.n, 1);
		assert_int_equal(c.ticks, 5);
		assert_int_equal(c.lwp, PID);
		assert_int_equal(c.state, flags[i] ? MS_USER : MS_KERNEL_CPU);
		assert_int_equal(c.npcs, 1);
		assert_int_equal(e->maps.len, 1);
		assert_string_equal(e->maps.data[0].name, "<Recording>");
		assert_true(e->maps.data[0].vaddr == c.pcs[0]);
		assert_int_equal(e->names.len, 1);
		assert_string_equal(e->names.data[0].comm, "<Recording>");
		experiment_close(e);
	}
	fixture_recorder = 0;
}

/* If no directory can be created this is counted, and the founder gets the packets. */
static void test_no_room_for_an_experiment(void **state)
{
	char path[96];
	struct fixture f;
	struct experiment *e;

	begin(&f, FOLLOW_ALL, NULL);
	snprintf(path, sizeof(path), "%s/t.er/_prog_PID_%d.1.er", dir, PID);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/t.er/_unknown.1.er", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	give_stack(&f, 77, 0, 3, ER_STACK_USER_EXACT);
	give_clock(&f, TID, 77, 5000, ER_CLOCK_USER, 4000);
	give_clock(&f, TID, 77, 5000, ER_CLOCK_USER, 4100);
	drain_process(f.drain, true);
	assert_int_equal(f.drops.n[DROP_EXPERIMENT], 1);
	e = finish(&f);
	assert_int_equal(read_clocks(e).n, 2);
	experiment_close(e);
}

static void test_not_followed_kernel_part(void **state)
{
	struct fixture f;
	struct experiment *e;
	struct clocks c;

	begin(&f, FOLLOW_MATCHING, "other.*|50");
	give_stack(&f, 77, 2, 3, 0);
	give_clock(&f, TID, 77, 5000, 0, 4000);
	e = finish(&f);
	c = read_clocks(e);
	assert_int_equal(c.state, MS_KERNEL_CPU);
	assert_int_equal(c.npcs, 2);
	experiment_close(e);
}

static void test_expression_is_whole(void **state)
{
	static const char *const yes[] = { "prog", "pr.*", "5000000", "x|prog", "_prog_PID_.*" };
	static const char *const no[] = { "pro", "rog", "500000", "_prog" };
	struct procmap *pm = procmap_new(&(struct procmap_hooks){ 0 });
	struct image *im;

	procmap_apply(pm, &(struct proc_event){ .kind = PROC_FORK, .pid = PID, .time_ns = 5 });
	procmap_apply(pm, &(struct proc_event){ .kind = PROC_EXEC, .pid = PID, .tid = PID,
						.time_ns = 6, .name = "prog" });
	im = procmap_image(pm, PID, 4, 7);
	for (size_t i = 0; i < 9; i++) {
		const struct plan p = { .follow = FOLLOW_MATCHING,
					.follow_regexp = i < 5 ? yes[i] : no[i - 5] };
		struct follow fo;

		follow_init(&fo, &p);
		assert_int_equal(follow_wants(&fo, im), i < 5);
		follow_fini(&fo);
	}
	procmap_free(pm);
}

static void test_sums_are_exact(void **state)
{
	struct fixture f;
	struct experiment *e, *sub;
	struct clocks c;

	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 1, 0, 0);
	for (int i = 0; i < 1000; i++)
		give_clock(&f, TID, 77, 1999, 0, 4000 + i);
	e = finish(&f);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	c = read_clocks(sub);
	assert_int_equal(c.n, 1000);
	assert_int_equal(c.ticks, 1999);
	experiment_close(sub);
	experiment_close(e);
}

static void test_stack_may_come_late(void **state)
{
	struct fixture f;
	struct experiment *e, *sub;
	struct clocks c;

	begin(&f, FOLLOW_ALL, NULL);
	give_clock(&f, TID, 77, 1000, 0, 4000);
	give_clock(&f, TID, 78, 1000, 0, 4001); /* its stack never comes */
	drain_process(f.drain, false);
	assert_true(drain_misses_stacks(f.drain));
	give_stack(&f, 77, 3, 0, 0);
	drain_process(f.drain, false);
	assert_false(drain_misses_stacks(f.drain));
	assert_int_equal(f.drops.n[DROP_STACK], 1);
	e = finish(&f);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	c = read_clocks(sub);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.npcs, 1);
	assert_string_equal(sub->maps.data[sub->maps.len - 1].name, "<Stack-lost>");
	experiment_close(sub);
	experiment_close(e);
}

/* The last batch does not wait for missing stacks: every record gets its packet. */
static void test_the_last_batch_does_not_wait(void **state)
{
	struct fixture f;
	struct experiment *e, *sub;
	struct clocks c;

	begin(&f, FOLLOW_ALL, NULL);
	give_clock(&f, TID, 78, 5000, 0, 4000); /* its stack never comes */
	e = finish(&f);
	assert_int_equal(f.drops.n[DROP_STACK], 1);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	c = read_clocks(sub);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.ticks, 5);
	experiment_close(sub);
	experiment_close(e);
}

/* The pc of give_ended's second user frame, which is a return address. */
#define USER_ROOT (0x401110 - 1)

static void test_cut_stacks_are_marked(void **state)
{
	static const struct {
		uint16_t nkernel, nuser;
		uint32_t flags;
		enum er_end end;
		int64_t npcs;
		uint64_t last;
	} cases[] = {
		{ 1, 2, ER_STACK_USER_TRUNCATED, ER_END_DEPTH, 4, ER_PC_TRUNCATED },
		{ 1, 0, ER_STACK_USER_FAILED, ER_END_FAULT, 2, ER_PC_UNWIND_FAILED },
		{ 2, 2, ER_STACK_KERNEL_TRUNCATED, ER_END_PROVEN, 3, ER_PC_TRUNCATED },
		{ 2, 2, ER_STACK_KERNEL_TRUNCATED, ER_END_NO_CFI, 3, ER_PC_TRUNCATED },
		{ 0, 2, ER_STACK_KERNEL_FAILED, ER_END_PROVEN, 1, ER_PC_UNWIND_FAILED },
		{ 0, 0, 0, ER_END_NOT, 1, ER_PC_UNWIND_FAILED },
		{ 1, 2, 0, ER_END_PROVEN, 3, USER_ROOT },
		{ 1, 2, 0, ER_END_FP_ZERO, 3, USER_ROOT },
		{ 1, 2, 0, ER_END_NO_CFI, 4, ER_PC_UNWIND_FAILED },
		{ 1, 2, 0, ER_END_SHORT, 4, ER_PC_UNWIND_FAILED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f;
		struct experiment *e, *sub;
		struct clocks c;

		begin(&f, FOLLOW_ALL, NULL);
		give_ended(&f, 9, cases[i].nkernel, cases[i].nuser, cases[i].flags, cases[i].end);
		give_clock(&f, TID, 9, 1000, 0, 4000);
		e = finish(&f);
		sub = open_sub(e, "_prog_PID_5000000.1.er");
		c = read_clocks(sub);
		assert_int_equal(c.npcs, cases[i].npcs);
		assert_true(c.pcs[c.npcs - 1] == cases[i].last);
		experiment_close(sub);
		experiment_close(e);
	}
}

static void map_file(struct fixture *f, uint64_t t, uint64_t addr, const char *path, uint64_t ino)
{
	procmap_apply(f->procmap, &(struct proc_event){ .kind = PROC_MMAP, .time_ns = t, .pid = PID,
							.tid = PID, .addr = addr, .len = 0x1000,
							.name = path, .ino = ino });
}

/*
 * Frame pointers led out of generated code. In a process with a Java VM its callers may be wrong, so they are
 * left out, and the stack says why.
 */
static void test_guessed_callers_of_java(void **state)
{
	static const struct {
		uint32_t flags;
		const char *library;
		uint64_t last;
		const char *says;
	} cases[] = {
		{ ER_STACK_GUESSED, "/usr/lib/libjvm.so", ER_PC_UNWIND_FAILED, "\"Java VM not known yet\"" },
		{ ER_STACK_GUESSED, "/usr/lib/libnode.so", USER_ROOT, "\"complete\"" },
		{ 0, "/usr/lib/libjvm.so", USER_ROOT, "\"complete\"" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		__cleanup(buf_free) struct buf walks = { 0 };
		struct fixture f;
		struct experiment *e, *sub;
		struct clocks c;

		begin(&f, FOLLOW_ALL, NULL);
		give_ended(&f, 9, 1, 2, cases[i].flags, ER_END_PROVEN);
		give_clock(&f, TID, 9, 1000, 0, 4000);
		map_file(&f, 3500, 0x700000, cases[i].library, 1); /* known later than the stack */
		drain_process(f.drain, false);
		drain_walks(f.drain, &walks);
		assert_non_null(strstr(walks.data, cases[i].says));
		e = finish(&f);
		sub = open_sub(e, "_prog_PID_5000000.1.er");
		c = read_clocks(sub);
		assert_int_equal(c.npcs, 3);
		assert_true(c.pcs[1] == 0x401010 - 1 && c.pcs[2] == cases[i].last);
		experiment_close(sub);
		experiment_close(e);
	}
}

/*
 * A library is unmapped, another one is mapped at its address, and later the first one elsewhere. One stack comes at
 * three times and is shown at the addresses of each time. After the first change the walk must have been wrong.
 */
static void test_frames_are_where_files_were_then(void **state)
{
	static const struct {
		uint64_t times[3];
		int64_t npcs;
		uint64_t last;
	} cases[] = {
		{ { 4000, 6000, 3000 }, 1, 0x70000f },
		{ { 3000, 6000, 4000 }, 1, ER_PC_UNWIND_FAILED },
		{ { 3000, 4000, 6000 }, 1, 0x90000f },
	};
	struct {
		struct er_stack s;
		uint64_t pc;
	} r = { .s = { .h = { .kind = ER_KIND_STACK, .time_ns = 3000 }, .id = 9, .tgid = PID,
		       .start_time = 1990, .nuser = 1, .end = ER_END_PROVEN },
		.pc = er_frame(1, 0x10) };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f;
		struct experiment *e, *sub;
		struct clocks c;

		begin(&f, FOLLOW_ALL, NULL);
		map_file(&f, 2200, 0x700000, "/a", 1);
		map_file(&f, 3500, 0x700000, "/b", 2);
		map_file(&f, 5000, 0x900000, "/a", 1);
		drain_take(f.drain, 0, &r, sizeof(r));
		for (int k = 0; k < 3; k++)
			give_clock(&f, TID, 9, 1000, 0, cases[i].times[k]);
		e = finish(&f);
		sub = open_sub(e, "_prog_PID_5000000.1.er");
		c = read_clocks(sub);
		assert_int_equal(c.npcs, cases[i].npcs);
		assert_int_equal(c.pcs[0], cases[i].last);
		experiment_close(sub);
		experiment_close(e);
	}
}

/*
 * The experiment is created after a library was removed and another one mapped at its address. It
 * still says what was there at the time of its first records.
 */
static void test_removed_mappings_are_written(void **state)
{
	struct fixture f;
	struct experiment *e, *sub;
	bool was_mapped = false, was_removed = false;

	begin(&f, FOLLOW_ALL, NULL);
	map_file(&f, 2200, 0x700000, "/a", 1);
	map_file(&f, 3500, 0x700000, "/b", 2);
	give_ended(&f, 9, 0, 1, 0, ER_END_PROVEN);
	give_clock(&f, TID, 9, 1000, 0, 3000);
	e = finish(&f);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	vec_for_each(m, &sub->maps) {
		was_mapped |= m->what == EXP_MAP_SEGMENT && !strcmp(m->name, "/a") &&
			      m->vaddr == 0x700000;
		was_removed |= m->what == EXP_MAP_UNMAP && m->vaddr == 0x700000;
	}
	assert_true(was_mapped);
	assert_true(was_removed);
	experiment_close(sub);
	experiment_close(e);
}

static void test_exec_begins_another(void **state)
{
	struct fixture f;
	struct experiment *e, *sub;

	begin(&f, FOLLOW_ALL, NULL);
	give_stack(&f, 77, 1, 0, 0);
	give_clock(&f, TID, 77, 1000, 0, 4000);
	give_clock(&f, TID, 77, 2000, 0, 6000);
	tell(&f, PROC_EXEC, 5000, "next");
	e = finish(&f);
	sub = open_sub(e, "_prog_PID_5000000.1.er");
	assert_int_equal(read_clocks(sub).ticks, 1);
	experiment_close(sub);
	sub = open_sub(e, "_next_PID_5000000.1.er");
	assert_int_equal(read_clocks(sub).ticks, 2);
	experiment_close(sub);
	experiment_close(e);
}

static void test_founders_own(void **state)
{
	struct fixture f;
	struct experiment *e;
	struct clocks c;

	begin(&f, FOLLOW_ALL, NULL);
	give_clock(&f, KTHREAD, 0, 3000, ER_CLOCK_KTHREAD | ER_CLOCK_UNSAMPLED, 4000);
	give_clock(&f, 0, 0, 4000, ER_CLOCK_IDLE, 4001);
	give_clock(&f, TID, 0, 5000, ER_CLOCK_UNSAMPLED, 4002);
	drain_process(f.drain, false);
	assert_int_equal(recording_nsubs(f.recording), 0); /* a residual makes no directory */
	e = finish(&f);
	assert_int_equal(e->names.len, 3);
	c = read_clocks(e);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.ticks, 12);
	assert_int_equal(c.lwp, PID);
	assert_int_equal(c.state, MS_USER);
	assert_int_equal(e->maps.len, 2);
	experiment_close(e);
}

static void test_garbage_is_counted(void **state)
{
	struct fixture f;
	struct er_stack s = { .h.kind = ER_KIND_STACK, .id = 77, .nkernel = 127, .nuser = 127 };
	struct er_header h = { .kind = 99 };

	begin(&f, FOLLOW_ALL, NULL);
	drain_take(f.drain, 0, &s, sizeof(s));
	give_stack(&f, 0, 2, 2, 0); /* all records without a stack would have this one */
	drain_take(f.drain, 0, &h, sizeof(h));
	drain_take(f.drain, 0, &h, 3);
	drain_take(f.drain, NCPUS, &h, sizeof(h));
	assert_int_equal(f.drops.n[DROP_RECORD], 5);
	experiment_close(finish(&f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_followed_goes_to_its_own),
		cmocka_unit_test(test_rings_are_emptied_meanwhile),
		cmocka_unit_test(test_not_followed_is_one_frame),
		cmocka_unit_test(test_the_recorder_is_one_frame),
		cmocka_unit_test(test_no_room_for_an_experiment),
		cmocka_unit_test(test_not_followed_kernel_part),
		cmocka_unit_test(test_expression_is_whole),
		cmocka_unit_test(test_sums_are_exact),
		cmocka_unit_test(test_stack_may_come_late),
		cmocka_unit_test(test_the_last_batch_does_not_wait),
		cmocka_unit_test(test_cut_stacks_are_marked),
		cmocka_unit_test(test_guessed_callers_of_java),
		cmocka_unit_test(test_frames_are_where_files_were_then),
		cmocka_unit_test(test_removed_mappings_are_written),
		cmocka_unit_test(test_exec_begins_another),
		cmocka_unit_test(test_founders_own),
		cmocka_unit_test(test_garbage_is_counted),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
