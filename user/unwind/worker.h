/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds unwind tables, and reads names of generated code, in a separate process. It parses files
 * of other users, so it has nothing worth stealing: no capabilities, the user nobody if the recorder is root, no open
 * file except those it is sent, and a handful of system calls. A file that crashes it costs
 * only that file's result: a supervisor process, which parses nothing, starts it again.
 *
 * Results come in the order of the jobs, except that hurried ones go first. A table that takes
 * longer than UNWIND_JOB_SECONDS is given up. The recorder checks the size of results, not their
 * truth: a walk checks each number that it uses.
 *
 * Start it before opening or mapping anything that the process must not inherit. Not thread
 * safe.
 */
#ifndef USER_UNWIND_WORKER_H
#define USER_UNWIND_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/jit/batch.h"
#include "user/unwind/table.h"

enum { UNWIND_JOB_SECONDS = 10 };

struct diag;
struct unwind_worker;

struct unwind_result {
	uint64_t key; /* of the job */
	/*
	 * 0; an error of unwind_table_build such as -ENODATA or -ENOEXEC;
	 * -ECONNRESET: the file crashed the worker; -ETIMEDOUT: it took too long; -EBADMSG: the
	 * reply is inconsistent; -ESHUTDOWN: the process has ended and is not started again.
	 */
	int err;
	/* The table, when err is 0. Its words are valid until the next call of the module. */
	struct unwind_table table;
};

/* Names from a piece of a file. The pointers are valid during the call that gets it. */
struct unwind_names {
	uint64_t key;
	int err;       /* as in struct unwind_result, or of reading */
	size_t used;   /* bytes of the file, unless it is JIT_HOTSPOT; 0: there is nothing more, or no whole line */
	/*
	 * Untrusted, and the process may change them at any time: copy them before you submit
	 * another job, and check the copy (jit_entry_is_sound).
	 */
	const struct jit_entry *entries;
	size_t n;
	const char *names;
	size_t nnames;
	uint64_t cpu_ns; /* of the job */
};

typedef void (*unwind_names_fn)(void *ctx, const struct unwind_names *names);

struct unwind_worker_stats {
	uint64_t built;     /* jobs that gave a table */
	uint64_t without;   /* files without call frame information, or not of x86-64 */
	uint64_t failed;    /* any other error */
	uint64_t broke;     /* of these, files that crashed the worker or took too long */
	uint64_t text;      /* bytes of code of the files with a table */
	uint64_t cpu_ns;    /* CPU time of the builds */
};

/* NULL after a report if the process or its sandbox cannot be created. */
struct unwind_worker *unwind_worker_start(struct diag *d);
/* Ends the process. Waiting jobs are dropped. NULL is allowed. */
void unwind_worker_stop(struct unwind_worker *w);

/*
 * Request the table of a file. `fd` is duplicated; debug_fd is the file's debug file, or -1.
 * Returns 0, or -errno: -ESHUTDOWN if the worker has ended, or an error of duplicating.
 */
int unwind_worker_submit(struct unwind_worker *w, uint64_t key, int fd, int debug_fd);
/* The same for a vdso, whose bytes are copied. */
int unwind_worker_submit_bytes(struct unwind_worker *w, uint64_t key, const void *p, size_t n);
/*
 * Request the names in a file of this format, from the offset on. One job reads a piece of the
 * file; of JIT_HOTSPOT, all of it, and as a hurried job: walks need the answer. unwind_worker_next
 * calls `fn` with the result; fn may submit more jobs. Returns like unwind_worker_submit.
 */
int unwind_worker_submit_names(struct unwind_worker *w, uint64_t key, int fd, enum jit_format format,
			       uint64_t offset);
/* Must be called before the first such job. */
void unwind_worker_on_names(struct unwind_worker *w, unwind_names_fn fn, void *ctx);
/*
 * Do this job before those that are not hurried, and before larger files: a large one takes 50
 * times as long as most. Nothing happens if there is no such job, or if it runs.
 */
void unwind_worker_hurry(struct unwind_worker *w, uint64_t key);
/*
 * A descriptor that polls readable when unwind_worker_next may have a result; -1: the process has
 * ended.
 */
int unwind_worker_fd(const struct unwind_worker *w);
/* The next table, without waiting. False: none is ready. Call it every second while jobs wait. */
bool unwind_worker_next(struct unwind_worker *w, struct unwind_result *ret);
/* The process that was started. Its children build the tables. 0: it has ended. */
pid_t unwind_worker_pid(const struct unwind_worker *w);
/* Jobs that have no result yet. */
size_t unwind_worker_waiting(const struct unwind_worker *w);

struct unwind_worker_stats unwind_worker_stats(const struct unwind_worker *w);

#endif
