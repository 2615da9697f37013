/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the places in binaries that a SPEC names (spec.h). BINARY is one of these:
 *
 * - a path; if processes are recorded (-T), as they see it: below their root. If the file was
 *   replaced while they run, also the one that they run
 * - PID: the program of a process; PID/path: a file below the root of a process
 * - a name: a program or library that the recorded processes (-T) have mapped, else a program in
 *   $PATH, else a library of the linker's cache. libc and libc.so find libc.so.6.
 *
 * Binaries belong to whoever wrote them: nothing in them is trusted, and each is opened once. Its
 * descriptor is also what the kernel is given, so it cannot be exchanged in between.
 */
#ifndef USER_PROBE_SITES_H
#define USER_PROBE_SITES_H

#include <sys/types.h>

#include "analysis/base/vec.h"
#include "bpf/place.h"
#include "loaders/uprobes.h"
#include "user/probe/spec.h"

struct diag;

enum { PROBE_SITES_MAX = 1000 }; /* of one SPEC */

/* An instruction at which a function ends (ends.h). */
struct probe_end {
	uint64_t offset, vaddr; /* in the file; its address there */
	bool tail;              /* a tail call: nothing is returned yet */
	uint64_t target;        /* of a tail call, if it is known; else 0 */
	bool other;             /* perhaps of another function */
	struct er_place jump;   /* of the target, if the jump may also stay in the function */
	int64_t low[ER_SPAN_PARTS], high[ER_SPAN_PARTS]; /* the function's parts, from this address */
};

typedef VEC(struct probe_end) probe_ends;

struct probe_site {
	struct uprobe_site at; /* where; its descriptor belongs to probe_sites. The cookie is 0 */
	probe_ends ends;       /* breakpoints that take the place of a return probe; else empty */
	const char *binary;    /* its path */
	char *name;            /* function, provider:probe or file:line; C++ names as in the source */
	bool second;           /* of FUNCTION2 or PROBE2 */
	bool switched;         /* the thread may switch its stack inside */
	struct er_place places[ER_PROBE_VALUES]; /* of the spec's values; ER_PLACE_NONE in `second` */
};

/* A function that a wildcard matches, but that cannot be probed. */
struct probe_left {
	char *name;
	const char *why; /* "chosen when the program starts (IFUNC)"; equal texts have one address */
};

struct probe_binary {
	char *path;
	int fd;
	dev_t dev;
	ino_t ino;
};

struct probe_sites {
	VEC(struct probe_site) sites;       /* FUNCTION, LINE, USDT; else empty */
	VEC(struct probe_left) left;        /* FUNCTION with wildcards */
	VEC(struct probe_binary) binaries;
	int syscall;                        /* SYSCALL: its number; else -1 */
	int tracepoint;                     /* TRACEPOINT, SYSCALL: its id for perf_event_open; else -1 */
	struct er_place places[ER_PROBE_VALUES]; /* TRACEPOINT, SYSCALL: of the spec's values */
};

/*
 * Find the sites; of marks see marks.h. `pids` are the recorded processes; n 0: all are. Returns 0, or -1 after one
 * sentence with the remedy. If the SPEC has wildcards notes list what was taken, and what was left out and
 * why. Release *ret with probe_sites_free, after a failure, too.
 */
int probe_sites_find(const struct probe_spec *s, const pid_t *pids, size_t n, struct diag *d,
		     struct probe_sites *ret);
/*
 * Report functions that the kernel refuses, when it was asked. `left`: of the SPEC's functions so many remain. 0 after
 * a note that lists them, if the SPEC has wildcards; else -1 after one sentence with the remedy.
 */
int probe_sites_refused(const struct probe_spec *s, const char *const *names, size_t n, size_t left, struct diag *d);
void probe_sites_free(struct probe_sites *p);

#endif
