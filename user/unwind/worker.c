/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder's side. Jobs wait in a queue; the worker has up to one job for each slot, so
 * that it has the next one while the recorder does something else. The process is never started
 * again from here, because by now it would inherit too much.
 */
#include "user/unwind/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/vec.h"
#include "user/unwind/sandbox.h"
#include "user/unwind/worker_impl.h"

enum {
	SILENT_SECONDS = UNWIND_JOB_SECONDS * 2, /* the worker's own alarm did not end it */
	SHARED = WORKER_SLOTS * UNWIND_TABLE_BYTES,
	KEEP_BYTES = 1 << 18, /* of a slot's memory between jobs */
	CALM_SLOTS = 2,       /* for jobs that nothing waits for */
	LATE_MAX = 1000,      /* late replies; more are no accident */
};

struct job {
	uint64_t key, number; /* number 0: not sent */
	int fd, debug_fd;
	uint32_t slot;
	enum worker_task task;
	enum jit_format format; /* the next two are for names */
	uint64_t offset;
	off_t size;
	bool hurried;
};

struct unwind_worker {
	int sock, control; /* -1: the process has ended */
	pid_t pid;
	char *areas;
	VEC(struct job) jobs; /* in order; those before `first` are done */
	size_t first, sent;   /* `sent` jobs from there on are with the worker */
	uint64_t numbers, done; /* numbers of the last job sent, and of the last one done */
	unsigned nlate;
	uint64_t heard_s;     /* when the worker last answered or had nothing to do */
	char *lent;           /* memory of the last result, if it is large; else NULL */
	unwind_names_fn names_fn;
	void *names_ctx;
	struct unwind_worker_stats stats;
};

static uint64_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* --- the process --- */

/*
 * Many kernels share the CPUs between sessions first (sched_autogroup), so that a nice value counts
 * only within its session. In a session of its own the process gets its tables done in time
 * however busy the other sessions are.
 */
static void leave_session(void)
{
	__cleanup(closep) int fd = -1;

	if (setsid() < 0)
		return;
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "-20", 3) < 0)
		return; /* not allowed: it runs at the same priority as others */
}

/* If memory runs out, a hostile file's builder ends, and not the recorder or another program. */
static void offer_to_end(void)
{
	__cleanup(closep) int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1000", 4) < 0)
		return; /* it then ends in the kernel's order */
}

static void supervisor(const int fds[SANDBOX_FDS], void *areas)
{
	int err;

	leave_session();
	offer_to_end();
	err = sandbox_supervisor(fds);

	if (send(SANDBOX_FD, &err, sizeof(err), MSG_NOSIGNAL) == sizeof(err) && !err)
		worker_supervise(SANDBOX_FD, SANDBOX_FD + 1, areas);
	_exit(0);
}

/* Returns 0 or -errno: the process reports that it is ready, or why it is not. */
static int launch(struct unwind_worker *w)
{
	int jobs[2], control[2], err = -ECHILD;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, jobs))
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control)) {
		err = -errno;
		close(jobs[0]);
		close(jobs[1]);
		return err;
	}
	w->pid = fork();
	if (!w->pid)
		supervisor((const int[]){ jobs[1], control[1] }, w->areas);
	close(jobs[1]);
	close(control[1]);
	w->sock = jobs[0];
	w->control = control[0];
	if (w->pid < 0)
		return -errno;
	/* Processes that are started later must not read or change what this one writes. */
	madvise(w->areas, SHARED, MADV_DONTFORK);
	return recv(w->sock, &err, sizeof(err), 0) == sizeof(err) ? err : -ECHILD;
}

static void end_process(struct unwind_worker *w)
{
	if (w->sock < 0)
		return;
	close(w->sock);
	close(w->control); /* the supervisor kills the worker, and ends */
	w->sock = w->control = -1;
	if (w->pid > 0)
		waitpid(w->pid, NULL, 0);
}

struct unwind_worker *unwind_worker_start(struct diag *d)
{
	struct unwind_worker *w = xcalloc(1, sizeof(*w));
	int err = 0;

	w->sock = w->control = -1;
	/* Pages are allocated when tables are written. */
	w->areas = mmap(NULL, SHARED, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->areas == MAP_FAILED)
		err = -errno;
	else
		err = launch(w);
	if (!err)
		return w;
	diag_errno(d, -err, "unwind tables: cannot start the process that builds them");
	unwind_worker_stop(w);
	return NULL;
}

static void close_job(struct job *j)
{
	if (j->fd >= 0)
		close(j->fd);
	if (j->debug_fd >= 0)
		close(j->debug_fd);
	j->fd = j->debug_fd = -1;
}

void unwind_worker_stop(struct unwind_worker *w)
{
	if (!w)
		return;
	end_process(w);
	vec_for_each(j, &w->jobs)
		close_job(j);
	vec_free(&w->jobs);
	if (w->areas != MAP_FAILED)
		munmap(w->areas, SHARED);
	free(w);
}

/* --- jobs --- */

static bool send_job(struct unwind_worker *w, const struct job *j)
{
	struct worker_job message = { .number = j->number, .slot = j->slot, .task = j->task,
				      .format = j->format, .offset = j->offset };
	const int fds[2] = { j->fd, j->debug_fd };
	size_t size = (j->debug_fd >= 0 ? 2 : 1) * sizeof(int);
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { &message, sizeof(message) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = CMSG_SPACE(size) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(c), fds, size);
	return sendmsg(w->sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(message);
}

/* A job that was sent cannot be overtaken, so few are sent that nothing waits for. */
static bool has_slot(const struct unwind_worker *w, const struct job *j)
{
	return w->sent < (j->hurried ? WORKER_SLOTS : CALM_SLOTS);
}

/* Send waiting jobs while there are free slots. */
static void feed(struct unwind_worker *w)
{
	while (w->sock >= 0 && w->first + w->sent < w->jobs.len) {
		struct job *j = &w->jobs.data[w->first + w->sent];

		if (!has_slot(w, j))
			return;
		j->number = w->numbers + 1;
		j->slot = j->number % WORKER_SLOTS;
		if (!w->sent)
			w->heard_s = now_s();
		if (!send_job(w, j))
			return;
		w->numbers++;
		close_job(j);
		w->sent++;
	}
}

/* Give the memory of a large table back to the system. */
static void take_back(struct unwind_worker *w)
{
	if (w->lent)
		madvise(w->lent + KEEP_BYTES, UNWIND_TABLE_BYTES - KEEP_BYTES, MADV_REMOVE);
	w->lent = NULL;
}

/* Move the job before those that are not hurried, and before larger files. */
static void hurry(struct unwind_worker *w, size_t at)
{
	size_t to = w->first + w->sent;
	struct job j = w->jobs.data[at];

	j.hurried = true;
	while (to < at && w->jobs.data[to].hurried && w->jobs.data[to].size <= j.size)
		to++;
	memmove(w->jobs.data + to + 1, w->jobs.data + to, (at - to) * sizeof(j));
	w->jobs.data[to] = j;
}

static int add_job(struct unwind_worker *w, struct job j)
{
	struct stat st;

	if (w->first && w->first >= w->jobs.len / 2) {
		w->jobs.len -= w->first;
		memmove(w->jobs.data, w->jobs.data + w->first, w->jobs.len * sizeof(j));
		w->first = 0;
	}
	j.size = fstat(j.fd, &st) ? 0 : st.st_size;
	vec_push(&w->jobs, j);
	if (j.hurried)
		hurry(w, w->jobs.len - 1);
	take_back(w);
	feed(w);
	return 0;
}

int unwind_worker_submit(struct unwind_worker *w, uint64_t key, int fd, int debug_fd)
{
	int own, own_debug = -1;

	if (w->sock < 0)
		return -ESHUTDOWN;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return -errno;
	if (debug_fd >= 0)
		own_debug = fcntl(debug_fd, F_DUPFD_CLOEXEC, 0);
	return add_job(w, (struct job){ .key = key, .fd = own, .debug_fd = own_debug });
}

int unwind_worker_submit_names(struct unwind_worker *w, uint64_t key, int fd, enum jit_format format,
			       uint64_t offset)
{
	int own;

	if (w->sock < 0)
		return -ESHUTDOWN;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return -errno;
	return add_job(w, (struct job){ .key = key, .fd = own, .debug_fd = -1, .task = WORKER_NAMES,
					.format = format, .offset = offset,
					.hurried = format == JIT_HOTSPOT });
}

void unwind_worker_on_names(struct unwind_worker *w, unwind_names_fn fn, void *ctx)
{
	w->names_fn = fn;
	w->names_ctx = ctx;
}

int unwind_worker_submit_bytes(struct unwind_worker *w, uint64_t key, const void *p, size_t n)
{
	int fd, err;

	if (w->sock < 0)
		return -ESHUTDOWN;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, p, n) != (ssize_t)n) {
		err = errno ? -errno : -EIO;
		close(fd);
		return err;
	}
	return add_job(w, (struct job){ .key = key, .fd = fd, .debug_fd = -1 });
}

void unwind_worker_hurry(struct unwind_worker *w, uint64_t key)
{
	size_t at;

	for (at = w->first + w->sent; at < w->jobs.len; at++) {
		if (w->jobs.data[at].key == key && w->jobs.data[at].task == WORKER_TABLE)
			break;
	}
	if (at >= w->jobs.len)
		return;
	hurry(w, at);
	take_back(w);
	feed(w);
}

/* --- results --- */

static void count(struct unwind_worker_stats *s, const struct unwind_result *r)
{
	if (!r->err) {
		s->built++;
		s->text += r->table.counts.text;
	} else if (r->err == -ENODATA || r->err == -ENOEXEC) {
		s->without++;
	} else {
		s->failed++;
		s->broke += r->err == -ECONNRESET || r->err == -ETIMEDOUT;
	}
}

/* The reply is not trusted. */
static bool is_sound(enum worker_task task, const struct worker_reply *r)
{
	if (task == WORKER_TABLE)
		return unwind_table_is_sound(&r->file, r->nwords);
	return r->nwords <= WORKER_NAMES_MAX && r->nnames <= WORKER_NAMES_BYTES &&
	       r->used <= WORKER_USED_MAX;
}

static char *area_of(const struct unwind_worker *w, const struct job *j)
{
	return w->areas + (size_t)j->slot * UNWIND_TABLE_BYTES;
}

/* The result of a job, which is the worker's oldest. `reply` is valid if err is 0. */
struct done {
	struct job job;
	struct worker_reply reply;
	int err;
};

static void finish(struct unwind_worker *w, struct done *d)
{
	d->job = w->jobs.data[w->first++];
	w->done = d->job.number;
	w->sent -= w->sent > 0;
	w->heard_s = now_s();
	if (!d->err && !is_sound(d->job.task, &d->reply))
		d->err = -EBADMSG;
}

static void give_table(struct unwind_worker *w, const struct done *d, struct unwind_result *ret)
{
	*ret = (struct unwind_result){ .key = d->job.key, .err = d->err };
	if (!d->err) {
		ret->table.file = d->reply.file;
		ret->table.file.state = ER_FILE_UNKNOWN;
		ret->table.words = (__u32 *)area_of(w, &d->job);
		ret->table.nwords = d->reply.nwords;
		if (d->reply.nwords > KEEP_BYTES / sizeof(__u32))
			w->lent = area_of(w, &d->job);
		ret->table.counts = d->reply.counts;
	}
	w->stats.cpu_ns += d->reply.cpu_ns;
	count(&w->stats, ret);
}

static void give_names(struct unwind_worker *w, const struct done *d)
{
	const char *area = area_of(w, &d->job);
	struct unwind_names names = { .key = d->job.key, .err = d->err, .cpu_ns = d->reply.cpu_ns };

	if (!d->err) {
		names.used = d->reply.used;
		names.names = area;
		names.nnames = d->reply.nnames;
		names.entries = (const struct jit_entry *)(area + WORKER_NAMES_BYTES);
		names.n = d->reply.nwords;
		w->lent = area_of(w, &d->job);
	}
	if (w->names_fn)
		w->names_fn(w->names_ctx, &names);
}

/* A job that can no longer be sent. */
static bool next_dropped(struct unwind_worker *w, struct done *ret)
{
	if (w->sock >= 0 || w->first == w->jobs.len)
		return false;
	close_job(&w->jobs.data[w->first]);
	*ret = (struct done){ .err = -ESHUTDOWN };
	finish(w, ret);
	return true;
}

/* Nothing came. If the worker has been silent for too long, tell the supervisor to end it. */
static void check_silence(struct unwind_worker *w)
{
	if (!w->sent || now_s() - w->heard_s < SILENT_SECONDS)
		return;
	w->heard_s = now_s();
	if (send(w->control, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		end_process(w);
}

/*
 * The worker was killed between two jobs. The next job was counted as lost, but the new worker did
 * it.
 */
static bool is_late(const struct unwind_worker *w, const struct worker_reply *r)
{
	return r->number ? r->number <= w->done : !w->sent;
}

/* The next result of any task. False: none is ready. */
static bool next_done(struct unwind_worker *w, struct done *ret)
{
	struct worker_reply *r = &ret->reply;
	ssize_t n;

	*ret = (struct done){ 0 };
	take_back(w);
	/* Without a job nothing comes. If the worker has ended, the next job finds out. */
	if (w->first == w->jobs.len)
		return false;
	feed(w);
	n = w->sock < 0 ? 0 : recv(w->sock, r, sizeof(*r), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		check_silence(w);
		return false;
	}
	if (n == sizeof(*r) && is_late(w, r) && w->nlate++ < LATE_MAX)
		return false;
	/* A reply that belongs to no job: an attacker controls the worker. */
	if (n != sizeof(*r) || !w->sent || (r->number && r->number != w->jobs.data[w->first].number)) {
		end_process(w);
		return next_dropped(w, ret);
	}
	if (!r->number && !r->err)
		r->err = -ECONNRESET;
	ret->err = r->err > 0 ? -r->err : r->err;
	finish(w, ret);
	return true;
}

bool unwind_worker_next(struct unwind_worker *w, struct unwind_result *ret)
{
	struct done d;

	while (next_done(w, &d)) {
		if (d.job.task == WORKER_TABLE) {
			give_table(w, &d, ret);
			return true;
		}
		give_names(w, &d);
	}
	return false;
}

pid_t unwind_worker_pid(const struct unwind_worker *w)
{
	return w->sock < 0 ? 0 : w->pid;
}

int unwind_worker_fd(const struct unwind_worker *w)
{
	return w->sock;
}

size_t unwind_worker_waiting(const struct unwind_worker *w)
{
	return w->jobs.len - w->first;
}

struct unwind_worker_stats unwind_worker_stats(const struct unwind_worker *w)
{
	return w->stats;
}
