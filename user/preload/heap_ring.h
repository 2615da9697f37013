/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ring between a program and the recorder. A library that the dynamic loader loads into the
 * program (LD_PRELOAD) writes it: er_heap.so traces the heap, er_clock.so profiles the program for a
 * recorder without privileges, er_locks.so counts how often locks are taken. The recorder reads it. The
 * recorder makes the memory (a memfd that cannot shrink) and gives it to the program over a socket.
 * The program can write anything into it, so the recorder copies a slot before it checks it, and
 * keeps its own place.
 *
 * The ring is an array of slots of 64 bytes. A thread takes the next numbers by adding to `head`,
 * waits until these slots are free, fills them and stores their numbers last. So no thread holds a
 * lock. A stack takes several slots with consecutive numbers.
 *
 * With HEAP_LOCKS the memory is no ring. Each slot stays where it is, and its count grows.
 *
 * The handshake: the program sends struct heap_hello with the token from its environment. The
 * recorder answers with one byte and the memfd, or closes the connection.
 *
 * Times of a thread on the CPU are cumulative, as the kernel counts them since the thread began. So
 * no time is lost with a record, and the recorder takes differences.
 */
#ifndef USER_PRELOAD_HEAP_RING_H
#define USER_PRELOAD_HEAP_RING_H

#include <stdint.h>

#define HEAP_VARIABLE "ER_HEAP" /* "SOCKET TOKEN", both in hexadecimal; the socket is abstract */
#define LOCKS_VARIABLE "ER_LOCKS" /* the same for er_locks.so */
/*
 * er_locks.so may also be preloaded by the user, for a recorder that attaches later. That listens at an abstract
 * socket with the process's number in its name. Then it raises the semaphore of the library's USDT probe er:locks in
 * this process, which only a privileged recorder can do. The process needs no token there: the kernel says who it is.
 */
#define LOCKS_ATTACHED "er_locks." /* and the PID */
#define LOCKS_PROVIDER "er"
#define LOCKS_PROBE "locks"
#define LOCKS_LIBRARY "er_locks.so"

enum {
	HEAP_VERSION = 3,
	HEAP_SLOTS = 1 << 17,      /* a power of two */
	HEAP_SLOTS_AT = 4096,      /* bytes before the first slot */
	HEAP_WORDS = 6,
	HEAP_TOKEN = 32,           /* characters */
	HEAP_FRAMES = 500,         /* the deepest stack */
	HEAP_STACK_WORDS = 3,      /* of a stack before its first frame */
	HEAP_SAMPLE_BYTES = 512 << 10, /* mean distance of samples */
};

enum heap_mode {
	HEAP_OFF, HEAP_ON, HEAP_SAMPLED,
	HEAP_CLOCK, /* no heap: clock samples, of er_clock.so */
	HEAP_LOCKS, /* no heap: counts of locks, of er_locks.so */
};

/* Kinds of slots. Those of events have the values of enum heap_type (analysis/metrics/leaks.h). */
enum heap_slot_kind {
	HEAP_SLOT_MALLOC, /* words: time_ns, stack, size, address, old address (REALLOC) */
	HEAP_SLOT_FREE,
	HEAP_SLOT_REALLOC,
	HEAP_SLOT_MMAP,
	HEAP_SLOT_MUNMAP,
	HEAP_SLOT_EVENTS,      /* the number of these */
	HEAP_SLOT_STACK = 16,  /* words: id, time_ns, frames | end << 32, then frames, leaf first; */
	HEAP_SLOT_FRAMES,      /* continued. All frames are return addresses */
	HEAP_SLOT_THREAD,      /* words: the thread's name. Its other slots follow */
	HEAP_SLOT_CLOCK,       /* words: time_ns, stack (0: the thread ends), its user and system */
			       /* time in us, CPU */
	HEAP_SLOT_PROCESS,     /* words: time_ns, user and system time of the ending process in us */
	HEAP_SLOT_CODE,        /* a file that was loaded since, or for the first time */
	HEAP_SLOT_LOCK,        /* words: time_ns of the first, lock, caller (a return address), */
			       /* enum er_lock (analysis/experiment/packet.h), how often it was taken */
};

/* Words of HEAP_SLOT_LOCK. */
enum { COUNT_TIME, COUNT_LOCK, COUNT_CALLER, COUNT_KIND, COUNT_TIMES };
/* Locks beyond so many slots are counted as one with the address 0, for each caller and thread. */
enum { COUNT_SLOTS = HEAP_SLOTS / 8 * 7 };

struct heap_slot {
	uint64_t number; /* + 1; stored last */
	uint32_t kind, tid;
	uint64_t words[HEAP_WORDS];
};

/* How many slots a stack of n frames takes. */
static inline uint32_t heap_stack_slots(uint32_t n)
{
	return (n + HEAP_STACK_WORDS + HEAP_WORDS - 1) / HEAP_WORDS;
}

struct heap_ring {
	/* Set by the recorder. */
	uint32_t version, mode;  /* enum heap_mode */
	uint32_t stop;           /* 1: the recording has ended */
	uint32_t generation;     /* changes when stacks must be sent again */
	uint32_t alone;          /* 1: of the load only this process is recorded (exec_calls.h) */
	uint64_t interval_ns;    /* HEAP_CLOCK: CPU time between two samples of a thread */
	uint64_t tail __attribute__((aligned(64))); /* slots below it are free */
	/* Set by the program. */
	uint64_t head __attribute__((aligned(64))); /* the next number */
	uint64_t lost;           /* events that found no room */
	uint64_t forks;          /* HEAP_CLOCK: children that will ask for a ring */
};

#define HEAP_RING_BYTES (HEAP_SLOTS_AT + (uint64_t)HEAP_SLOTS * sizeof(struct heap_slot))

struct heap_hello {
	uint32_t version;
	uint32_t own_malloc; /* 1: the program has a malloc of its own, which the library does not see */
	int32_t parent;      /* er_clock.so: the process's parent */
	uint32_t forked;     /* 1: it runs the program of its parent */
	char token[HEAP_TOKEN];
};

_Static_assert(sizeof(struct heap_slot) == 64, "ring contract");
_Static_assert(sizeof(struct heap_ring) <= HEAP_SLOTS_AT, "ring contract");

#endif
