/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/heap_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/vec.h"
#include "loaders/uprobes.h"
#include "user/preload/own_call.h"
#include "user/record/heap_library.h"
#include "user/record/heap_slots.h"
#include "user/record/schedule.h"
#include "user/record/token.h"
#include "user/space/procfs.h"

enum {
	MAX_RINGS = 256,       /* at a time; a ring takes 8 MB when it has been filled once */
	PERIOD_NS = 4000000,   /* between two looks at the rings */
	LOCKS_PERIOD_NS = 100000000, /* the same for HEAP_LOCKS, to see processes end */
	NAME = 16,             /* random bytes of the socket's name */
	BACKLOG = 64,
	GENERATIONS = 64,      /* of descendants of an attached process */
	CALLERS = 64,          /* that have not said hello; the oldest is dropped for another one */
};

#define FORK_NS 1000000000ULL
#define HELLO_NS 5000000000ULL /* a program can be preempted before it says hello */
#define COUNTS_NS 1000000000ULL /* between two readings of the counts of locks */

/* What is loaded into the program. */
static const struct library {
	const char *name, *variable;
} libraries[] = {
	[HEAP_ON] = { "er_heap.so", HEAP_VARIABLE },
	[HEAP_SAMPLED] = { "er_heap.so", HEAP_VARIABLE },
	[HEAP_CLOCK] = { "er_clock.so", HEAP_VARIABLE },
	[HEAP_LOCKS] = { "er_locks.so", LOCKS_VARIABLE },
};

struct source {
	struct heap_process process;
	int pidfd;
	struct heap_ring *ring;
	struct heap_reader *reader;
	uint64_t mark;
	uint64_t lost;         /* as its process counted them, so far */
	uint64_t forks;        /* the same */
	bool ended;            /* the process has ended, or runs another program */
};

/* A process has connected, and not said hello yet. */
struct caller {
	int sock;
	bool attached; /* to the socket for an attached process */
	uint64_t since_ns;
};

struct heap_server {
	enum heap_mode mode;
	uint64_t interval_ns;
	pid_t only;                 /* 0: every process that asks gets a ring */
	pid_t attached;             /* 0: none */
	int attached_listener;
	struct uprobes *raised;     /* while the attached process may call */
	struct heap_processes tell; /* all NULL: nothing */
	int listener, timer, epoll;
	char name[2 * NAME + 1], token[HEAP_TOKEN + 1];
	char *library;
	VEC(struct source) sources;
	VEC(struct caller) callers; /* the oldest first */
	struct heap_counts counts;
	uint64_t nforks, nforked; /* that processes announced, that came */
	uint64_t forked_ns;       /* when the last was announced */
	uint64_t counts_ns;       /* HEAP_LOCKS: when all counts are read next */
	uint32_t generation;
	bool stopped;
};

/* --- the beginning --- */

static int listen_at(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	strcpy(at.sun_path + 1, name);
	if (fd >= 0 && (bind(fd, (struct sockaddr *)&at,
			     offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)) < 0 ||
			listen(fd, BACKLOG) < 0)) {
		int err = errno;

		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

static int watch(int epoll, int fd)
{
	struct epoll_event e = { .events = EPOLLIN };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
}

struct heap_server *heap_server_open(enum heap_mode mode, uint64_t interval_ns, struct diag *d)
{
	struct heap_server *s = xcalloc(1, sizeof(*s));

	s->mode = mode;
	s->interval_ns = interval_ns;
	s->listener = s->attached_listener = s->timer = s->epoll = -1;
	s->library = heap_library(libraries[mode].name, d);
	if (!s->library)
		goto failed;
	token_make(s->name, NAME);
	token_make(s->token, HEAP_TOKEN / 2);
	s->listener = listen_at(s->name);
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->listener >= 0 && s->timer >= 0 && s->epoll >= 0 && !watch(s->epoll, s->listener) &&
	    !watch(s->epoll, s->timer))
		return s;
	diag_errno(d, errno, "the socket for the program cannot be made");
failed:
	heap_server_close(s);
	return NULL;
}

static bool has_ended(const struct source *src)
{
	struct pollfd p = { .fd = src->pidfd, .events = POLLIN };

	return src->pidfd < 0 || poll(&p, 1, 0) == 1;
}

static void source_free(struct source *src)
{
	munmap(src->ring, HEAP_RING_BYTES);
	heap_reader_free(src->reader);
	if (src->pidfd >= 0)
		close(src->pidfd);
}

static void drop_callers(struct heap_server *s)
{
	vec_for_each(c, &s->callers)
		close(c->sock);
	s->callers.len = 0;
}

void heap_server_close(struct heap_server *s)
{
	if (!s)
		return;
	drop_callers(s);
	vec_free(&s->callers);
	vec_for_each(src, &s->sources)
		source_free(src);
	vec_free(&s->sources);
	uprobes_detach(s->raised);
	for (int i = 0; i < 4; i++) {
		int fd = ((int[]){ s->listener, s->attached_listener, s->timer, s->epoll })[i];

		if (fd >= 0)
			close(fd);
	}
	free(s->library);
	free(s);
}

void heap_server_aim(struct heap_server *s, pid_t pid)
{
	s->only = pid;
}

int heap_server_attach(struct heap_server *s, pid_t pid)
{
	__cleanup(freep) char *name = xasprintf(LOCKS_ATTACHED "%d", (int)pid);

	s->attached_listener = listen_at(name);
	if (s->attached_listener < 0 || watch(s->epoll, s->attached_listener))
		return -errno;
	s->attached = pid;
	return 0;
}

void heap_server_keep(struct heap_server *s, struct uprobes *raised)
{
	s->raised = raised;
}

void heap_server_tell(struct heap_server *s, const struct heap_processes *tell)
{
	s->tell = tell ? *tell : (struct heap_processes){ 0 };
}

static void count_forks(struct heap_server *s, struct source *src)
{
	uint64_t forks = __atomic_load_n(&src->ring->forks, __ATOMIC_ACQUIRE);

	if (forks <= src->forks)
		return;
	s->nforks += forks - src->forks;
	src->forks = forks;
	s->forked_ns = now_ns();
}

unsigned heap_server_living(struct heap_server *s)
{
	unsigned n = 0;

	vec_for_each(src, &s->sources) {
		count_forks(s, src);
		n += !has_ended(src);
	}
	if (!n && s->nforks > s->nforked && now_ns() - s->forked_ns < FORK_NS)
		n++;
	return n;
}

int heap_server_fd(const struct heap_server *s)
{
	return s->epoll;
}

int heap_server_environment(const struct heap_server *s)
{
	const char *own = getenv("LD_PRELOAD");
	__cleanup(freep) char *list = own && *own ? xasprintf("%s:%s", s->library, own) : NULL;
	char value[2 * NAME + HEAP_TOKEN + 2];

	snprintf(value, sizeof(value), "%s %s", s->name, s->token);
	if (setenv(libraries[s->mode].variable, value, 1) || setenv("LD_PRELOAD", list ? list : s->library, 1))
		return -errno;
	return 0;
}

struct capture_library heap_server_library(const struct heap_server *s)
{
	struct capture_library ret = { .path = s->library };

	own_mark(s->token, ret.mark);
	return ret;
}

/* --- the handshake --- */

/* Memory that cannot change its size, so that reading it cannot fail. */
static int make_memory(void)
{
	int fd = memfd_create("er_heap", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (ftruncate(fd, HEAP_RING_BYTES) < 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool send_memory(int sock, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* A process has one program at a time: the ring of its earlier one gets nothing more. */
static void end_earlier(struct heap_server *s, pid_t pid)
{
	vec_for_each(src, &s->sources) {
		if (src->process.pid == pid)
			src->ended = true;
	}
}

static void arm(const struct heap_server *s, bool on)
{
	const long period = s->mode == HEAP_LOCKS ? LOCKS_PERIOD_NS : PERIOD_NS;
	const struct timespec t = { .tv_nsec = on ? period : 0 };

	timerfd_settime(s->timer, 0, &(struct itimerspec){ t, t }, NULL);
}

static bool add_source(struct heap_server *s, int sock, pid_t pid)
{
	struct source src = { .process = { .pid = pid }, .pidfd = -1 };
	int fd = s->sources.len < MAX_RINGS ? make_memory() : -1;

	if (fd < 0)
		return false;
	src.ring = mmap(NULL, HEAP_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (src.ring == MAP_FAILED) {
		close(fd);
		return false;
	}
	src.ring->version = HEAP_VERSION;
	src.ring->mode = s->mode;
	src.ring->interval_ns = s->interval_ns;
	src.ring->alone = s->only != 0;
	src.ring->generation = s->generation;
	src.pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (getrandom(&src.process.salt, sizeof(src.process.salt), 0) < 0)
		abort();
	src.reader = heap_reader_new();
	end_earlier(s, pid);
	if (!send_memory(sock, fd)) {
		close(fd);
		source_free(&src);
		return false;
	}
	close(fd);
	if (!s->sources.len)
		arm(s, true);
	vec_push(&s->sources, src);
	s->counts.processes++;
	return true;
}

/* Whether it is the attached process, or one that this has created. */
static bool is_attached(const struct heap_server *s, pid_t pid)
{
	struct procfs_stat st;

	for (int i = 0; i < GENERATIONS && pid > 1; i++, pid = st.ppid) {
		if (pid == s->attached)
			return true;
		if (!procfs_stat(pid, &st))
			return false;
	}
	return false;
}

/* False: the hello has not come yet. */
static bool answer(struct heap_server *s, const struct caller *c)
{
	int sock = c->sock;
	struct heap_hello hello;
	ssize_t size = recv(sock, &hello, sizeof(hello), MSG_DONTWAIT);
	struct ucred peer;
	socklen_t n = sizeof(peer);

	if (size < 0 && errno == EAGAIN)
		return false;
	if (size != (ssize_t)sizeof(hello) || hello.version != HEAP_VERSION ||
	    getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 || peer.pid <= 0 ||
	    !(c->attached ? is_attached(s, peer.pid) : token_equal(hello.token, s->token, HEAP_TOKEN)) ||
	    (s->only && peer.pid != s->only))
		return true;
	s->counts.unseen += !!hello.own_malloc;
	s->nforked += !!hello.forked;
	if (s->tell.began && !s->tell.began(s->tell.ctx, peer.pid, hello.parent, hello.forked))
		return true;
	if (!add_source(s, sock, peer.pid))
		s->counts.refused++;
	return true;
}

static void add_caller(struct heap_server *s, int sock, bool attached)
{
	if (s->callers.len == CALLERS) {
		close(s->callers.data[0].sock);
		memmove(s->callers.data, s->callers.data + 1, --s->callers.len * sizeof(*s->callers.data));
	}
	watch(s->epoll, sock);
	vec_push(&s->callers, ((struct caller){ sock, attached, now_ns() }));
}

void heap_server_accept(struct heap_server *s)
{
	uint64_t ticks;
	size_t kept = 0;
	int sock;

	/* Read to make the timer unreadable; how often it expired does not matter. */
	while (read(s->timer, &ticks, sizeof(ticks)) > 0)
		continue;
	while (!s->stopped && (sock = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		add_caller(s, sock, false);
	while (!s->stopped && s->attached && (sock = accept4(s->attached_listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		add_caller(s, sock, true);
	for (size_t i = 0; i < s->callers.len; i++) {
		struct caller c = s->callers.data[i];

		if (answer(s, &c) || now_ns() - c.since_ns > HELLO_NS)
			close(c.sock);
		else
			s->callers.data[kept++] = c;
	}
	s->callers.len = kept;
}

/* --- reading --- */

void heap_server_mark(struct heap_server *s)
{
	vec_for_each(src, &s->sources) {
		if (has_ended(src))
			src->ended = true;
		count_forks(s, src);
		src->mark = __atomic_load_n(&src->ring->head, __ATOMIC_ACQUIRE);
	}
}

static void count_lost(struct heap_server *s, struct source *src)
{
	uint64_t lost = __atomic_load_n(&src->ring->lost, __ATOMIC_RELAXED);

	if (lost > src->lost)
		s->counts.lost += lost - src->lost;
	src->lost = lost;
}

/* Returns whether all that there was at the mark was handed on. */
static bool read_source(struct heap_server *s, struct source *src, const struct heap_sink *sink, size_t most,
			bool last)
{
	if (s->mode != HEAP_LOCKS)
		return heap_reader_read(src->reader, src->ring, src->mark, &src->process, sink, most, last,
					&s->counts);
	if (last)
		heap_reader_counts(src->reader, src->ring, src->mark, &src->process, sink, now_ns(), &s->counts);
	return true;
}

void heap_server_take(struct heap_server *s, const struct heap_sink *sink, size_t most, bool last)
{
	bool all = last || (s->mode == HEAP_LOCKS && now_ns() >= s->counts_ns);
	size_t kept = 0;

	vec_for_each(src, &s->sources) {
		bool done = read_source(s, src, sink, most, all || src->ended);

		if (!done || !src->ended) {
			s->sources.data[kept++] = *src;
			continue;
		}
		count_lost(s, src);
		if (s->tell.ended && has_ended(src))
			s->tell.ended(s->tell.ctx, src->process.pid);
		source_free(src);
	}
	if (s->sources.len && !kept)
		arm(s, false);
	s->sources.len = kept;
	if (all)
		s->counts_ns = now_ns() + COUNTS_NS;
}

void heap_server_hurry(struct heap_server *s)
{
	s->counts_ns = 0;
}

void heap_server_resend(struct heap_server *s)
{
	s->generation++;
	vec_for_each(src, &s->sources)
		__atomic_store_n(&src->ring->generation, s->generation, __ATOMIC_RELAXED);
}

void heap_server_stop(struct heap_server *s)
{
	s->stopped = true;
	/* First: a library whose ring has stopped looks for the next recorder. */
	uprobes_detach(s->raised);
	s->raised = NULL;
	vec_for_each(src, &s->sources)
		__atomic_store_n(&src->ring->stop, 1, __ATOMIC_RELAXED);
	close(s->listener);
	if (s->attached)
		close(s->attached_listener);
	s->listener = s->attached_listener = -1;
	s->attached = 0;
	drop_callers(s);
	arm(s, false);
}

struct heap_counts heap_server_counts(const struct heap_server *s)
{
	struct heap_counts c = s->counts;

	vec_for_each(src, &s->sources) {
		uint64_t lost = __atomic_load_n(&src->ring->lost, __ATOMIC_RELAXED);

		c.lost += lost > src->lost ? lost - src->lost : 0;
	}
	return c;
}
