/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workloads that know their state. Each is a process that repeats one kind of wait. It computes
 * from the kernel's figures how long it was off the CPU in that state: the time of the calls, minus
 * the time that it ran or waited for a CPU meanwhile.
 */
#ifndef STATES_H
#define STATES_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "tests/live/thread_records.h"

enum {
	ROUNDS = 8,
	ROUND_MS = 30, /* longer than 1.5 sample intervals: always recorded */
	FROZEN_MS = 150,
	PAGES = 2000,
	PAGE = 4096,
};

/* The workload writes this, and the test reads it. */
struct truth {
	uint64_t waited; /* time that must have been in the state */
	uint64_t map;    /* where the file is mapped */
	uint32_t holder; /* of the lock */
	char skip[80];   /* why this cannot be done here */
};

/* A point in time, and the kernel's figures of this thread then. */
struct stretch {
	uint64_t wall;
	struct schedstat s;
};

/*
 * The kernel updates a thread's figures at a switch, so make one. On a busy machine the thread may
 * lose its CPU between the figures and the clock; then try again.
 */
static inline struct stretch stretch_now(void)
{
	struct stretch at;
	int tries = 100;

	do {
		sched_yield();
		at.s = schedstat(getpid(), gettid());
		at.wall = now_ns(CLOCK_MONOTONIC);
	} while (schedstat(getpid(), gettid()).delay != at.s.delay && tries--);
	return at;
}

static inline uint64_t stretch_waited(const struct stretch *from)
{
	struct stretch to = stretch_now();
	uint64_t busy = to.s.run - from->s.run + to.s.delay - from->s.delay;
	uint64_t wall = to.wall - from->wall;

	return wall > busy ? wall - busy : 0;
}

static inline void do_nanosleep(struct truth *t)
{
	for (int i = 0; i < ROUNDS; i++)
		sleep_ms(ROUND_MS);
}

static inline void do_epoll(struct truth *t)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev;

	for (int i = 0; i < ROUNDS; i++)
		epoll_wait(fd, &ev, 1, ROUND_MS);
}

static inline void do_pipe(struct truth *t)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		return;
	if (!fork()) {
		for (int i = 0; i < ROUNDS; i++) {
			sleep_ms(ROUND_MS);
			if (write(ends[1], "", 1) != 1)
				break;
		}
		_exit(0);
	}
	close(ends[1]);
	while (read(ends[0], &byte, 1) == 1)
		;
}

static inline void do_futex(struct truth *t)
{
	struct timespec ts = { .tv_nsec = ROUND_MS * MS };
	int word = 0;

	for (int i = 0; i < ROUNDS; i++)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &ts, NULL, 0);
}

/* A lock, and a thread that repeatedly holds it for a while. */
struct held {
	pthread_mutex_t mutex;
	pthread_barrier_t barrier;
	struct truth *truth;
};

static inline void *hold(void *arg)
{
	struct held *h = arg;

	h->truth->holder = gettid();
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&h->mutex);
		pthread_barrier_wait(&h->barrier);
		sleep_ms(ROUND_MS);
		pthread_mutex_unlock(&h->mutex);
		pthread_barrier_wait(&h->barrier);
	}
	return NULL;
}

static inline void do_lock(struct truth *t, int protocol)
{
	pthread_mutexattr_t attr;
	struct held h = { .truth = t };
	pthread_t thread;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutex_init(&h.mutex, &attr);
	pthread_barrier_init(&h.barrier, NULL, 2);
	pthread_create(&thread, NULL, hold, &h);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&h.barrier);
		pthread_mutex_lock(&h.mutex);
		pthread_mutex_unlock(&h.mutex);
		pthread_barrier_wait(&h.barrier);
	}
	pthread_join(thread, NULL);
}

static inline void do_mutex(struct truth *t)
{
	do_lock(t, PTHREAD_PRIO_NONE);
}

static inline void do_pi_mutex(struct truth *t)
{
	do_lock(t, PTHREAD_PRIO_INHERIT);
}

/* A file of PAGES pages on a disk. Each page begins with a return instruction. */
static inline int disk_file(struct truth *t)
{
	char page[PAGE] = { (char)0xc3 }, path[] = "/var/tmp/er-states.XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs)) {
		snprintf(t->skip, sizeof(t->skip), "no file in /var/tmp: %s", strerror(errno));
		return -1;
	}
	unlink(path);
	if (fs.f_type == 0x01021994 || fs.f_type == 0x858458f6) {
		snprintf(t->skip, sizeof(t->skip), "/var/tmp is in memory");
		close(fd);
		return -1;
	}
	for (int i = 0; i < PAGES; i++)
		if (write(fd, page, PAGE) != PAGE)
			snprintf(t->skip, sizeof(t->skip), "cannot write to /var/tmp");
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	return fd;
}

static inline void do_disk(int fd, char *map)
{
	char page[PAGE];

	for (int i = 0; i < PAGES; i++)
		if (pread(fd, page, PAGE, (off_t)(i * 7 % PAGES) * PAGE) != PAGE)
			return;
}

static inline void do_data_fault(int fd, char *map)
{
	for (int i = 0; i < PAGES; i++)
		(void)((volatile char *)map)[(size_t)(i * 7 % PAGES) * PAGE];
}

static inline void do_text_fault(int fd, char *map)
{
	for (int i = 0; i < PAGES; i++)
		((void (*)(void))(map + (size_t)(i * 7 % PAGES) * PAGE))();
}

/* The kernel reads the mapping in a system call. */
static inline void do_kernel_fault(int fd, char *map)
{
	char byte;
	int ends[2];

	if (pipe(ends))
		return;
	for (int i = 0; i < PAGES; i++)
		if (write(ends[1], map + (size_t)(i * 7 % PAGES) * PAGE, 1) != 1 ||
		    read(ends[0], &byte, 1) != 1)
			return;
}

/* The parent of the workload continues it after a while. */
static inline void do_stop(struct truth *t)
{
	for (int i = 0; i < ROUNDS; i++)
		raise(SIGSTOP);
}

/* The same with the parent as its tracer. */
static inline void do_traced(struct truth *t)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	do_stop(t);
}

/* The parent of a vfork() waits until the child has ended. */
static inline void do_vfork(struct truth *t)
{
	for (volatile int i = 0; i < ROUNDS; i++) {
		pid_t pid = vfork();

		if (!pid) {
			sleep_ms(ROUND_MS);
			_exit(0);
		}
	}
}

/* Runs until it has noticed that it was frozen, for at most a second. */
static inline void do_frozen(struct truth *t)
{
	uint64_t start = now_ns(CLOCK_MONOTONIC), at = start, before;

	do {
		before = at;
		at = now_ns(CLOCK_MONOTONIC);
	} while (at - before < FROZEN_MS / 2 * MS && at - start < 1000ull * MS);
}

#endif
