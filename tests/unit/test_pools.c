/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pools: sub-experiments that the processes of a program share. */
#include <linux/types.h>

#include "analysis/experiment/exp_map.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_stacks.h"
#include "bpf/command.h"
#include "bpf/frame.h"
#include "tests/unit/drain_fixture.h"
#include "user/record/addresses.h"
#include "user/record/pools.h"
#include "user/space/files.h"

enum {
	LIBRARY_INO = 900,
	THREADS = 1000, /* added to a process's number to get its thread's */
	KERNEL = 1, /* each sub-experiment's first map record is the kernel's */
};

/* A process that events are reported for. */
struct history {
	struct fixture *f;
	pid_t pid;
};

static void happens(const struct history *h, enum proc_event_kind kind, uint64_t t,
		    const char *name)
{
	procmap_apply(h->f->procmap, &(struct proc_event){ .kind = kind, .time_ns = t, .pid = h->pid,
							   .tid = h->pid, .ppid = 1, .name = name });
}

static void maps(const struct history *h, uint64_t t, const char *path, uint64_t ino, uint64_t addr,
		 uint64_t pgoff, uint64_t len)
{
	procmap_apply(h->f->procmap, &(struct proc_event){
		.kind = PROC_MMAP, .time_ns = t, .pid = h->pid, .tid = h->pid, .name = path,
		.addr = addr, .pgoff = pgoff, .len = len, .dev = 1, .ino = ino });
}

/*
 * A process that runs `program` and has mapped a library. Each process maps it at another address.
 */
static struct history begins(struct fixture *f, pid_t pid, const char *program, uint64_t ino)
{
	struct history h = { f, pid };

	happens(&h, PROC_FORK, 2000, NULL);
	happens(&h, PROC_EXEC, 2100, "prog");
	maps(&h, 2200, program, ino, 0x400000, 0, 0x1000);
	maps(&h, 2300, "/lib/libnone.so", LIBRARY_INO, 0x7f0000000000 + 0x100000ULL * (pid - PID),
	     0x5000, 0x2000);
	return h;
}

static uint32_t number(struct fixture *f, const char *path, uint64_t ino)
{
	const struct mapping m = { .path = path, .dev = 1, .ino = ino };

	return files_number((struct files *)procmap_files(f->procmap), &m);
}

static void give_walk(struct fixture *f, uint64_t id, const uint64_t *frames, size_t n,
		      enum er_end end)
{
	struct {
		struct er_stack s;
		uint64_t pcs[8];
	} r = { .s = { .h = { .kind = ER_KIND_STACK, .time_ns = 3000 }, .id = id, .tgid = PID,
		       .start_time = 1990, .nuser = n, .flags = ER_STACK_USER_EXACT, .end = end } };

	memcpy(r.pcs, frames, n * sizeof(*frames));
	drain_take(f->drain, 0, &r, sizeof(r.s) + n * sizeof(*frames));
}

static void give_frames(struct fixture *f, uint64_t id, const uint64_t *frames, size_t n)
{
	give_walk(f, id, frames, n, ER_END_NOT);
}

static void give_sample(struct fixture *f, pid_t pid, uint64_t stack, uint64_t us)
{
	struct er_clock c = { .h = { .kind = ER_KIND_CLOCK, .seq = f->seq++, .time_ns = 4000 },
			      .task = { .start_time = 1990, .tgid = pid, .tid = pid + THREADS,
				.comm = "prog" },
			      .stack = stack, .weight = us * 1000, .flags = ER_CLOCK_USER };

	drain_take(f->drain, 0, &c, sizeof(c));
}

/* A packet, and its stack as the reader returns it. */
struct seen {
	int64_t lwp, thread, ticks, uid, npcs;
	uint64_t pcs[8];
};

static size_t read_packets(struct experiment *e, struct seen *ret, size_t max)
{
	const struct exp_stream *s = &e->streams.data[0];
	struct packet_iter it;
	struct packet p;
	size_t n = 0;

	packet_iter_init(&it, e, s);
	while (packet_next(&it, &p)) {
		struct seen *to = &ret[n++];
		int64_t i = experiment_stack(e, packet_int(&p, stream_field(s, "FRINFO")));

		assert_true(n <= max && i >= 0);
		to->lwp = packet_int(&p, stream_field(s, "LWPID"));
		to->thread = packet_int(&p, stream_field(s, "THRID"));
		to->ticks = packet_int(&p, stream_field(s, "NTICK"));
		to->uid = packet_int(&p, stream_field(s, "FRINFO"));
		to->npcs = e->stacks.data[i].npcs;
		experiment_pcs(e, &e->stacks.data[i], to->pcs, to->npcs < 8 ? to->npcs : 8);
	}
	return n;
}

static void give_command(struct fixture *f, pid_t pid, uint64_t t, const char *text)
{
	struct er_command r = { .h = { .kind = ER_KIND_COMMAND, .seq = f->seq++, .time_ns = t },
				.start_time = 1990, .tgid = pid, .n = strlen(text) + 1, .whole = true };

	memcpy(r.text, text, r.n);
	drain_take(f->drain, 1, &r, sizeof(r));
}

/* The processes have ended, so only what BPF sent can tell. */
static void test_command_lines_come_with_the_exec(void **state)
{
	struct fixture f;
	struct experiment *e;
	uint64_t frame;

	begin(&f, FOLLOW_SHARED, NULL);
	frame = er_frame(number(&f, "/lib/libnone.so", LIBRARY_INO), 0x5010);
	for (int i = 1; i <= 3; i++)
		happens(&(struct history){ &f, PID + i }, PROC_FORK, 2000, NULL);
	for (int i = 1; i <= 2; i++)
		happens(&(struct history){ &f, PID + i }, PROC_EXEC, 2100, "prog");
	give_command(&f, PID + 1, 2101, "prog -x");
	give_command(&f, PID + 3, 2101, "not yet executed");
	give_frames(&f, 77, &frame, 1);
	for (int i = 1; i <= 3; i++)
		give_sample(&f, PID + i, 77, 3);
	e = finish(&f);
	assert_int_equal(e->processes.len, 3);
	assert_string_equal(e->processes.data[0].command, "prog -x");
	assert_string_equal(e->processes.data[1].command, "prog");
	assert_string_not_equal(e->processes.data[2].command, "not yet executed");
	experiment_close(e);
}

static void test_processes_share_stacks(void **state)
{
	struct fixture f;
	struct experiment *e, *pool;
	struct seen seen[4];
	const struct exp_map *lib;
	uint64_t frames[2];

	begin(&f, FOLLOW_SHARED, NULL);
	begins(&f, PID + 1, "/bin/none", 800);
	begins(&f, PID + 2, "/bin/none", 800);
	frames[0] = er_frame(number(&f, "/lib/libnone.so", LIBRARY_INO), 0x5010);
	frames[1] = er_frame(number(&f, "/bin/none", 800), 0x21);
	give_frames(&f, 77, frames, 2);
	give_sample(&f, PID + 1, 77, 3);
	give_sample(&f, PID + 2, 77, 5);
	drain_process(f.drain, true);
	assert_int_equal(recording_nprocesses(f.recording), 2);
	e = finish(&f);
	pool = open_sub(e, "_none.1.er");
	assert_true(pool->many_processes);
	assert_int_equal(pool->pid, 0);
	assert_string_equal(pool->command, "/bin/none");
	assert_int_equal(read_packets(pool, seen, 4), 2);
	assert_int_equal(pool->stacks.len, 1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(seen[i].lwp, PID + 1 + i);
		assert_int_equal(seen[i].thread, PID + 1 + i + THREADS);
		assert_int_equal(seen[i].npcs, 2);
	}
	assert_int_equal(seen[0].uid, seen[1].uid);
	assert_int_equal(e->processes.len, 2);
	assert_int_equal(e->processes.data[1].pid, PID + 2);
	assert_int_equal(e->processes.data[1].begin_ns, 1100);
	assert_string_equal(e->processes.data[1].name, "prog");
	/* Each file has one segment. An address is the file's place plus the offset. */
	assert_int_equal(pool->maps.len, KERNEL + 2);
	lib = &pool->maps.data[KERNEL];
	assert_int_equal(lib->vaddr, address_in_pool(er_frame(er_frame_file(frames[0]), 0x5000)));
	assert_int_equal(lib->size, 0x2000);
	assert_int_equal(lib->foffset, 0x5000);
	assert_string_equal(lib->name, "/lib/libnone.so");
	assert_int_equal(seen[0].pcs[0], lib->vaddr + 0x10);
	assert_int_equal(seen[0].pcs[1], address_in_pool(frames[1]) - 1);
	experiment_close(pool);
	experiment_close(e);
}

/* A part of a file that two processes map differently is in one segment only. */
static void test_parts_do_not_overlap(void **state)
{
	const uint64_t offsets[] = { 0x10, 0x1800, 0x3800, 0x5800 };
	const uint64_t from[] = { 0, 0x1000, 0x3000, 0x5000 };
	struct history h[3];
	struct fixture f;
	struct experiment *e, *pool;
	uint64_t frame;

	begin(&f, FOLLOW_SHARED, NULL);
	for (int i = 0; i < 3; i++)
		h[i] = begins(&f, PID + 1 + i, "/bin/none", 800);
	maps(&h[0], 2400, "/lib/parts.so", 700, 0x10000000, 0x1000, 0x2000);
	maps(&h[1], 2400, "/lib/parts.so", 700, 0x20000000, 0x4000, 0x1000);
	maps(&h[2], 2400, "/lib/parts.so", 700, 0x30000000, 0, 0x6000);
	frame = er_frame(number(&f, "/bin/none", 800), 0x21);
	give_frames(&f, 77, &frame, 1);
	for (int i = 0; i < 3; i++)
		give_sample(&f, PID + 1 + i, 77, 1);
	for (int i = 0; i < 4; i++) {
		frame = er_frame(number(&f, "/lib/parts.so", 700), offsets[i]);
		give_frames(&f, 1 + i, &frame, 1);
		give_sample(&f, PID + 1, 1 + i, 1);
	}
	e = finish(&f);
	pool = open_sub(e, "_none.1.er");
	assert_int_equal(pool->maps.len, KERNEL + 1 + 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pool->maps.data[KERNEL + 1 + i].foffset, from[i]);
	experiment_close(pool);
	experiment_close(e);
}

/* -F =regexp and -F all: processes get experiments of their own while there is room. */
static void test_beyond_the_limit(void **state)
{
	struct fixture f;
	struct experiment *e, *sub, *pool;
	struct seen seen[4];
	uint64_t frame;

	fixture_max_subs = 1;
	begin(&f, FOLLOW_ALL, NULL);
	fixture_max_subs = 4096;
	for (int i = 1; i <= 3; i++)
		begins(&f, PID + i, "/bin/none", 800);
	frame = er_frame(number(&f, "/bin/none", 800), 0x21);
	give_frames(&f, 77, &frame, 1);
	for (int i = 1; i <= 3; i++)
		give_sample(&f, PID + i, 77, i);
	e = finish(&f);
	sub = open_sub(e, "_prog_PID_5000001.1.er");
	assert_int_equal(sub->pid, PID + 1);
	assert_int_equal(read_packets(sub, seen, 4), 1);
	assert_int_equal(seen[0].pcs[0], 0x400021);
	pool = open_sub(e, "_none.1.er");
	assert_int_equal(read_packets(pool, seen, 4), 2);
	assert_int_equal(seen[0].ticks + seen[1].ticks, 5);
	assert_int_equal(seen[0].pcs[0], address_in_pool(frame));
	assert_int_equal(f.drops.n[DROP_EXPERIMENT], 0);
	experiment_close(sub);
	experiment_close(pool);
	experiment_close(e);
}

/*
 * Programs of the same name are distinguished by their files. Beyond 1,024 programs all others
 * share one pool.
 */
static void test_many_programs(void **state)
{
	enum { PROGRAMS = 1030 };
	struct fixture f;
	struct experiment *e, *last;
	struct seen seen[8];
	str_vec subs = { 0 };
	uint64_t frame;

	begin(&f, FOLLOW_SHARED, NULL);
	for (int i = 1; i <= PROGRAMS; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/bin/%d/none", i);
		begins(&f, PID + i, path, 1000 + i);
		frame = er_frame(number(&f, path, 1000 + i), 0x21);
		give_frames(&f, i, &frame, 1);
		give_sample(&f, PID + i, i, 1);
	}
	e = finish(&f);
	experiment_subs(e, &subs);
	assert_int_equal(subs.len, 1025);
	vec_for_each(name, &subs)
		free(*name);
	vec_free(&subs);
	last = open_sub(e, "_programs.1.er");
	assert_int_equal(read_packets(last, seen, 8), PROGRAMS - 1024);
	assert_int_equal(last->maps.len, KERNEL + PROGRAMS - 1024);
	assert_string_equal(last->maps.data[KERNEL].name, "/bin/1025/none");
	experiment_close(last);
	experiment_close(e);
}

/* The address of code that is in no file is valid in its process only. */
static void test_generated_code(void **state)
{
	const uint64_t generated = 0x7e0000001234;
	struct fixture f;
	struct experiment *e, *sub, *pool;
	struct seen seen[4];
	uint64_t frames[2];

	begin(&f, FOLLOW_SHARED, NULL);
	begins(&f, PID + 1, "/bin/none", 800);
	begins(&f, PID + 2, "/bin/none", 800);
	frames[0] = er_frame(number(&f, "/bin/none", 800), 0x21);
	give_frames(&f, 1, frames, 1);
	frames[1] = generated;
	give_frames(&f, 2, frames, 2);
	give_frames(&f, 3, &generated, 1);
	for (int i = 1; i <= 3; i++)
		give_sample(&f, PID + 1, i, 1);
	give_sample(&f, PID + 2, 2, 1);
	e = finish(&f);
	/* A caller outside all files may be an error of the walk, so it does not count. */
	pool = open_sub(e, "_none.1.er");
	assert_int_equal(read_packets(pool, seen, 4), 3);
	assert_int_equal(seen[1].pcs[1], generated - 1);
	sub = open_sub(e, "_prog_PID_5000001.1.er");
	assert_int_equal(read_packets(sub, seen, 4), 1);
	assert_int_equal(seen[0].lwp, PID + 1 + THREADS);
	assert_int_equal(seen[0].pcs[0], generated);
	experiment_close(sub);
	experiment_close(pool);
	experiment_close(e);
}

/*
 * Of a complete stack the callers count, too, and of a thread that waits: a service that runs
 * generated code is mostly seen in system calls.
 */
static void test_generated_callers(void **state)
{
	struct er_wait wait = { .h = { .kind = ER_KIND_WAIT, .seq = 7, .time_ns = 5000 },
				.task = { .start_time = 1990, .tgid = PID + 2, .tid = PID + 2,
					  .comm = "prog" },
				.stack = 1, .blocked_ns = 3000, .blocked_weight = 3000,
				.state = ER_OFF_SLEEP };
	uint64_t frames[2] = { 0, 0x7e0000001234 };
	struct experiment *e, *sub;
	struct seen seen[4];
	struct fixture f;

	begin(&f, FOLLOW_SHARED, NULL);
	begins(&f, PID + 1, "/bin/none", 800);
	begins(&f, PID + 2, "/bin/none", 800);
	frames[0] = er_frame(number(&f, "/bin/none", 800), 0x21);
	give_walk(&f, 1, frames, 2, ER_END_PROVEN);
	give_sample(&f, PID + 1, 1, 1);
	drain_take(f.drain, 1, &wait, sizeof(wait));
	e = finish(&f);
	for (int i = 1; i <= 2; i++) {
		char name[64];

		snprintf(name, sizeof(name), "_prog_PID_%d.1.er", PID + i);
		sub = open_sub(e, name);
		assert_int_equal(read_packets(sub, seen, 4), 1);
		assert_int_equal(seen[0].pcs[1], frames[1] - 1);
		experiment_close(sub);
	}
	experiment_close(e);
}

/* In the test's own process data follows the code. The heap follows data, and is in no file. */
static int variable = 1;

static void test_data_of_a_file(void **state)
{
	uint64_t data = (uintptr_t)&variable, far = data + (1ULL << 30), place;
	const struct mapping *code;
	const struct image *im;
	struct output *pool, *founder;
	struct fixture f;

	begin(&f, FOLLOW_SHARED, NULL);
	im = procmap_image(f.procmap, getpid(), 1, 4000);
	code = image_program(im);
	assert_true(code->start < data);
	pool = recording_pool(f.recording, im, f.binaries);
	founder = recording_founder(f.recording);
	place = output_address(f.recording, pool, er_frame(code->file, code->pgoff), 4000);
	assert_int_equal(output_data(f.recording, pool, im, data), place + (data - code->start));
	assert_int_equal(output_data(f.recording, pool, im, far), far);
	assert_int_equal(output_data(f.recording, pool, im, 0x1000), 0x1000);
	assert_int_equal(output_data(f.recording, founder, im, data), data);
	experiment_close(finish(&f));
}

static const struct exp_header next_header = {
	.collector = "test", .hostname = "h", .arch = "x86_64", .os = "Linux 6", .pagesize = 4096,
	.cwd = "/", .command = "er_kernel", .wordsize = 64, .start_ns = 100000,
};

/* The next segment, as the session begins it. */
static void turn_to(struct fixture *f, const char *name)
{
	assert_int_equal(recording_prepare(f->recording, f->dirfd, name, &next_header, &f->diag), 0);
	assert_int_equal(recording_finish(f->recording, 90000), 0);
	drain_restart(f->drain);
	assert_int_equal(recording_switch(f->recording), 0);
	binaries_next(f->binaries, f->dirfd, UINT64_MAX);
}

/* The name of the file that a pool of t2.er shows at the address. */
static void check_file_in_next(struct fixture *f, const char *pool, uint64_t pc, const char *name)
{
	struct experiment *e, *p;
	char path[96];

	snprintf(path, sizeof(path), "%s/t2.er", dir);
	e = experiment_open(path, &f->diag);
	assert_non_null(e);
	p = open_sub(e, pool);
	for (size_t i = 0; i < p->maps.len; i++) {
		const struct exp_map *m = &p->maps.data[i];

		if (pc >= m->vaddr && pc < m->vaddr + m->size) {
			assert_string_equal(m->name, name);
			experiment_close(p);
			experiment_close(e);
			return;
		}
	}
	fail_msg("no file at the address");
}

/*
 * A thread was woken by a process that has ended since, and gets a CPU only in the next segment.
 * The file that its waker ran is let go meanwhile, and other files come.
 */
static void test_a_kept_stack_keeps_its_files(void **state)
{
	struct fixture f;
	struct history first, second;
	uint64_t frame;

	begin(&f, FOLLOW_SHARED, NULL);
	first = begins(&f, PID + 1, "/bin/gone", 800);
	second = begins(&f, PID + 2, "/bin/stays", 801);
	frame = er_frame(number(&f, "/bin/gone", 800), 0x21);
	give_frames(&f, 77, &frame, 1);
	give_sample(&f, PID + 1, 77, 3);
	drain_process(f.drain, true);
	happens(&first, PROC_EXIT, 5000, NULL);
	procmap_expire(f.procmap, 50000);
	for (uint64_t ino = 1000; ino < 1000 + FILES_UNMAPPED + FILES_MORE; ino++)
		number(&f, "/bin/other", ino);
	procmap_trim_files(f.procmap, false);
	turn_to(&f, "t2.er");
	for (uint64_t i = 0; i < FILES_MORE; i++)
		maps(&second, 104000 + i, "/lib/new.so", 2000 + i, 0x600000 + i * 0x1000, 0, 0x1000);
	give_sample(&f, PID + 2, 77, 5);
	experiment_close(finish(&f));
	check_file_in_next(&f, "_stays.1.er", address_in_pool(frame), "/bin/gone");
}

/* A few files more than are kept do not wait until there are many. */
static void test_files_are_let_go_in_time(void **state)
{
	struct fixture f;
	size_t before;

	begin(&f, FOLLOW_SHARED, NULL);
	for (uint64_t ino = 1000; ino < 1000 + FILES_UNMAPPED; ino++)
		number(&f, "/bin/other", ino);
	procmap_trim_files(f.procmap, true);
	for (uint64_t ino = 2000; ino < 2000 + FILES_MORE - 1; ino++)
		number(&f, "/bin/other", ino);
	before = files_in_use(procmap_files(f.procmap));
	procmap_trim_files(f.procmap, false);
	assert_int_equal(files_in_use(procmap_files(f.procmap)), before);
	procmap_trim_files(f.procmap, true);
	assert_true(files_in_use(procmap_files(f.procmap)) <= before - FILES_MORE + 1);
	experiment_close(finish(&f));
}

/*
 * A program that is built again while the recording goes on keeps its pool. Each file has addresses of
 * its own there, so the functions of one are not taken for those of the other.
 */
static void test_a_program_that_is_built_again(void **state)
{
	struct fixture f;
	struct experiment *e, *pool;
	struct seen seen[3];
	uint64_t frames[2];

	begin(&f, FOLLOW_SHARED, NULL);
	begins(&f, PID + 1, "/bin/test", 800);
	begins(&f, PID + 2, "/bin/test", 801);
	begins(&f, PID + 3, "/sbin/test", 802);
	for (int i = 0; i < 2; i++) {
		frames[i] = er_frame(number(&f, "/bin/test", 800 + i), 0x21);
		give_frames(&f, 77 + i, &frames[i], 1);
		give_sample(&f, PID + 1 + i, 77 + i, 3);
	}
	give_sample(&f, PID + 3, 77, 3);
	drain_process(f.drain, true);
	assert_int_equal(recording_nsubs(f.recording), 2);
	assert_int_equal(recording_nprocesses(f.recording), 3);
	e = finish(&f);
	pool = open_sub(e, "_test.1.er");
	assert_int_equal(read_packets(pool, seen, 3), 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(seen[i].lwp, PID + 1 + i);
		assert_int_equal(seen[i].pcs[0], address_in_pool(frames[i]));
	}
	assert_int_not_equal(seen[0].pcs[0], seen[1].pcs[0]);
	experiment_close(pool);
	pool = open_sub(e, "_test.2.er");
	assert_int_equal(read_packets(pool, seen, 3), 1);
	experiment_close(pool);
	experiment_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command_lines_come_with_the_exec),
		cmocka_unit_test(test_processes_share_stacks),
		cmocka_unit_test(test_parts_do_not_overlap),
		cmocka_unit_test(test_beyond_the_limit),
		cmocka_unit_test(test_many_programs),
		cmocka_unit_test(test_generated_code),
		cmocka_unit_test(test_generated_callers),
		cmocka_unit_test(test_data_of_a_file),
		cmocka_unit_test(test_files_are_let_go_in_time),
		cmocka_unit_test(test_a_program_that_is_built_again),
		cmocka_unit_test(test_a_kept_stack_keeps_its_files),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
