/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes and threads are called: from log.xml, names.xml and threads.xml (of older
 * recordings also recorder.xml). A thread may be renamed: packets have the name that it had
 * at their time, rows of lists the last one.
 */
#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

#include "analysis/base/map.h"
#include "analysis/model/session.h"

struct buf;

struct dated_name {
	uint64_t key;   /* founder id << 32 | number of the thread or the process */
	int64_t at_ns;  /* from the start of the founder */
	uint32_t order; /* among those of one time: the last of them holds */
	int32_t pid;    /* of a thread: its process, 0: a kernel thread */
	const char *name;
};

/* Sorted by key, then by time. */
struct dated_names {
	VEC(struct dated_name) all;
	struct map first; /* key, to the first of it in `all` */
};

struct names {
	struct dated_names threads;  /* called so from then on. Numbers come again: perhaps another's */
	struct dated_names programs; /* of followed processes: called so until then */
	struct map processes; /* founder id << 32 | pid, to const char *: the main thread's last name */
	struct map cgroups;   /* founder id << 32 | tid, likewise: paths */
};

/* What the threads of one kind have together; a name is NULL when it is not known. */
struct thread_kind {
	const char *process, *comm;
	int64_t tid;
};

void names_free(struct names *n);
/* The last name; NULL when it is not known. */
const char *names_thread(const struct names *n, const struct experiment *e, int64_t tid);
/* The name at that time, in nanoseconds from the start of the founder. */
const char *names_thread_at(const struct names *n, const struct experiment *e, int64_t tid,
			    int64_t time_ns);
const char *names_process(const struct names *n, const struct experiment *e, int64_t pid);
const char *names_process_at(const struct names *n, const struct experiment *e, int64_t pid,
			     int64_t time_ns);

/*
 * Append the name with its ids, as lists show it: "app, PID 12, TID 13 (worker)",
 * "app, PID 12", "kworker/0:1, kernel thread 5". pid 0: a kernel thread; so is
 * one whose number is its process's, where threads are known.
 */
void names_put_thread(const struct names *n, const struct experiment *e, int64_t pid, int64_t tid,
		      struct buf *b);
void names_put_process(const struct names *n, const struct experiment *e, int64_t pid, int64_t tid,
		       struct buf *b);
/* The kind of a thread by its names at that time. */
struct thread_kind names_kind(const struct names *n, const struct experiment *e, int64_t pid,
			      int64_t tid, int64_t time_ns);
/* Without ids: "app", "app (worker)". */
void names_put_kind(const struct thread_kind *k, struct buf *b);

/* The path of its cgroup, or NULL. */
const char *names_cgroup(const struct names *n, const struct experiment *e, int64_t tid);

/* Those of a session, kept by it. */
const struct names *session_names(struct session *s);

#endif
