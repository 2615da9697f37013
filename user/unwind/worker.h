/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Build unwind tables in a process of its own. It reads files that others chose, so it has
 * nothing that could be taken from it: no capabilities, no user of its own where we are
 * root, no files but the one it is sent, and a handful of system calls. A file that breaks
 * it costs that file's table; a supervisor, which reads none, starts it again.
 *
 * Jobs are answered in the order they were submitted. A file whose table takes longer than
 * UNWIND_JOB_SECONDS is given up. What comes back is bounded here, but not trusted to be
 * right: whoever walks by it checks each number.
 *
 * Start it before anything is opened or mapped that the process should not inherit. Not
 * thread safe.
 */
#ifndef USER_UNWIND_WORKER_H
#define USER_UNWIND_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/unwind/table.h"

enum {
	UNWIND_JOB_SECONDS = 10,
	UNWIND_TABLE_BYTES = 32 << 20, /* the largest table; 400 MB of text */
};

struct diag;
struct unwind_worker;

struct unwind_result {
	uint64_t key; /* of the job */
	/*
	 * 0; or what unwind_table_build returns, -ENODATA and -ENOEXEC among others;
	 * -ECONNRESET: the file broke the worker; -ETIMEDOUT: it took too long; -EBADMSG: the
	 * reply makes no sense; -ESHUTDOWN: the process is gone for good.
	 */
	int err;
	/* The table, when err is 0. Its words are valid until the next call of the module. */
	struct unwind_table table;
};

struct unwind_worker_stats {
	uint64_t built;     /* jobs that gave a table */
	uint64_t without;   /* files without call frame information, or not of x86-64 */
	uint64_t failed;    /* any other error */
	uint64_t broke;     /* of these, files that ended the worker or took too long */
	uint64_t text;      /* bytes of code of the files with a table */
	uint64_t cpu_ns;    /* CPU time of the builds */
};

/* NULL when the process or its sandbox cannot be had, which is reported to d. */
struct unwind_worker *unwind_worker_start(struct diag *d);
/* Ends the process; jobs that wait are dropped. NULL is allowed. */
void unwind_worker_stop(struct unwind_worker *w);

/*
 * Have the table of a file built. `fd` is duplicated; debug_fd is the file's debug file,
 * or -1. 0 or -errno: the worker is gone for good (-ESHUTDOWN), or no descriptor is left.
 */
int unwind_worker_submit(struct unwind_worker *w, uint64_t key, int fd, int debug_fd);
/* The same for a vdso, whose bytes are copied. */
int unwind_worker_submit_bytes(struct unwind_worker *w, uint64_t key, const void *p, size_t n);
/* Readable when unwind_worker_next may have a result; -1: the process is gone for good. */
int unwind_worker_fd(const struct unwind_worker *w);
/* The next result, without waiting; false: none is ready. Call it every second if jobs wait. */
bool unwind_worker_next(struct unwind_worker *w, struct unwind_result *ret);
/* The process that was started. It starts others, its children. 0: it is gone for good. */
pid_t unwind_worker_pid(const struct unwind_worker *w);
/* Jobs that have no result yet. */
size_t unwind_worker_waiting(const struct unwind_worker *w);

struct unwind_worker_stats unwind_worker_stats(const struct unwind_worker *w);

#endif
