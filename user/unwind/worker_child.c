/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes: a supervisor with few rights and a worker with fewer. The worker receives a
 * job and the file, builds the table or reads the names, writes them to the job's area, and
 * replies. If it ends (a fault, the alarm, a forbidden call) the supervisor reports that and
 * starts another.
 */
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "user/jit/hotspot.h"
#include "user/jit/perfmap.h"
#include "user/jit/snapshot.h"
#include "user/unwind/goplaces.h"
#include "user/unwind/pythonfile.h"
#include "user/unwind/sandbox.h"
#include "user/unwind/worker_impl.h"

enum { LARGE_WORDS = 1 << 16 };

struct mapped {
	void *p;
	size_t n;
};

static uint64_t cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

/*
 * Receive a job and its descriptors; a descriptor that was not sent is -1. False: there are no more
 * jobs.
 */
static bool receive(int sock, struct worker_job *job, int fds[2])
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec iov = { job, sizeof(*job) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	ssize_t n;

	fds[0] = fds[1] = -1;
	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*job) || job->slot >= WORKER_SLOTS)
		return false;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return true;
}

/* Map the file and close it. 0 or -errno. */
static int map(int fd, struct mapped *ret)
{
	struct stat st;
	int err = 0;

	*ret = (struct mapped){ 0 };
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		err = -ENOEXEC;
	if (!err) {
		ret->n = st.st_size;
		ret->p = mmap(NULL, ret->n, PROT_READ, MAP_PRIVATE, fd, 0);
		if (ret->p == MAP_FAILED) {
			err = -errno;
			ret->p = NULL;
		}
	}
	close(fd);
	return err;
}

static void unmap(struct mapped *m)
{
	if (m->p)
		munmap(m->p, m->n);
}

static void build(struct worker_reply *r, const struct mapped *elf, const struct mapped *debug,
		  void *area)
{
	const struct unwind_input in = { elf->p, elf->n, debug->p, debug->n };
	struct unwind_table t;

	r->err = unwind_table_build(&in, &t);
	if (!r->err && t.nwords * sizeof(*t.words) > UNWIND_TABLE_BYTES)
		r->err = -EFBIG;
	if (!r->err) {
		memcpy(area, t.words, t.nwords * sizeof(*t.words));
		r->nwords = t.nwords;
		r->file = t.file;
		pythonfile_find(elf->p, elf->n, &r->file);
		if (!r->file.python)
			goplaces_find(elf->p, elf->n, &r->file.go);
		r->counts = t.counts;
	}
	unwind_table_free(&t);
}

static void build_table(struct worker_reply *r, const int fds[2], void *area)
{
	struct mapped elf, debug = { 0 };

	r->err = map(fds[0], &elf);
	if (fds[1] >= 0)
		map(fds[1], &debug);
	if (!r->err)
		build(r, &elf, &debug, area);
	unmap(&elf);
	unmap(&debug);
}

/*
 * Read a piece of the file. It is not mapped, because the runtime may cut it meanwhile, and a mapping
 * would then fault. Returns the number of bytes, or -errno.
 */
static ssize_t read_piece(int fd, uint64_t offset, char *to, size_t room)
{
	size_t len = 0;
	ssize_t n = 0;

	while (len < room) {
		n = pread(fd, to + len, room - len, offset + len);
		if (n <= 0)
			break;
		len += n;
	}
	return n < 0 ? -errno : (ssize_t)len;
}

static size_t parse_names(int fd, const struct worker_job *job, const char *text, size_t n,
			  struct jit_batch *to)
{
	char header[JITDUMP_HEADER];
	struct jitdump d;

	if (job->format == JIT_PERF_MAP)
		return perfmap_parse(text, n, WORKER_NAMES_BYTES, to);
	if (pread(fd, header, sizeof(header), 0) != sizeof(header) ||
	    !jitdump_header(header, sizeof(header), &d))
		return 0;
	if (!job->offset)
		return d.first;
	return jitdump_parse(&d, text, n, WORKER_NAMES_BYTES, job->offset, to);
}

static void read_file(struct worker_reply *r, int fd, const struct worker_job *job, struct jit_batch *b)
{
	static char text[WORKER_NAMES_BYTES];
	ssize_t n = read_piece(fd, job->offset, text, WORKER_NAMES_BYTES);

	if (n < 0)
		r->err = n;
	else
		r->used = parse_names(fd, job, text, n, b);
}

/* Copies of a Java VM's memory, which are read whole. */
static void read_memory(struct worker_reply *r, int fd, struct jit_batch *b)
{
	enum { MOST = sizeof(struct hotspot_question) + SNAPSHOT_UNITS * sizeof(struct memory_unit) };
	__cleanup(freep) char *file = xmalloc(MOST);
	ssize_t n = read_piece(fd, 0, file, MOST);

	r->err = n < 0 ? n : hotspot_parse(file, n, b);
}

static void read_names(struct worker_reply *r, int fd, const struct worker_job *job, char *area)
{
	struct jit_batch b = { .names = area, .names_room = WORKER_NAMES_BYTES,
			       .entries = (struct jit_entry *)(area + WORKER_NAMES_BYTES),
			       .room = WORKER_NAMES_MAX };

	if (job->format == JIT_HOTSPOT)
		read_memory(r, fd, &b);
	else
		read_file(r, fd, job, &b);
	close(fd);
	r->nwords = b.n;
	r->nnames = b.nnames;
}

static void work(int sock, char *areas)
{
	struct worker_job job;
	int fds[2];

	while (receive(sock, &job, fds)) {
		struct worker_reply r = { .number = job.number };
		char *area = areas + (size_t)job.slot * UNWIND_TABLE_BYTES;
		uint64_t began = cpu_now();

		alarm(UNWIND_JOB_SECONDS);
		if (job.task == WORKER_NAMES)
			read_names(&r, fds[0], &job, area);
		else
			build_table(&r, fds, area);
		alarm(0);
		r.cpu_ns = cpu_now() - began;
		if (send(sock, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
			break;
		/* The heap keeps what a large file needed; few files are large. */
		if (r.nwords > LARGE_WORDS)
			malloc_trim(0);
	}
}

/* Wait until the worker has ended. Kill it if told to, or if the recorder is gone. */
static int await(pid_t pid, int control, bool *told)
{
	struct pollfd fds[2] = { { .fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN },
				 { .fd = control, .events = POLLIN } };
	int status = 0;
	char byte;

	*told = false;
	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		continue;
	if (!(fds[0].revents & POLLIN)) {
		*told = recv(control, &byte, sizeof(byte), MSG_DONTWAIT) == sizeof(byte);
		kill(pid, SIGKILL);
	}
	close(fds[0].fd);
	waitpid(pid, &status, 0);
	return status;
}

/* Wait for the first job: if all tables are on disk there is none. False: the recorder is gone. */
static bool await_job(int sock, int control)
{
	struct pollfd fds[2] = { { .fd = sock, .events = POLLIN }, { .fd = control, .events = POLLIN } };

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		continue;
	return fds[0].revents & POLLIN;
}

void worker_supervise(int sock, int control, void *areas)
{
	struct worker_reply ended = { 0 };
	bool told;

	if (!await_job(sock, control))
		return;
	for (;;) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			close(control);
			if (!sandbox_worker())
				work(sock, areas);
			_exit(0);
		}
		if (pid < 0)
			return;
		status = await(pid, control, &told);
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			return; /* the socket was closed */
		ended.err = told || (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) ?
				    -ETIMEDOUT : -ECONNRESET;
		if (send(sock, &ended, sizeof(ended), MSG_NOSIGNAL) != sizeof(ended))
			return;
	}
}
