/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program's side of the ring (heap_ring.h): gets it from the recorder, and writes events with
 * their stacks. Nothing here allocates, takes a lock or changes errno. After a fork the child asks
 * for a ring of its own at its first event; a child of vfork writes into its parent's, as it
 * uses its parent's memory.
 */
#ifndef USER_PRELOAD_HEAP_CLIENT_H
#define USER_PRELOAD_HEAP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "user/preload/heap_ring.h"
#include "user/preload/heap_walk.h"

/* Of each thread, zero at first. */
struct heap_thread {
	unsigned depth;    /* inside the library: nested calls are not recorded */
	uint32_t tid;
	uint64_t process;  /* in which tid is right */
	struct heap_extent stack;
	uint64_t name[2];  /* of clock samples: as it was sent */
	int64_t distance;  /* bytes to the next sample */
	uint64_t random;   /* 0: `distance` is not set yet */
};

struct heap_event {
	enum heap_slot_kind kind;
	uint64_t size, address, old;
	uint64_t time_ns;  /* 0: now */
	const void *frame; /* frame pointer of the interposed function; its caller is the leaf */
};

/* A clock sample. Times are those of the thread so far. */
struct heap_clock {
	uint64_t user_us, system_us;
	uint32_t cpu;
	const uint64_t *regs; /* where the thread was interrupted, HEAP_REGS; NULL: it ends */
};

/*
 * Call it early, once. Asks the recorder that this variable names for the ring at once, so that the recorder
 * knows of each program that has the library. False: the environment names no recorder.
 */
bool heap_client_init(const char *variable);
/*
 * Call it next. From now on, also look for a recorder that attaches to this process, while the semaphore is not 0
 * (heap_ring.h). heap_client_mode looks, at most once a second.
 */
void heap_client_await(const volatile unsigned short *semaphore);
/*
 * The same for er_clock.so, and in each forked child. Asks for the ring at once. Returns the CPU time
 * between two samples, in ns; 0: there is no recorder.
 */
uint64_t heap_client_profile(uint32_t parent, bool forked);
/* What is to be recorded now; HEAP_OFF also if it is not known yet. Cheap. */
enum heap_mode heap_client_mode(void);
/* Valid if heap_client_mode is not HEAP_OFF, in this process. A later recorder has another one. */
struct heap_ring *heap_client_ring(void);
uint64_t heap_client_now(void);
void heap_client_write(struct heap_thread *t, const struct heap_event *e);
/*
 * Write a clock sample. Never waits: without room the sample is lost, and its time is part of the next
 * one's. May be called in a signal handler. Needs 8 KB of stack.
 */
void heap_client_clock(struct heap_thread *t, const struct heap_clock *c);
/* The process is about to fork: the recorder waits for the child. */
void heap_client_fork(void);
/* The process ends; its times, all threads together. */
void heap_client_end(struct heap_thread *t, uint64_t user_us, uint64_t system_us);
/* Whether of the load only this process is recorded. */
bool heap_client_is_alone(void);
/* Whether the library was begun in this process, not in one that shares its memory by vfork. */
bool heap_client_is_own(void);

#endif
