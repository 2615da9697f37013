/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/prctl.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "user/space/procfs.h"
#include "user/space/procmap.h"
#include "user/space/space.h"

/* A PID that no process has: PID_MAX_LIMIT is 4,194,304. */
enum { PID = 5000000, CHILD = 5000100 };

struct seen {
	int mapped, unmapped, forgotten;
};

static void on_mapped(void *ctx, struct image *im, const struct mapping *m)
{
	((struct seen *)ctx)->mapped++;
}

static void on_unmapped(void *ctx, struct image *im, const struct mapping *m, uint64_t time_ns)
{
	((struct seen *)ctx)->unmapped++;
}

static void on_forget(void *ctx, struct image *im)
{
	((struct seen *)ctx)->forgotten++;
}

static struct seen seen;

static struct procmap *fresh(void)
{
	const struct procmap_hooks hooks = { .mapped = on_mapped, .unmapped = on_unmapped,
					     .forget = on_forget, .ctx = &seen };

	seen = (struct seen){ 0 };
	return procmap_new(&hooks);
}

static void tell(struct procmap *pm, enum proc_event_kind kind, uint64_t t, pid_t pid, pid_t ppid,
		 const char *name)
{
	procmap_apply(pm, &(struct proc_event){ .kind = kind, .time_ns = t, .pid = pid, .tid = pid,
						.ppid = ppid, .name = name });
}

static void map_at(struct procmap *pm, uint64_t t, pid_t pid, uint64_t addr, uint64_t len,
		   const char *path)
{
	procmap_apply(pm, &(struct proc_event){ .kind = PROC_MMAP, .time_ns = t, .pid = pid,
						.tid = pid, .addr = addr, .len = len,
						.name = path, .ino = 7 });
}

static void test_exec_begins_an_image(void **state)
{
	struct procmap *pm = fresh();
	struct image *before, *after;

	tell(pm, PROC_FORK, 100, PID, 1, NULL);
	tell(pm, PROC_COMM, 110, PID, 0, "sh");
	map_at(pm, 120, PID, 0x1000, 0x1000, "/bin/sh");
	tell(pm, PROC_EXEC, 200, PID, 0, "cc");
	map_at(pm, 210, PID, 0x1000, 0x1000, "/usr/bin/cc");
	before = procmap_image(pm, PID, 99, 150);
	after = procmap_image(pm, PID, 99, 250);
	assert_string_equal(before->comm, "sh");
	assert_string_equal(image_file(before), "sh");
	assert_int_equal(before->end_ns, 200);
	assert_string_equal(after->comm, "cc");
	assert_string_equal(image_file(after), "cc");
	assert_int_equal(after->space->maps.len, 1);
	assert_ptr_equal(after->older, before);
	procmap_free(pm);
}

/* The kernel says that a process has ended when it executes a set-user-id program. */
static void test_exec_of_a_set_user_id_program_is_no_end(void **state)
{
	struct procmap *pm = fresh();

	tell(pm, PROC_FORK, 100, PID, 1, NULL);
	tell(pm, PROC_EXEC, 200, PID, 0, "su");
	tell(pm, PROC_EXIT, 201, PID, 1, NULL);
	map_at(pm, 210, PID, 0x1000, 0x1000, "/bin/su");
	procmap_expire(pm, 1000);
	assert_int_equal(procmap_image(pm, PID, 99, 2000)->end_ns, 0);
	tell(pm, PROC_EXIT, 3000, PID, 1, NULL);
	map_at(pm, 3010, PID, 0x8000, 0x1000, "/lib/b"); /* of a thread that lives on */
	assert_int_equal(procmap_image(pm, PID, 99, 2000)->end_ns, 3000);
	procmap_free(pm);
}

static void test_fork_shares_until_changed(void **state)
{
	struct procmap *pm = fresh();
	struct image *parent, *child;

	tell(pm, PROC_FORK, 100, PID, 1, NULL);
	map_at(pm, 110, PID, 0x1000, 0x1000, "/bin/a");
	tell(pm, PROC_FORK, 200, CHILD, PID, NULL);
	parent = procmap_image(pm, PID, 99, 300);
	child = procmap_image(pm, CHILD, 199, 300);
	assert_ptr_equal(parent->space, child->space);
	assert_int_equal(child->ppid, PID);
	map_at(pm, 310, CHILD, 0x8000, 0x1000, "/lib/b");
	assert_int_equal(parent->space->maps.len, 1);
	assert_int_equal(child->space->maps.len, 2);
	procmap_free(pm);
}

static void test_reused_pid_is_told_apart(void **state)
{
	struct procmap *pm = fresh();
	struct image *first, *second;

	tell(pm, PROC_FORK, 100, PID, 1, NULL);
	tell(pm, PROC_COMM, 101, PID, 0, "first");
	tell(pm, PROC_EXIT, 200, PID, 1, NULL);
	tell(pm, PROC_FORK, 300, PID, 1, NULL);
	tell(pm, PROC_COMM, 301, PID, 0, "second");
	second = procmap_image(pm, PID, 299, 350);
	first = procmap_image(pm, PID, 99, 150);
	assert_string_equal(first->comm, "first");
	assert_string_equal(second->comm, "second");
	assert_ptr_equal(procmap_image(pm, PID, 99, 199), first);
	assert_int_equal(procmap_counts(pm).late, 0);
	procmap_free(pm);
}

/* If no event announced the process, /proc is read once, and that is counted. */
static void test_unannounced_process_is_counted(void **state)
{
	struct procmap *pm = fresh();
	struct image *im;

	assert_null(procmap_known_image(pm, getpid(), 99, 100)); /* it is not looked up */
	assert_int_equal(procmap_counts(pm).late, 0);
	im = procmap_image(pm, getpid(), 99, 100);
	assert_ptr_equal(procmap_known_image(pm, getpid(), 99, 100), im);
	assert_true(im->space->maps.len > 0);
	assert_int_equal(procmap_counts(pm).late, 1);
	assert_ptr_equal(procmap_image(pm, getpid(), 99, 200), im);
	assert_int_equal(procmap_counts(pm).late, 1);
	procmap_free(pm);
}

static void test_ended_images_are_forgotten(void **state)
{
	struct procmap *pm = fresh();

	for (int i = 0; i < 10000; i++) {
		tell(pm, PROC_FORK, 100 + 10 * i, PID + i % 7, 1, NULL);
		tell(pm, PROC_EXEC, 105 + 10 * i, PID + i % 7, 0, "x");
		tell(pm, PROC_EXIT, 109 + 10 * i, PID + i % 7, 1, NULL);
		procmap_expire(pm, 100 + 10 * i);
		assert_true(procmap_nimages(pm) <= 4);
	}
	procmap_expire(pm, 1000000);
	assert_int_equal(procmap_nimages(pm), 0);
	assert_int_equal(seen.forgotten, 20000);
	procmap_free(pm);
}

static void *wait_for_end(void *end)
{
	sem_wait(end);
	return NULL;
}

/* A record of another thread makes the process known; then /proc is not read. */
static void test_first_thread_ends_before_others(void **state)
{
	static const struct {
		bool told;
		int forgotten;
	} cases[] = { { true, 0 }, { false, 1 } };
	pthread_t other;
	sem_t end;

	sem_init(&end, 0, 0);
	assert_int_equal(pthread_create(&other, NULL, wait_for_end, &end), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct procmap *pm = fresh();

		tell(pm, PROC_FORK, 100, getpid(), 1, NULL);
		if (cases[i].told)
			tell(pm, PROC_FORK, 150, getpid(), getpid(), NULL);
		tell(pm, PROC_EXIT, 200, getpid(), 0, NULL);
		procmap_expire(pm, 300);
		assert_int_equal(seen.forgotten, cases[i].forgotten);
		procmap_free(pm);
	}
	sem_post(&end);
	pthread_join(other, NULL);
}

/* Found in /proc with two threads. */
static void test_first_thread_of_a_scanned_one_ends(void **state)
{
	struct procmap *pm = fresh();
	pthread_t other;
	sem_t end;

	sem_init(&end, 0, 0);
	assert_int_equal(pthread_create(&other, NULL, wait_for_end, &end), 0);
	procmap_scan(pm, 100);
	tell(pm, PROC_EXIT, 200, getpid(), 0, NULL);
	procmap_expire(pm, 300);
	assert_int_equal(seen.forgotten, 0);
	sem_post(&end);
	pthread_join(other, NULL);
	procmap_free(pm);
}

static void test_overlaid_mapping_goes(void **state)
{
	struct procmap *pm = fresh();
	struct image *im;
	int owner;

	tell(pm, PROC_FORK, 100, PID, 1, NULL);
	im = procmap_image(pm, PID, 99, 100);
	im->owner = &owner;
	map_at(pm, 110, PID, 0x10000, 0x10000, "/lib/whole");
	map_at(pm, 120, PID, 0x14000, 0x2000, "/lib/middle");
	assert_int_equal(im->space->maps.len, 3);
	assert_int_equal(seen.mapped, 4); /* the whole, its two pieces, and the middle */
	assert_int_equal(seen.unmapped, 1);
	vec_for_each(m, &im->space->maps) {
		if (m->start == 0x16000)
			assert_int_equal(m->pgoff, 0x6000);
	}
	map_at(pm, 130, PID, 0x14000, 0x2000, "/lib/middle");
	assert_int_equal(seen.mapped, 4);
	procmap_free(pm);
}

static void test_only_files_are_segments(void **state)
{
	struct procmap *pm = fresh();
	struct image *im;

	tell(pm, PROC_FORK, 100, PID, 1, NULL);
	map_at(pm, 101, PID, 0x1000, 0x1000, "//anon");
	map_at(pm, 102, PID, 0x2000, 0x1000, "[heap]");
	map_at(pm, 103, PID, 0x3000, 0x1000, "/dev/zero (deleted)");
	map_at(pm, 104, PID, 0x4000, 0x1000, "/tmp/gone (deleted)");
	map_at(pm, 105, PID, 0x5000, 0x1000, "[vdso]");
	map_at(pm, 106, PID, UINT64_MAX - 1, 0x1000, "/tmp/wraps");
	im = procmap_image(pm, PID, 99, 200);
	assert_int_equal(im->space->maps.len, 2);
	assert_string_equal(im->space->maps.data[0].path, "/tmp/gone");
	assert_true(im->space->maps.data[0].deleted);
	procmap_free(pm);
}

/* Executable memory without a file is joined to what lies near, and stays known. */
static void test_generated_code_is_noted(void **state)
{
	enum { M = 1 << 20, AREAS = 16 };
	struct procmap *pm = fresh();
	struct image *parent, *child;

	tell(pm, PROC_FORK, 100, PID, 1, NULL);
	map_at(pm, 101, PID, 16 * M, M, "//anon");
	map_at(pm, 102, PID, 18 * M, M, "[anon:v8]");
	map_at(pm, 103, PID, 40 * M, M, "/dev/zero (deleted)");
	tell(pm, PROC_FORK, 110, CHILD, PID, NULL);
	map_at(pm, 111, CHILD, 30 * M, M, "");
	parent = procmap_image(pm, PID, 99, 200);
	child = procmap_image(pm, CHILD, 105, 200);
	assert_int_equal(parent->space->generated.len, 1);
	assert_true(space_generated(parent->space, 16 * M) && space_generated(parent->space, 17 * M));
	assert_true(space_generated(parent->space, 19 * M - 1) && !space_generated(parent->space, 19 * M));
	assert_false(space_generated(parent->space, 16 * M - 1));
	assert_false(space_generated(parent->space, 40 * M));
	assert_false(space_generated(parent->space, 30 * M));
	assert_true(space_generated(child->space, 16 * M) && space_generated(child->space, 30 * M));
	for (int i = 0; i < 2 * AREAS; i++)
		map_at(pm, 120 + i, PID, (100 + 8 * (uint64_t)i) * M, M, "//anon");
	assert_int_equal(parent->space->generated.len, AREAS);
	procmap_free(pm);
}

static void test_scan_finds_this_process(void **state)
{
	struct procmap *pm = fresh();
	struct image *im;

	procmap_scan(pm, 1000);
	im = procmap_image(pm, getpid(), 500, 2000);
	assert_non_null(im);
	assert_string_equal(image_file(im), "test_procmap");
	assert_true(im->space->maps.len > 1);
	assert_int_equal(im->ppid, getppid());
	assert_int_equal(procmap_counts(pm).late, 0);
	procmap_free(pm);
}

static void test_stat(void **state)
{
	struct procfs_stat st;
	char name[16];

	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	assert_int_equal(prctl(PR_SET_NAME, "a) (b) R 1"), 0);
	assert_true(procfs_stat(getpid(), &st));
	assert_int_equal(prctl(PR_SET_NAME, name), 0);
	assert_string_equal(st.comm, "a) (b) R 1");
	assert_int_equal(st.ppid, getppid());
	assert_int_equal(st.nthreads, 1);
	assert_false(st.kthread);
	assert_false(procfs_stat(-1, &st));
	/* In a container it may have any value. */
	if (procfs_stat(2, &st) && !strcmp(st.comm, "kthreadd"))
		assert_true(st.kthread);
}

/* The exec event was missed, so /proc has the program. The second time there is nothing new. */
static void test_what_was_missed_is_caught_up(void **state)
{
	struct procmap *pm = fresh();
	struct image *im;
	size_t n;

	tell(pm, PROC_FORK, 100, getpid(), 1, NULL);
	tell(pm, PROC_EXEC, 150, getpid(), 0, "sh");
	map_at(pm, 160, getpid(), 0x1000, 0x1000, "/bin/sh");
	procmap_catch_up(pm, 200);
	im = procmap_image(pm, getpid(), 99, 250);
	assert_string_equal(image_file(im), "test_procmap");
	assert_int_equal(im->begin_ns, 200);
	assert_string_equal(im->older->comm, "sh");
	assert_int_equal(im->older->end_ns, 200);
	n = im->space->maps.len;
	procmap_catch_up(pm, 300);
	assert_ptr_equal(procmap_image(pm, getpid(), 99, 350), im);
	assert_int_equal(im->space->maps.len, n);
	procmap_free(pm);
}

/* A name that /proc/PID/stat shows with escapes. */
static void test_scan_takes_the_name_itself(void **state)
{
	static const char odd[] = "a\\b\tc";
	struct procmap *pm = fresh();
	char name[16];

	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	assert_int_equal(prctl(PR_SET_NAME, odd), 0);
	procmap_scan(pm, 1000);
	assert_int_equal(prctl(PR_SET_NAME, name), 0);
	assert_string_equal(procmap_image(pm, getpid(), 500, 2000)->comm, odd);
	procmap_free(pm);
}

struct lines {
	size_t n;
	struct maps_line at[64];
	char paths[64][256];
};

static bool keep_line(void *ctx, const struct maps_line *l)
{
	struct lines *all = ctx;

	assert_true(all->n < 64);
	snprintf(all->paths[all->n], sizeof(all->paths[0]), "%s", l->path);
	all->at[all->n++] = *l;
	return true;
}

/* A kernel that lists only code must give the same list as the lines of all mappings. */
static void test_code_is_what_the_lines_say(void **state)
{
	static struct lines got;
	struct buf maps = { 0 };
	struct maps_line l;
	size_t n = 0;

	assert_int_equal(procfs_code(getpid(), keep_line, &got), 0);
	assert_int_equal(procfs_read(getpid(), "maps", &maps), 0);
	buf_add(&maps, "", 1);
	for (char *line = strtok(maps.data, "\n"); line; line = strtok(NULL, "\n")) {
		if (!procfs_maps_line(line, &l) || !l.exec || !strcmp(l.path, "[vsyscall]"))
			continue;
		assert_true(n < got.n);
		assert_string_equal(got.paths[n], l.path);
		assert_memory_equal(&got.at[n++], &l, offsetof(struct maps_line, exec));
	}
	assert_true(n > 3);
	assert_true(procfs_code(PID, keep_line, &got) < 0);
	buf_free(&maps);
}

static void test_maps_lines(void **state)
{
	char good[] = "7f00-8f00 r-xp 00001000 fd:01 42   /a b/c\n";
	char anon[] = "7f00-8f00 rwxp 00000000 00:00 0 ";
	char bad[] = "7f00 r-xp";
	char backwards[] = "8f00-7f00 r-xp 00001000 fd:01 42 /x";
	struct maps_line l;

	assert_true(procfs_maps_line(good, &l));
	assert_string_equal(l.path, "/a b/c");
	assert_true(l.exec);
	assert_int_equal(l.pgoff, 0x1000);
	assert_int_equal(l.dev, 0xfdULL << 32 | 1);
	assert_true(procfs_maps_line(anon, &l));
	assert_string_equal(l.path, "");
	assert_false(procfs_maps_line(bad, &l));
	assert_false(procfs_maps_line(backwards, &l));
}

static void test_raw_records(void **state)
{
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		char comm[8];
		uint64_t time;
	} r = { .h = { .type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_COMM_EXEC },
		.pid = 5, .tid = 6, .comm = "name", .time = 77 };
	struct proc_event e;

	assert_true(sideband_parse(&r, sizeof(r), &e));
	assert_int_equal(e.kind, PROC_EXEC);
	assert_int_equal(e.pid, 5);
	assert_int_equal(e.time_ns, 77);
	assert_string_equal(e.name, "name");
	memset(r.comm, 'x', sizeof(r.comm)); /* a name without a NUL */
	assert_false(sideband_parse(&r, sizeof(r), &e));
	r.h.type = PERF_RECORD_MMAP2;
	assert_false(sideband_parse(&r, sizeof(r), &e));
	assert_false(sideband_parse(&r, 3, &e));
	r.h.type = 4711;
	assert_false(sideband_parse(&r, sizeof(r), &e));
}

/*
 * Each process is below its limit, but together they exceed the limit for all. A process that ends
 * makes room.
 */
static void test_all_mappings_are_bounded(void **state)
{
	enum { MAPPINGS = 4000, CHILDREN = 290 };
	struct procmap *pm = fresh();
	uint64_t over;

	tell(pm, PROC_FORK, 100, PID, 1, NULL);
	for (int i = 0; i < MAPPINGS; i++)
		map_at(pm, 101, PID, 0x100000 + 0x10000ull * i, 0x1000, "/lib/a");
	assert_int_equal(procmap_counts(pm).mappings, 0);
	for (int i = 0; i < CHILDREN; i++) {
		tell(pm, PROC_FORK, 200, CHILD + i, PID, NULL);
		map_at(pm, 201, CHILD + i, 0x1000, 0x1000, "/lib/b");
	}
	over = procmap_counts(pm).mappings;
	assert_true(over > 0 && over < CHILDREN / 4);
	for (int i = 0; i < CHILDREN; i++)
		tell(pm, PROC_EXIT, 300, CHILD + i, PID, NULL);
	procmap_expire(pm, 400);
	map_at(pm, 500, PID, 0x1000, 0x1000, "/lib/b");
	assert_int_equal(procmap_counts(pm).mappings, over);
	procmap_free(pm);
}

/* A program with a long command line, until its stdin ends. Returns its PID. */
static pid_t long_command(int *stdin_of)
{
	static char words[20000];
	int ends[2], started[2];
	char byte;
	pid_t pid;

	memset(words, 'w', sizeof(words) - 1);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(pipe2(started, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(ends[0], 0);
		execl("/bin/sh", "sh", "-c", "read x; exit", words, NULL);
		_exit(1);
	}
	close(ends[0]);
	close(started[1]);
	assert_int_equal(read(started[0], &byte, 1), 0); /* closed by exec */
	close(started[0]);
	*stdin_of = ends[1];
	return pid;
}

static void test_long_commands_are_cut(void **state)
{
	struct buf command = { 0 };
	int stdin_of;
	pid_t pid = long_command(&stdin_of);

	procfs_cmdline(pid, &command);
	assert_int_equal(command.len, 4096);
	assert_memory_equal(command.data, "sh -c read x; exit ww", 21);
	close(stdin_of);
	waitpid(pid, NULL, 0);
	buf_free(&command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec_begins_an_image),
		cmocka_unit_test(test_exec_of_a_set_user_id_program_is_no_end),
		cmocka_unit_test(test_fork_shares_until_changed),
		cmocka_unit_test(test_reused_pid_is_told_apart),
		cmocka_unit_test(test_unannounced_process_is_counted),
		cmocka_unit_test(test_ended_images_are_forgotten),
		cmocka_unit_test(test_first_thread_ends_before_others),
		cmocka_unit_test(test_first_thread_of_a_scanned_one_ends),
		cmocka_unit_test(test_overlaid_mapping_goes),
		cmocka_unit_test(test_only_files_are_segments),
		cmocka_unit_test(test_generated_code_is_noted),
		cmocka_unit_test(test_scan_finds_this_process),
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_what_was_missed_is_caught_up),
		cmocka_unit_test(test_scan_takes_the_name_itself),
		cmocka_unit_test(test_code_is_what_the_lines_say),
		cmocka_unit_test(test_maps_lines),
		cmocka_unit_test(test_raw_records),
		cmocka_unit_test(test_all_mappings_are_bounded),
		cmocka_unit_test(test_long_commands_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
