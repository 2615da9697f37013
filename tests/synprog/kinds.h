/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The actors of states.c, and the kinds of waits. Blocking system calls use raw_call, so that
 * the user stack shows the function that waits.
 */
#ifndef SYNPROG_KINDS_H
#define SYNPROG_KINDS_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <pthread.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "tests/synprog/truth.h"

struct kind;

/* In memory shared with forked processes. */
struct actor {
	const struct kind *kind;
	const char *dir;
	double seconds;
	pthread_t thread;
	pid_t child; /* the process that runs the actor; 0: a thread of this process */
	pid_t pid, tid, peer;
	double must, wall, cpu, user, system, runq;
	double part[2]; /* alternate: the part of `must` in each function */
	atomic_int done;
	/* Fields for the kind itself. */
	int fd[2], back[2], file;
	char *map;
	long turn;
	pthread_mutex_t mutex;
};

struct kind {
	const char *name;
	void (*wait)(struct actor *a);    /* makes one wait; called repeatedly */
	void (*peer)(struct actor *a);    /* makes one turn of the thread that ends the waits */
	int (*setup)(struct actor *a);    /* 0, or -1 and errno */
	void (*release)(struct actor *a); /* frees a peer that still waits for the actor */
	int own_process;
};

/* Called before and after each wait; in states.c. */
static void wait_begins(struct actor *a);
static void wait_ends(struct actor *a);

enum { SHORT_US = 5000, LONG_US = 20000, FILE_PAGES = 4096, PAGE = 4096, POPULATE = 64 << 20 };

static inline __attribute__((always_inline)) void sleep_us(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	raw_call(SYS_nanosleep, (long)&ts, 0, 0);
}

static __attribute__((noinline)) void wait_sleep(struct actor *a)
{
	wait_begins(a);
	sleep_us(SHORT_US);
	wait_ends(a);
}

/* Waits for a futex that no thread ever wakes. The timeout ends the wait. */
static __attribute__((noinline)) void wait_futex(struct actor *a)
{
	struct timespec ts = { 0, SHORT_US * 1000 };
	static int word;

	wait_begins(a);
	raw_call4(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 0, (long)&ts);
	wait_ends(a);
}

static __attribute__((noinline)) void alternate_a(void)
{
	sleep_us(1000);
}

static __attribute__((noinline)) void alternate_b(void)
{
	sleep_us(3000);
}

static void wait_alternate(struct actor *a)
{
	double before = a->must;

	wait_begins(a);
	(a->turn % 2 ? alternate_b : alternate_a)();
	wait_ends(a);
	a->part[a->turn++ % 2] += a->must - before;
}

/* --- waits for a byte from the peer --- */

static __attribute__((noinline)) void wait_read(struct actor *a)
{
	char byte[8];

	wait_begins(a);
	if (raw_call(SYS_read, a->fd[0], (long)byte, sizeof(byte)) < 0)
		truth_die("states: read");
	wait_ends(a);
}

static __attribute__((noinline)) void peer_write(struct actor *a)
{
	uint64_t one = 1;

	sleep_us(SHORT_US);
	if (write(a->fd[1], &one, sizeof(one)) < 0)
		truth_die("states: write");
}

static int setup_pipe(struct actor *a)
{
	return pipe(a->fd);
}

static int setup_event(struct actor *a)
{
	a->fd[0] = a->fd[1] = eventfd(0, 0);
	return a->fd[0] < 0 ? -1 : 0;
}

static int setup_net(struct actor *a)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a->fd[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&at, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&at, &len) ||
	    connect(a->fd[1], (struct sockaddr *)&at, len))
		return -1;
	a->fd[0] = accept(listener, NULL, NULL);
	close(listener);
	return a->fd[0] < 0 ? -1 : 0;
}

static int setup_epoll(struct actor *a)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (pipe(a->fd))
		return -1;
	a->file = epoll_create1(EPOLL_CLOEXEC);
	return epoll_ctl(a->file, EPOLL_CTL_ADD, a->fd[0], &ev);
}

static __attribute__((noinline)) void wait_epoll(struct actor *a)
{
	struct epoll_event ev;
	char bytes[8];

	wait_begins(a);
	raw_call4(SYS_epoll_wait, a->file, (long)&ev, 1, -1);
	wait_ends(a);
	if (read(a->fd[0], bytes, sizeof(bytes)) < 0)
		truth_die("states: read");
}

/* Only a timeout ends these waits. */
static __attribute__((noinline)) void wait_timeout(struct actor *a)
{
	struct timeval tv = { 0, SHORT_US };
	struct epoll_event ev;

	wait_begins(a);
	switch (a->turn++ % 4) {
	case 0: poll(NULL, 0, SHORT_US / 1000); break;
	case 1: select(0, NULL, NULL, NULL, &tv); break;
	case 2: epoll_wait(a->file, &ev, 1, SHORT_US / 1000); break;
	default: recv(a->fd[0], &ev, 1, 0);
	}
	wait_ends(a);
}

static int setup_timeout(struct actor *a)
{
	struct timeval tv = { 0, SHORT_US };

	a->file = epoll_create1(EPOLL_CLOEXEC);
	return a->file < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, a->fd) ||
			       setsockopt(a->fd[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) ?
		       -1 :
		       0;
}

/*
 * --- waits for a lock that the peer holds. The peer announces each turn, and waits until the actor
 * has had the lock ---
 */

static void say_turn(int fd)
{
	if (write(fd, "", 1) != 1)
		truth_die("states: write");
}

static void await_turn(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		truth_die("states: read");
}

static int setup_turns(struct actor *a)
{
	pthread_mutex_init(&a->mutex, NULL);
	return pipe(a->fd) || pipe(a->back) ? -1 : 0;
}

static void release_turn(struct actor *a)
{
	say_turn(a->back[1]);
}

static __attribute__((noinline)) void wait_mutex(struct actor *a)
{
	await_turn(a->fd[0]);
	wait_begins(a);
	pthread_mutex_lock(&a->mutex);
	wait_ends(a);
	pthread_mutex_unlock(&a->mutex);
	say_turn(a->back[1]);
}

static __attribute__((noinline)) void peer_mutex(struct actor *a)
{
	pthread_mutex_lock(&a->mutex);
	say_turn(a->fd[1]);
	sleep_us(LONG_US);
	pthread_mutex_unlock(&a->mutex);
	await_turn(a->back[0]);
}

/* Open the file anew, because a lock belongs to one open file. */
static int open_lock(struct actor *a, int flags)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s/states.lock", a->dir);
	return open(name, O_RDWR | O_CLOEXEC | flags, 0600);
}

static int setup_flock(struct actor *a)
{
	a->file = open_lock(a, O_CREAT);
	return a->file < 0 ? -1 : setup_turns(a);
}

static __attribute__((noinline)) void wait_flock(struct actor *a)
{
	await_turn(a->fd[0]);
	wait_begins(a);
	raw_call(SYS_flock, a->file, LOCK_EX, 0);
	wait_ends(a);
	flock(a->file, LOCK_UN);
	say_turn(a->back[1]);
}

static __attribute__((noinline)) void peer_flock(struct actor *a)
{
	int fd = open_lock(a, 0);

	flock(fd, LOCK_EX);
	say_turn(a->fd[1]);
	sleep_us(LONG_US);
	close(fd);
	await_turn(a->back[0]);
}

/* Waits for the lock of the address space, which the peer holds while it populates its mapping. */
static __attribute__((noinline)) void wait_klock(struct actor *a)
{
	long p;

	sleep_us(1000);
	wait_begins(a);
	p = raw_call(SYS_brk, 0, 0, 0);
	raw_call(SYS_munmap, (p + (1L << 30)) & -PAGE, PAGE, 0);
	wait_ends(a);
}

static __attribute__((noinline)) void peer_klock(struct actor *a)
{
	void *p = mmap(NULL, POPULATE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		truth_die("states: mmap");
	munmap(p, POPULATE);
	a->turn++;
}

/* --- processes --- */

static __attribute__((noinline)) void wait_child(struct actor *a)
{
	pid_t pid = fork();

	if (pid < 0)
		truth_die("states: fork");
	if (!pid) {
		sleep_us(LONG_US);
		_exit(0);
	}
	wait_begins(a);
	raw_call4(SYS_wait4, pid, 0, 0, 0);
	wait_ends(a);
}

/* A separate process continues this one from time to time. */
static int setup_stop(struct actor *a)
{
	pid_t us = getpid(), pid = fork();

	if (pid) {
		a->peer = pid;
		return pid < 0 ? -1 : 0;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "stop-peer");
	while (getppid() == us) {
		sleep_us(LONG_US);
		kill(us, SIGCONT);
	}
	_exit(0);
}

/* Send the signal to this thread, so that the thread stops before it goes on. */
static __attribute__((noinline)) void wait_stop(struct actor *a)
{
	wait_begins(a);
	raw_call(SYS_tgkill, a->pid, a->tid, SIGSTOP);
	wait_ends(a);
}

/* --- the disk --- */

static int make_file(struct actor *a, int flags)
{
	char name[4096], page[PAGE];
	int fd;

	snprintf(name, sizeof(name), "%s/states.%s", a->dir, a->kind->name);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	memset(page, 0xc3, sizeof(page)); /* as x86 code: return */
	for (int i = 0; fd >= 0 && i < FILE_PAGES; i++)
		if (write(fd, page, sizeof(page)) != sizeof(page))
			return -1;
	fsync(fd);
	close(fd);
	a->file = open(name, O_RDWR | O_CLOEXEC | flags);
	return a->file < 0 ? -1 : 0;
}

static int setup_disk(struct actor *a)
{
	if (make_file(a, O_DIRECT))
		return -1;
	a->map = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return a->map == MAP_FAILED ? -1 : 0;
}

static __attribute__((noinline)) void wait_disk(struct actor *a)
{
	long at = a->turn++ * 7919 % (FILE_PAGES - 16) * PAGE;

	wait_begins(a);
	if (raw_call4(SYS_pread64, a->file, (long)a->map, 16 * PAGE, at) < 0)
		truth_die("states: pread");
	wait_ends(a);
}

static int setup_fsync(struct actor *a)
{
	return make_file(a, 0);
}

static __attribute__((noinline)) void wait_fsync(struct actor *a)
{
	if (pwrite(a->file, "x", 1, a->turn++ * 7919 % FILE_PAGES * PAGE) != 1)
		truth_die("states: pwrite");
	wait_begins(a);
	raw_call(SYS_fsync, a->file, 0, 0);
	wait_ends(a);
}

/* After each page was used once, drop all of them from memory. */
static void map_again(struct actor *a)
{
	if (a->map)
		munmap(a->map, (size_t)FILE_PAGES * PAGE);
	posix_fadvise(a->file, 0, 0, POSIX_FADV_DONTNEED);
	a->map = mmap(NULL, (size_t)FILE_PAGES * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, a->file, 0);
	if (a->map == MAP_FAILED)
		truth_die("states: mmap");
	madvise(a->map, (size_t)FILE_PAGES * PAGE, MADV_RANDOM);
}

static char *next_page(struct actor *a)
{
	if (a->turn % FILE_PAGES == 0)
		map_again(a);
	return a->map + a->turn++ * 7919 % FILE_PAGES * PAGE;
}

static __attribute__((noinline)) void wait_dfault(struct actor *a)
{
	volatile char *page = next_page(a);

	wait_begins(a);
	(void)*page;
	wait_ends(a);
}

static __attribute__((noinline)) void wait_tfault(struct actor *a)
{
	void (*code)(void) = (void (*)(void))(uintptr_t)next_page(a);

	wait_begins(a);
	code();
	wait_ends(a);
}

/*
 * --- waits for a CPU: all threads of this kind run on the same one. They have the highest
 * priority that they may have, so that they wait for each other and seldom for other programs. ---
 */

static __attribute__((noinline)) void wait_runq(struct actor *a)
{
	double begin = truth_thread_cpu();
	uint64_t state = 1;

	if (!a->turn++) {
		cpu_set_t all, one;
		int cpu = 0;

		sched_getaffinity(0, sizeof(all), &all);
		while (!CPU_ISSET(cpu, &all))
			cpu++;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		setpriority(PRIO_PROCESS, 0, -20);
	}
	while (truth_thread_cpu() < begin + 0.01)
		TRUTH_TURN(state);
}

static const struct kind kinds[] = {
	{ .name = "sleep", .wait = wait_sleep },
	{ .name = "futex", .wait = wait_futex },
	{ .name = "alternate", .wait = wait_alternate },
	{ .name = "pipe", .wait = wait_read, .peer = peer_write, .setup = setup_pipe },
	{ .name = "event", .wait = wait_read, .peer = peer_write, .setup = setup_event },
	{ .name = "net", .wait = wait_read, .peer = peer_write, .setup = setup_net },
	{ .name = "epoll", .wait = wait_epoll, .peer = peer_write, .setup = setup_epoll },
	{ .name = "timeout", .wait = wait_timeout, .setup = setup_timeout },
	{ .name = "mutex", .wait = wait_mutex, .peer = peer_mutex, .setup = setup_turns,
	  .release = release_turn },
	{ .name = "flock", .wait = wait_flock, .peer = peer_flock, .setup = setup_flock,
	  .release = release_turn },
	{ .name = "klock", .wait = wait_klock, .peer = peer_klock, .own_process = 1 },
	{ .name = "child", .wait = wait_child, .own_process = 1 },
	{ .name = "stop", .wait = wait_stop, .setup = setup_stop, .own_process = 1 },
	{ .name = "disk", .wait = wait_disk, .setup = setup_disk },
	{ .name = "fsync", .wait = wait_fsync, .setup = setup_fsync },
	{ .name = "dfault", .wait = wait_dfault, .setup = setup_fsync },
	{ .name = "tfault", .wait = wait_tfault, .setup = setup_fsync },
	{ .name = "runq", .wait = wait_runq },
	{ 0 },
};

#endif
