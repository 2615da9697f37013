/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads one ring of heap events (user/preload/heap_ring.h). The process that writes it may write
 * anything, at any moment. So a slot is copied, then checked, and only the copy is used. The
 * reader's place and all lengths are its own.
 */
#ifndef USER_RECORD_HEAP_SLOTS_H
#define USER_RECORD_HEAP_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/preload/heap_ring.h"

/* A process that has a ring. */
struct heap_process {
	pid_t pid;
	uint64_t salt; /* makes ids of its stacks unique */
};

/* An event, checked: its kind is below HEAP_SLOT_EVENTS. */
struct heap_record {
	enum heap_slot_kind kind;
	uint32_t tid;
	char comm[16]; /* of the thread; "" if unknown */
	uint64_t time_ns, stack, size, address, old;
};

/* A clock sample of er_clock.so, not checked. Times are those of the thread so far. */
struct heap_sample {
	uint32_t tid, cpu;
	char comm[16];
	uint64_t time_ns, stack; /* stack 0: the thread ends */
	uint64_t user_us, system_us;
};

/* How often a thread took a lock since the last such record. */
struct heap_lock {
	uint32_t tid;
	char comm[16];
	uint64_t began_ns; /* not after the first of them; not checked */
	uint64_t object, caller; /* object 0: any of very many locks */
	unsigned kind;     /* enum er_lock, checked */
	uint64_t n;        /* at most INT64_MAX */
};

/*
 * The functions that get what a ring has. All get `ctx`. Without `sample` a clock's slots are malformed.
 * Only `lock` is called by heap_reader_counts.
 */
struct heap_sink {
	/* A stack, before the first event that has it: return addresses, leaf first; n may be 0. */
	void (*stack)(void *ctx, const struct heap_process *p, uint64_t id, uint64_t time_ns,
		      const uint64_t *pcs, size_t n, unsigned end);
	void (*event)(void *ctx, const struct heap_process *p, const struct heap_record *r);
	void (*sample)(void *ctx, const struct heap_process *p, const struct heap_sample *s);
	/* The process ends; the times are those of all its threads. Only tid and times are set. */
	void (*process)(void *ctx, const struct heap_process *p, const struct heap_sample *s);
	/* Files were loaded into the process. */
	void (*code)(void *ctx, const struct heap_process *p, uint64_t time_ns);
	void (*lock)(void *ctx, const struct heap_process *p, const struct heap_lock *l);
	void *ctx;
};

struct heap_counts {
	uint64_t events;    /* handed on */
	uint64_t lost;      /* the processes counted them, or their slots were never filled */
	uint64_t malformed; /* slots that no library writes */
	uint64_t processes; /* that have or had a ring */
	uint64_t refused;   /* processes without one: too many, or no memory */
	uint64_t unseen;    /* processes whose program has a malloc of its own */
};

struct heap_reader;

struct heap_reader *heap_reader_new(void);
void heap_reader_free(struct heap_reader *r);
/*
 * Hand on the slots below `mark`, at most `most`, and free them for the process. With `last` all are
 * read: those that were taken but not filled are counted as lost. Returns whether all slots below
 * `mark` were read.
 */
bool heap_reader_read(struct heap_reader *r, struct heap_ring *ring, uint64_t mark,
		      const struct heap_process *p, const struct heap_sink *sink, size_t most,
		      bool last, struct heap_counts *counts);
/*
 * The same for counts of locks (HEAP_LOCKS), whose slots stay where they are: hand on what was added to
 * them since the last call. `now_ns` is the time of this call. What the next call hands on began then.
 */
void heap_reader_counts(struct heap_reader *r, const struct heap_ring *ring, uint64_t mark,
			const struct heap_process *p, const struct heap_sink *sink, uint64_t now_ns,
			struct heap_counts *counts);

#endif
