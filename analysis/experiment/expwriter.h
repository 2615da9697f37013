/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes one experiment directory (a founder or a sub-experiment) in format
 * 12.4. Every call appends to a buffer in memory; expwriter_flush brings the
 * buffers to the files as whole records, referenced things first (stacks, maps
 * and kernel symbols before the packets that use them), so that what is on disk
 * can be read at any moment. There may be thousands of writers: they share a
 * bounded number of descriptors that stay open between flushes, and all belong to
 * one thread.
 *
 * Times are absolute nanoseconds of one clock (CLOCK_MONOTONIC); the writer
 * turns them into the relative stamps that the XML files want.
 */
#ifndef EXPERIMENT_EXPWRITER_H
#define EXPERIMENT_EXPWRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "analysis/experiment/mstate.h"
#include "analysis/experiment/packet.h"

struct diag;
struct exp_usage;
struct expwriter;

struct exp_cpu {
	int id;
	unsigned mhz;
};

struct exp_header {
	const char *collector;    /* program and version */
	const char *hostname;
	const char *arch;         /* uname -m */
	const char *os;           /* "Linux 6.18.0" */
	long pagesize, npages;
	const struct exp_cpu *cpus;
	size_t ncpus;
	pid_t pid, ppid, pgrp, sid;
	const char *cwd;
	const char *command;      /* argument list, blank separated */
	int wordsize;             /* 32 or 64: of the process; on disk it is 64 */
	uint64_t start_ns;        /* event run, absolute */
	time_t start_epoch;
	uint64_t sample_period_s; /* 0: none */
};

/*
 * Make directory `name` (mode 0700) below dirfd and write its header. 0, or
 * -errno after reporting: -EEXIST when the name is taken. `ret` is the caller's
 * to close; dirfd must stay open until then. The name must end in ".er". After an
 * error nothing of it is there.
 */
int expwriter_create(int dirfd, const char *name, const struct exp_header *h, struct diag *d,
		     struct expwriter **ret);
/*
 * The parts of a recording: sub-experiments of one founder that have all but their
 * process, maps and packets in common. What packets they have is announced first, by
 * calls of expwriter_clock_profile and the like for the founder between begin and end.
 * A part has no profile, ksym, sample or text of its own: kernel symbols are the
 * founder's, which is to be flushed before the part and must stay open longer.
 */
void expwriter_parts_begin(struct expwriter *founder, const struct exp_header *h);
void expwriter_parts_end(struct expwriter *founder);
int expwriter_create_part(struct expwriter *founder, const char *name, const struct exp_header *h,
			  struct diag *d, struct expwriter **ret);
/* Flush and free; the event exit must have been written before. Result as of expwriter_flush. */
int expwriter_close(struct expwriter *w);

/*
 * Bring what is buffered to disk. 0 or -errno (-ENOSPC, -EDQUOT, …; -ESTALE, -ENOENT when
 * somebody else changed the files or removed them), not
 * reported. A record is on disk whole or not at all: a short write is undone.
 * After a failure the writer drops what it is given.
 */
int expwriter_flush(struct expwriter *w);
/* Bytes buffered, and bytes on disk. */
size_t expwriter_pending(const struct expwriter *w);
uint64_t expwriter_bytes(const struct expwriter *w);
/*
 * The directory, for files of other modules (archives, sub-experiments), or
 * -errno; borrowed. It is opened when first asked for and stays open from then on.
 */
int expwriter_dirfd(struct expwriter *w);
const char *expwriter_name(const struct expwriter *w);

/* --- log.xml --- */

/*
 * Announce packets of a kind, once; `attrs` is ready XML for its <profile> or
 * NULL. Where the same file holds two kinds, announce both.
 */
void expwriter_profile(struct expwriter *w, enum er_packet kind, const char *attrs);
/*
 * Announce clock packets: weights are NTICK × ptimer_us microseconds. Only with
 * `waits` is their struct wait_info written.
 */
void expwriter_clock_profile(struct expwriter *w, unsigned ptimer_us, enum er_stateset states,
			     bool waits);

/* A counter: `tag` is what its packets say (HWCTAG). */
struct exp_counter_desc {
	int tag;
	const char *name;     /* keyword of metric lists */
	const char *int_name; /* what was counted */
	const char *label;
	int64_t interval;
	bool cycles;          /* counts are clock ticks: readers may show them as a time */
};

/* Announce counter packets (HWC) and all counters, once; none: nothing. */
void expwriter_counter_profile(struct expwriter *w, const struct exp_counter_desc *c, size_t n);
/* An event: kind "sample", "exit", "pause", "resume", … `attrs` is ready XML or NULL. */
void expwriter_event(struct expwriter *w, const char *kind, uint64_t time_ns, const char *attrs);
/*
 * Something to tell the reader: kind "comment", "cwarn" or "cerror". Small ids
 * are gprofng's, which shows its own text for them: ours begin at EXP_MSG_OURS.
 */
enum { EXP_MSG_OURS = 1000 };
void expwriter_message(struct expwriter *w, const char *kind, int id, uint64_t time_ns,
		       const char *text);
void expwriter_exit(struct expwriter *w, uint64_t time_ns);

/* --- map.xml and kallmodsyms --- */

struct exp_segment {
	uint64_t time_ns, vaddr, size, foffset;
	unsigned modes; /* R1 W2 X4, shared 8 */
	const char *name;
	bool *written; /* set when it is: something recorded lies in it; NULL: nobody asks */
};

/* Before the stacks that lie in it; on disk once a stack does (expwriter_map.c). */
void expwriter_segment(struct expwriter *w, const struct exp_segment *s);
void expwriter_unmap(struct expwriter *w, uint64_t time_ns, uint64_t vaddr);
/* A function that no file has: a pseudo frame, generated code. */
void expwriter_function(struct expwriter *w, uint64_t time_ns, uint64_t vaddr, uint64_t size,
			const char *name);
/*
 * A kernel symbol of type t. The first one also declares the load object
 * LinuxKernel. Dots become '·' as the format needs; module NULL is vmlinux. False: it
 * was written before.
 */
bool expwriter_ksym(struct expwriter *w, uint64_t addr, uint64_t size, const char *name,
		    const char *module);

/* --- packets --- */

/*
 * A call stack: uid (not 0, unique in the experiment; clock packets have 32 bits for it), pcs
 * leaf first. Longer
 * than a packet can hold (8,187 frames): cut and marked truncated. Callers that
 * several stacks have in common are written once.
 */
void expwriter_stack(struct expwriter *w, uint64_t uid, const uint64_t *pcs, size_t npcs);
/* Free what is known of callers: they are written again, which harms nothing. */
void expwriter_forget(struct expwriter *w);

/*
 * A packet of any kind from the values of its fields, in the order of its
 * packet_desc; `string` is the value of the STRING field, if it has one.
 */
void expwriter_packet(struct expwriter *w, enum er_packet kind, const int64_t *values,
		      const char *string);

/* What a clock packet of a time off a CPU says besides: the fields behind SEQ in packet.c. */
struct wait_info {
	enum er_reason reason;
	int32_t syscall;      /* number, -1 none; on disk it is 1 more */
	uint32_t flags;       /* enum er_wflag */
	uint64_t length_ns;   /* of this part of the wait: blocked, or for a CPU */
	uint64_t object;      /* lock or fault address, 0 none */
	/* WAIT_CPU: who had the CPU; USER_LOCK: who held the lock; 0 unknown. */
	uint32_t holder, holder_pid;
	uint32_t waker, waker_pid; /* 0 unknown */
	uint32_t waker_stack; /* uid, in the experiment of the waker's process; 0 none */
};

struct clock_packet {
	int64_t lwp, thread;
	uint32_t cpu;
	uint64_t time_ns;
	uint32_t stack; /* uid */
	enum er_mstate state;
	uint32_t nticks;  /* above 2^31-1 it is written as several packets */
	uint32_t seq;     /* number of the ring record on its CPU: field SEQ, ours */
	const struct wait_info *wait; /* NULL: on a CPU, or nothing is known */
};

void expwriter_clock(struct expwriter *w, const struct clock_packet *p);

/* Append to `overview` and write the sample event that belongs to it. */
void expwriter_sample(struct expwriter *w, const struct exp_usage *u, const char *label);

/* --- files of ours, which other readers ignore --- */

/* Append a line (ended here by a newline) to a text file of the experiment, such as "notes". */
void expwriter_text(struct expwriter *w, const char *file, const char *line);
/* Replace a small file as a whole, atomically. 0 or -errno. */
int expwriter_replace(struct expwriter *w, const char *file, const char *text);

#endif
