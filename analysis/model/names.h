/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes and threads are called: from log.xml, recorder.xml and threads.xml. */
#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

#include "analysis/base/map.h"
#include "analysis/model/session.h"

struct buf;

struct names {
	struct map by_thread;  /* founder id << 32 | tid, to const char * */
	struct map by_process; /* founder id << 32 | pid, likewise */
	struct map cgroups;    /* as by_thread: paths */
	struct map kthreads;   /* as by_thread: those that are the kernel's */
};

void names_free(struct names *n);
/* NULL when it is not known. */
const char *names_thread(const struct names *n, const struct experiment *e, int64_t tid);
const char *names_process(const struct names *n, const struct experiment *e, int64_t pid);

/*
 * Append the name with its ids, as lists show it: "app, PID 12, TID 13 (worker)",
 * "app, PID 12", "kworker/0:1, kernel thread 5". pid 0: a kernel thread; so is
 * one whose number is its process's, where threads are known.
 */
void names_put_thread(const struct names *n, const struct experiment *e, int64_t pid, int64_t tid,
		      struct buf *b);
void names_put_process(const struct names *n, const struct experiment *e, int64_t pid, int64_t tid,
		       struct buf *b);
/* Without ids, for what the threads of one kind have together: "app", "app (worker)". */
void names_put_kind(const struct names *n, const struct experiment *e, int64_t pid, int64_t tid,
		    struct buf *b);

/* The path of its cgroup, or NULL. */
const char *names_cgroup(const struct names *n, const struct experiment *e, int64_t tid);

/* Those of a session, kept by it. */
const struct names *session_names(struct session *s);

#endif
