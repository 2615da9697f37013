/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that builds unwind tables: its answers, what it may do, and how it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "tests/fixtures/cfi_image.h"
#include "user/unwind/sandbox.h"
#include "user/unwind/tablesource.h"
#include "user/unwind/worker.h"

enum { WAIT_MS = 20000, JOBS = 100, SAN_BYTES = 1 << 20 };

static int start(void **state)
{
	struct diag d = { 0 };

	*state = unwind_worker_start(&d);
	diag_free(&d);
	return *state ? 0 : -1;
}

static int stop(void **state)
{
	unwind_worker_stop(*state);
	return 0;
}

/* Wait for the next result. */
static struct unwind_result result(struct unwind_worker *w)
{
	struct unwind_result r = { 0 };

	while (!unwind_worker_next(w, &r)) {
		struct pollfd p = { .fd = unwind_worker_fd(w), .events = POLLIN };

		if (poll(&p, 1, WAIT_MS) < 1)
			fail_msg("no result");
	}
	return r;
}

static void equals_direct_build(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct unwind_input in = { 0 };
	struct unwind_result r;
	struct unwind_table t;
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	in.elf_size = st.st_size;
	in.elf = mmap(NULL, in.elf_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_int_equal(unwind_table_build(&in, &t), 0);
	assert_int_equal(unwind_worker_submit(*state, 7, fd, fd), 0);
	close(fd);
	r = result(*state);
	assert_int_equal(r.key, 7);
	assert_int_equal(r.err, 0);
	assert_int_equal(r.table.nwords, t.nwords);
	assert_memory_equal(r.table.words, t.words, t.nwords * sizeof(*t.words));
	assert_memory_equal(&r.table.file, &t.file, sizeof(t.file));
	assert_memory_equal(&r.table.counts, &t.counts, sizeof(t.counts));
	unwind_table_free(&t);
	munmap((void *)in.elf, in.elf_size);
}

/* Answers come in order and have the right tables, while more are requested. */
static void many(void **state)
{
	uint64_t answered = 0;

	for (uint64_t i = 0; i < JOBS || answered < JOBS;) {
		struct unwind_result r;
		const struct cfi_image_fn fn = { 0, 0x100 + 0x10 * i, "\x0e\x10", 2, false };
		struct buf b = { 0 };

		if (i < JOBS) {
			cfi_image(&b, &fn, 1, 0xcc);
			assert_int_equal(unwind_worker_submit_bytes(*state, i++, b.data, b.len), 0);
			buf_free(&b);
		}
		while (unwind_worker_next(*state, &r) || (i == JOBS && answered < JOBS)) {
			const __u32 *rows;

			if (unwind_worker_waiting(*state) == JOBS - answered && i == JOBS)
				r = result(*state);
			assert_int_equal(r.err, 0);
			assert_int_equal(r.key, answered);
			rows = r.table.words + r.table.file.rows;
			assert_int_equal(rows[r.table.file.nrows - 1] & 0xffff,
					 CFI_IMAGE_TEXT + 0x100 + 0x10 * answered);
			answered++;
		}
	}
	assert_int_equal(unwind_worker_waiting(*state), 0);
	assert_int_equal(unwind_worker_stats(*state).built, JOBS);
}

/* Files without a table, and other things than files. */
static void without(void **state)
{
	const char *const names[] = { "/etc/passwd", "/proc/self/status", "/dev/null", "/" };
	int socks[2];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int fd = open(names[i], O_RDONLY | O_CLOEXEC);

		assert_int_equal(unwind_worker_submit(*state, i, fd, -1), 0);
		close(fd);
		assert_int_equal(result(*state).err, -ENOEXEC);
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, socks), 0);
	assert_int_equal(unwind_worker_submit(*state, 9, socks[0], -1), 0);
	assert_int_equal(result(*state).err, -ENOEXEC);
	close(socks[0]);
	close(socks[1]);
	assert_int_equal(unwind_worker_submit(*state, 10, -1, -1), -EBADF);
	assert_int_equal(unwind_worker_stats(*state).without, 5);
	assert_int_equal(unwind_worker_stats(*state).failed, 0);
}

/* --- attempts to break it --- */

/* The process's only child. */
static pid_t child_of(pid_t pid)
{
	__cleanup(freep) char *path = xasprintf("/proc/%d/task/%d/children", pid, pid);
	__cleanup(fclosep) FILE *f = fopen(path, "r");
	int child = 0;

	if (!f || fscanf(f, "%d", &child) != 1)
		return 0;
	return child;
}

/* Have a job done. After it the process has its limits. */
static void warm_up(struct unwind_worker *w)
{
	assert_int_equal(unwind_worker_submit_bytes(w, 0, "no ELF file", 11), 0);
	assert_int_equal(result(w).err, -ENOEXEC);
}

/* Wait until there is a worker other than `before`. */
static pid_t worker_pid(pid_t before)
{
	for (int i = 0; i < WAIT_MS; i++) {
		pid_t pid = child_of(child_of(getpid()));

		if (pid && pid != before)
			return pid;
		usleep(1000);
	}
	return 0;
}

/* If a worker is killed, only its current job is lost; another worker does the next. */
static void broken(void **state)
{
	const struct cfi_image_fn fn = CFI_FN(0, 0x10, "\x0e\x10");
	struct buf b = { 0 };
	pid_t pid;

	warm_up(*state);
	pid = worker_pid(0);
	assert_true(pid > 0);
	cfi_image(&b, &fn, 1, 0xcc);
	for (int i = 0; i < 3; i++) {
		kill(pid, SIGSTOP); /* stopped, so that it has jobs when it ends */
		for (int k = 0; k < 3; k++)
			assert_int_equal(unwind_worker_submit_bytes(*state, k, b.data, b.len), 0);
		kill(pid, i == 1 ? SIGALRM : SIGKILL);
		kill(pid, SIGCONT);
		for (int k = 0; k < 3; k++) {
			struct unwind_result r = result(*state);

			assert_int_equal(r.key, k);
			assert_int_equal(r.err, k ? 0 : i == 1 ? -ETIMEDOUT : -ECONNRESET);
		}
		pid = worker_pid(pid);
	}
	assert_int_equal(unwind_worker_stats(*state).broke, 3);
	assert_int_equal(unwind_worker_stats(*state).built, 6);
	buf_free(&b);
}

/* Wait until the process has a mapping of the file, or has finished its job. */
static void await_mapping(struct unwind_worker *w, pid_t pid, const char *name)
{
	struct pollfd done = { .fd = unwind_worker_fd(w), .events = POLLIN };
	static char maps[1 << 16];
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	for (*maps = '\0'; !strstr(maps, name) && !poll(&done, 1, 0);) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n, len = 0;

		while ((n = read(fd, maps + len, sizeof(maps) - 1 - len)) > 0)
			len += n;
		maps[len] = '\0';
		close(fd);
	}
}

/* The worker asks for precedence. On a busy machine it would have finished before this program runs again. */
static void take_precedence(pid_t pid)
{
	__cleanup(freep) char *path = xasprintf("/proc/%d/autogroup", pid);
	__cleanup(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "19", 2) != 2)
		print_message("%s cannot be written\n", path);
}

/* A file that shrinks while it is mapped ends only the worker. */
static void shrinking(void **state)
{
	int fd = memfd_create("shrinks", MFD_CLOEXEC);
	struct stat st;
	pid_t pid;

	warm_up(*state);
	pid = worker_pid(0);
	take_precedence(pid);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	for (int i = 0; i < 200 && !unwind_worker_stats(*state).broke; i++) {
		int exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		char *p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, exe, 0);

		assert_int_equal(pwrite(fd, p, st.st_size, 0), st.st_size);
		munmap(p, st.st_size);
		close(exe);
		assert_int_equal(unwind_worker_submit(*state, i, fd, -1), 0);
		await_mapping(*state, pid, "shrinks");
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(result(*state).key, i);
	}
	close(fd);
	assert_true(unwind_worker_stats(*state).broke);
}

/* Without a supervisor no worker remains, and jobs fail with -ESHUTDOWN. */
static void gone(void **state)
{
	const struct cfi_image_fn fn = CFI_FN(0, 0x10, "\x0e\x10");
	struct buf b = { 0 };

	warm_up(*state);
	cfi_image(&b, &fn, 1, 0xcc);
	kill(worker_pid(0), SIGSTOP);
	assert_int_equal(unwind_worker_submit_bytes(*state, 1, b.data, b.len), 0);
	assert_int_equal(unwind_worker_submit_bytes(*state, 2, b.data, b.len), 0);
	kill(child_of(getpid()), SIGKILL);
	assert_int_equal(result(*state).err, -ESHUTDOWN);
	assert_int_equal(result(*state).err, -ESHUTDOWN);
	assert_int_equal(unwind_worker_waiting(*state), 0);
	assert_int_equal(unwind_worker_fd(*state), -1);
	assert_int_equal(unwind_worker_submit_bytes(*state, 3, b.data, b.len), -ESHUTDOWN);
	buf_free(&b);
}

/*
 * A worker without a job is not waited for, also if it has ended: a loop that polls its socket would spin.
 * The next job finds out.
 */
static void gone_without_a_job(void **state)
{
	struct table_source *source = table_source_new(*state, NULL, NULL);
	const struct cfi_image_fn fn = CFI_FN(0, 0x10, "\x0e\x10");
	struct pollfd fds[TABLE_SOURCE_WORKERS];
	struct unwind_result r;
	struct buf b = { 0 };

	warm_up(*state);
	cfi_image(&b, &fn, 1, 0xcc);
	kill(child_of(getpid()), SIGKILL);
	table_source_poll(source, fds);
	assert_int_equal(poll(fds, TABLE_SOURCE_WORKERS, 100), 0);
	assert_false(table_source_next(source, &r));
	assert_int_equal(unwind_worker_submit_bytes(*state, 1, b.data, b.len), 0);
	table_source_poll(source, fds);
	assert_int_equal(poll(fds, TABLE_SOURCE_WORKERS, WAIT_MS), 1);
	assert_true(table_source_next(source, &r));
	assert_int_equal(r.err, -ESHUTDOWN);
	table_source_free(source);
	buf_free(&b);
}

/* --- what it may do --- */

static unsigned long long status_of(pid_t pid, const char *name, const char *form)
{
	__cleanup(freep) char *path = xasprintf("/proc/%d/status", pid);
	__cleanup(fclosep) FILE *f = fopen(path, "r");
	unsigned long long v = ~0ULL;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), form, &v);
	return v;
}

/* Both processes have no capability, no way to get one, and only sockets and /dev/null open. */
static void has_nothing(void **state)
{
	pid_t pids[2];

	warm_up(*state);
	pids[0] = child_of(getpid());
	pids[1] = worker_pid(0);
	for (int i = 0; i < 2; i++) {
		__cleanup(freep) char *path = xasprintf("/proc/%d/fd", pids[i]);
		DIR *dir = opendir(path);
		struct dirent *e;
		int n = 0;

		assert_int_equal(status_of(pids[i], "CapEff:", "%llx"), 0);
		assert_int_equal(status_of(pids[i], "CapPrm:", "%llx"), 0);
		assert_int_equal(status_of(pids[i], "NoNewPrivs:", "%llu"), 1);
		assert_int_equal(status_of(pids[i], "Seccomp:", "%llu"), 2);
		assert_int_equal(status_of(pids[i], "Seccomp_filters:", "%llu"),
				 status_of(getpid(), "Seccomp_filters:", "%llu") + 1 + i);
		if (!geteuid()) {
			assert_int_equal(status_of(pids[i], "CapBnd:", "%llx"), 0);
			assert_int_equal(status_of(pids[i], "Uid:", "%llu"), 65534);
			assert_int_equal(status_of(pids[i], "Gid:", "%llu"), 65534);
		}
		while (dir && (e = readdir(dir)))
			n += e->d_name[0] != '.';
		if (dir)
			assert_in_range(n, 4, i ? 4 : 6); /* the supervisor has a socket and its child, too */
		if (dir)
			closedir(dir);
	}
}

/* When memory runs out, the builder of a hostile file's table ends, not the recorder. */
static void ends_first(void **state)
{
	pid_t pids[2];

	warm_up(*state);
	pids[0] = child_of(getpid());
	pids[1] = worker_pid(0);
	for (int i = 0; i < 2; i++) {
		__cleanup(freep) char *path = xasprintf("/proc/%d/oom_score_adj", pids[i]);
		__cleanup(fclosep) FILE *f = fopen(path, "r");
		int score = 0;

		assert_non_null(f);
		assert_int_equal(fscanf(f, "%d", &score), 1);
		assert_int_equal(score, 1000);
	}
}

/* The exit status of a process that does this in the sandbox. */
static int end_of(void (*act)(void))
{
	int socks[2], status;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, socks), 0);
	pid = fork();
	if (!pid) {
		if (sandbox_supervisor(socks) || sandbox_worker())
			_exit(1);
		act();
		_exit(0);
	}
	close(socks[0]);
	close(socks[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void act_nothing(void)
{
	char *p = mmap(NULL, SAN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || munmap(p, SAN_BYTES) || send(SANDBOX_FD, "x", 1, MSG_NOSIGNAL) > 1)
		_exit(2);
}

static void act_open(void)
{
	open("/etc/passwd", O_RDONLY);
}

static void act_fork(void)
{
	if (!fork())
		_exit(0);
}

static void act_exec(void)
{
	execl("/bin/true", "true", NULL);
}

static void act_map_code(void)
{
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void act_make_code(void)
{
	mprotect(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096, PROT_EXEC);
}

static void act_kill(void)
{
	kill(1, 0);
}

static void act_socket(void)
{
	socket(AF_INET, SOCK_STREAM, 0);
}

static void act_prctl(void)
{
	alarm(0);
	setresuid(0, 0, 0);
}

static void forbidden(void **state)
{
	void (*const acts[])(void) = { act_open,      act_fork, act_exec,   act_map_code,
				       act_make_code, act_kill, act_socket, act_prctl };

#ifdef __SANITIZE_ADDRESS__
	skip(); /* the sanitizer's own system calls are not allowed */
#endif
	assert_int_equal(end_of(act_nothing), 0);
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		assert_int_equal(end_of(acts[i]), -SIGSYS);
}

#define WITH_WORKER(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKER(equals_direct_build), WITH_WORKER(many),	    WITH_WORKER(without),
		WITH_WORKER(broken),		  WITH_WORKER(shrinking),   WITH_WORKER(gone),
		WITH_WORKER(has_nothing),	  WITH_WORKER(ends_first),  cmocka_unit_test(forbidden),
		WITH_WORKER(gone_without_a_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
