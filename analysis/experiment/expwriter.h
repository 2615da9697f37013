/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes one experiment directory (a founder or a sub-experiment) in format 12.4. Every
 * call appends to a buffer in memory. expwriter_flush writes the buffers to the files
 * as whole records, referenced data first: stacks, maps and kernel symbols before the
 * packets that use them. So the files on disk can be read at any moment. There may be
 * thousands of writers. They share a bounded number of descriptors that stay open
 * between flushes, so all of them must be used by one thread.
 *
 * Times are absolute nanoseconds of CLOCK_MONOTONIC; the writer converts them to the
 * relative stamps of the XML files.
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
	const char *command;      /* argument list, separated by blanks */
	int wordsize;             /* of the process, 32 or 64; the file always says 64 */
	uint64_t start_ns;        /* absolute; event run */
	time_t start_epoch;
	uint64_t sample_period_s; /* 0: none */
};

/*
 * Create directory `name` (mode 0700) below dirfd and write its header. The name must
 * end in ".er". 0, or -errno after reporting; -EEXIST, which is not reported, if the name is taken. On an error
 * nothing is left behind. The caller closes *ret with expwriter_close; dirfd must stay
 * open until then.
 */
int expwriter_create(int dirfd, const char *name, const struct exp_header *h, struct diag *d,
		     struct expwriter **ret);
/*
 * Parts: the sub-experiments of one recording. They differ from each other only in
 * process, maps and packets. Between begin and end, calls of expwriter_clock_profile
 * and the like on the founder announce the packets of all parts. A part has no profile,
 * ksym, sample or text of its own. It uses the founder's kernel symbols, so flush the
 * founder before a part and close it after all parts.
 */
void expwriter_parts_begin(struct expwriter *founder, const struct exp_header *h);
void expwriter_parts_end(struct expwriter *founder);
int expwriter_create_part(struct expwriter *founder, const char *name, const struct exp_header *h,
			  struct diag *d, struct expwriter **ret);
/* Flush and free. Call expwriter_exit before. Returns what expwriter_flush returns. */
int expwriter_close(struct expwriter *w);

/*
 * Write the buffers to disk. 0, or -errno without reporting: -ENOSPC, -EDQUOT, …;
 * -ESTALE or -ENOENT if another process changed or removed the files. A record is on
 * disk whole or not at all: a short write is undone. After an error all data given to
 * the writer is dropped.
 */
int expwriter_flush(struct expwriter *w);
/* Whether an error says that the disk is full, or the user's quota. */
bool expwriter_is_full(int err);
/*
 * Have fn called when the disk is full, or the user's quota, while this founder or a part of it is
 * written. fn returns true if it has freed space. Then the write is tried again, and fn may be called
 * again. fn must not use a writer. NULL: a full disk is an error at once.
 */
void expwriter_on_full(struct expwriter *founder, bool (*fn)(void *ctx), void *ctx);
/*
 * Close the files of all writers that were not written since the last call. They are opened again when
 * they are written, so that a long recording of many programs keeps few files open.
 */
void expwriter_close_idle(void);
/* Bytes in buffers, and bytes on disk. */
size_t expwriter_pending(const struct expwriter *w);
uint64_t expwriter_bytes(const struct expwriter *w);
/*
 * The descriptor of the directory, borrowed, or -errno. Other modules put files there
 * (archives, sub-experiments). The first call opens it; it stays open until the writer
 * is closed.
 */
int expwriter_dirfd(struct expwriter *w);
const char *expwriter_name(const struct expwriter *w);

/* --- log.xml --- */

/*
 * Announce a kind of packets, once; `attrs` is ready XML for its <profile>, or NULL. If
 * a file has two kinds, announce both.
 */
void expwriter_profile(struct expwriter *w, enum er_packet kind, const char *attrs);
/*
 * Announce clock packets, each with a weight of NTICK × ptimer_us microseconds. struct
 * wait_info is written only with `waits`.
 */
void expwriter_clock_profile(struct expwriter *w, unsigned ptimer_us, enum er_stateset states,
			     bool waits);

/* A counter; its packets have `tag` in field HWCTAG. */
struct exp_counter_desc {
	int tag;
	const char *name;     /* name in metric lists */
	const char *int_name; /* what was counted */
	const char *label;
	int64_t interval;
	bool cycles;          /* counts are clock ticks, which readers may show as a time */
	bool data;            /* its packets have addresses of data: their kind is MHWC */
};

/*
 * Announce packets that count, and all that they count, once: counters (kind HWC; also MHWC if one has
 * `data`) or probes (PROBE, interval 0). Does nothing if there are none.
 */
void expwriter_counter_profile(struct expwriter *w, enum er_packet kind, const struct exp_counter_desc *c,
			       size_t n);
/* Write an event: kind "sample", "exit", "pause", "resume", …; `attrs` is ready XML or NULL. */
void expwriter_event(struct expwriter *w, const char *kind, uint64_t time_ns, const char *attrs);
/*
 * Write a message for the reader of the report: kind "comment", "cwarn" or "cerror".
 * For ids of its own, which are small, gprofng shows its own text: ours begin at
 * EXP_MSG_OURS.
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
	bool *written; /* set when the segment is written, as a stack has a pc in it; may be NULL */
};

/*
 * Add a segment, before the stacks with pcs in it. It is written when a stack has one
 * (exceptions: expwriter_map.c).
 */
void expwriter_segment(struct expwriter *w, const struct exp_segment *s);
void expwriter_unmap(struct expwriter *w, uint64_t time_ns, uint64_t vaddr);
/* Add a function that is in no file: a pseudo frame, or generated code. */
void expwriter_function(struct expwriter *w, uint64_t time_ns, uint64_t vaddr, uint64_t size,
			const char *name);
/* From this offset of a function on, its code has this line. */
struct exp_line {
	uint32_t offset, line;
};

/* A function that is in no file. All that is 0 or NULL is unknown. */
struct exp_code {
	uint64_t time_ns, vaddr, size;
	const char *name;
	const char *alias;            /* another name for it */
	const char *language;         /* an interpreter runs it: its size and offsets are not bytes of machine code */
	const char *source;           /* the path of its source; NULL: unknown */
	const struct exp_line *lines; /* in order of offsets */
	size_t nlines;
	const void *code;
	size_t ncode;
};

/* Add such a function, with its lines and code (file dyntext). */
void expwriter_dynamic(struct expwriter *w, const struct exp_code *c);
/*
 * From which methods generated code comes (file dynscopes). The data is as docs/format.md says: of a
 * method with this id, and of a function that was added with this time and address.
 */
void expwriter_method(struct expwriter *w, uint64_t id, const void *data, size_t n);
void expwriter_scopes(struct expwriter *w, uint64_t time_ns, uint64_t vaddr, const void *data, size_t n);
/*
 * Add a kernel symbol of type t. The first one also declares the load object
 * LinuxKernel. Dots become '·', as the format requires; module NULL means vmlinux.
 * False: the address was added before.
 */
bool expwriter_ksym(struct expwriter *w, uint64_t addr, uint64_t size, const char *name,
		    const char *module);

/* --- packets --- */

/*
 * Add a call stack: pcs leaf first; uid not 0 and unique in the experiment (32 bits if
 * clock packets use it). A stack longer than a packet (8,187 frames) is cut and marked
 * truncated. Callers that several stacks share are written once.
 */
void expwriter_stack(struct expwriter *w, uint64_t uid, const uint64_t *pcs, size_t npcs);
/* Forget which callers were written, to free memory. They are written again if they recur. */
void expwriter_forget(struct expwriter *w);

/*
 * Write a packet of any kind. `values` has one value for each field of its packet_desc,
 * in order; `string` is the value of the STRING field, or NULL.
 */
void expwriter_packet(struct expwriter *w, enum er_packet kind, const int64_t *values,
		      const char *string);

/* What a clock packet says about time off a CPU: the fields after SEQ in packet.c. */
struct wait_info {
	enum er_reason reason;
	int32_t syscall;      /* number, -1 none; the file has number + 1 */
	uint32_t flags;       /* enum er_wflag */
	uint64_t length_ns;   /* this part of the wait: blocked, or waiting for a CPU */
	uint64_t object;      /* lock or fault address, 0 none */
	/*
	 * WAIT_CPU: the thread that had the CPU. USER_LOCK: the thread that held the lock. 0:
	 * unknown.
	 */
	uint32_t holder, holder_pid;
	uint32_t waker, waker_pid; /* 0 unknown */
	uint32_t waker_stack; /* uid in the experiment of the waker's process; 0 none */
};

struct clock_packet {
	int64_t lwp, thread;
	uint32_t cpu;
	uint64_t time_ns;
	uint32_t stack; /* uid */
	enum er_mstate state;
	uint32_t nticks;  /* more than 2^31-1 become several packets */
	uint32_t seq;     /* number of the ring record on its CPU: our field SEQ */
	const struct wait_info *wait; /* NULL: on a CPU, or nothing is known */
	uint64_t goroutine; /* number of Go's goroutine; 0: none, or not known */
};

void expwriter_clock(struct expwriter *w, const struct clock_packet *p);

/* Append a record to `overview` and write its sample event. */
void expwriter_sample(struct expwriter *w, const struct exp_usage *u, const char *label);

/* --- our own files, which other readers ignore --- */

/*
 * Append a line to a text file of the experiment, such as "notes". Adds the newline. A file whose name
 * ends in ".gz" is compressed.
 */
void expwriter_text(struct expwriter *w, const char *file, const char *line);
/* Replace a small file atomically. 0 or -errno. */
int expwriter_replace(struct expwriter *w, const char *file, const char *text);

#endif
