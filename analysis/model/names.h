/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of processes and threads, from processes.xml, names.xml and threads.xml (in older
 * recordings also recorder.xml). A thread may be renamed. A packet has the name that
 * was valid at its time; rows of lists show the last name. Segments are one recording, also if they are compared:
 * a name in one of them counts in the later ones, too.
 */
#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

#include "analysis/base/map.h"
#include "analysis/model/folded.h"
#include "analysis/model/session.h"

struct buf;

struct dated_name {
	uint64_t key;   /* recording's id << 32 | tid or pid */
	int64_t at_ns;  /* since the recording's start */
	uint32_t order; /* of names with one time the last is valid */
	int32_t pid;    /* of a thread: its process; 0: a kernel thread */
	uint32_t serial; /* of a process */
	int64_t start;  /* of the process; 0: unknown */
	const char *name;
};

/* Sorted by key, then by time. */
struct dated_names {
	VEC(struct dated_name) all;
	struct map first; /* key, to index of its first name in `all` */
};

struct names {
	struct dated_names threads;  /* valid from at_ns on; a reused tid may be another thread's */
	struct dated_names processes_at; /* by pid: which process had it; only pids that came again */
	struct dated_names programs; /* of followed processes; valid from at_ns on */
	struct dated_names subs; /* the same without processes.xml; valid until at_ns */
	struct map processes; /* recording's id << 32 | pid, to const char *: main thread's last name */
	struct map cgroups;   /* recording's id << 32 | tid, to const char *: path */
	struct folded_threads folded;   /* of threads that the recorder folded */
	struct dated_names cgroups_at; /* by tid; only tids that had several */
};

/* What threads with the same names have in common. A name is NULL if unknown. */
struct thread_kind {
	const char *process, *comm;
	int64_t tid;
};

void names_free(struct names *n);
/* A thread's last name; NULL: unknown. */
const char *names_thread(const struct names *n, const struct experiment *e, int64_t tid);
/* Whether it had another name before. */
bool names_renamed(const struct names *n, const struct experiment *e, int64_t tid);
/* A thread's name at a time, in nanoseconds since the origin's start; NULL: unknown. */
const char *names_thread_at(const struct names *n, const struct experiment *e, int64_t tid,
			    int64_t time_ns);
const char *names_process(const struct names *n, const struct experiment *e, int64_t pid);
const char *names_process_at(const struct names *n, const struct experiment *e, int64_t pid,
			     int64_t time_ns);

/*
 * The kernel may give a PID to another process. The serial says which of the processes that had
 * the PID one after the other, 1, 2, …, had it at a time, in nanoseconds since the origin's
 * start. 0: only one process had it, as far as is known.
 */
unsigned names_serial_at(const struct names *n, const struct experiment *e, int64_t pid,
			 int64_t time_ns);
/*
 * Append a thread's names and ids: "app, PID 12, TID 13 (worker)", "app, PID 12",
 * "kworker/0:1, kernel thread 5". It is a kernel thread if pid is 0, or if pid equals
 * tid and the thread is known as one. A serial that is not 0 chooses the process, and is
 * appended: "app, PID 12, serial 2".
 */
void names_put_thread(const struct names *n, const struct experiment *e, int64_t pid,
		      unsigned serial, int64_t tid, struct buf *b);
void names_put_process(const struct names *n, const struct experiment *e, int64_t pid,
		       unsigned serial, int64_t tid, struct buf *b);
/* The names of a thread's process and of the thread itself, at a time. */
struct thread_kind names_kind(const struct names *n, const struct experiment *e, int64_t pid,
			      int64_t tid, int64_t time_ns);
/*
 * The first time after time_ns at which names_kind may return another name, in nanoseconds since the origin's start;
 * INT64_MAX: none.
 */
int64_t names_next_change(const struct names *n, const struct experiment *e, int64_t pid, int64_t tid,
			  int64_t time_ns);
/*
 * An answer of names_kind, kept for those who ask for each packet of a thread. Times mostly ascend, and few threads are
 * renamed. Zeroed: nothing was asked.
 */
struct kind_memo {
	const struct experiment *e;
	int64_t pid, tid, from, until; /* the answer is valid from `from` until before `until` */
	struct thread_kind kind;
};
/* Whether the answer is valid for this thread at this time. */
bool kind_memo_holds(const struct kind_memo *m, const struct experiment *e, int64_t pid, int64_t tid, int64_t time_ns);
void kind_memo_ask(struct kind_memo *m, const struct names *n, const struct experiment *e, int64_t pid, int64_t tid,
		   int64_t time_ns);
/* Append names without ids: "app", "app (worker)". */
void names_put_kind(const struct thread_kind *k, struct buf *b);

/*
 * The path of the cgroup of the thread that had this tid at a time, in nanoseconds since the
 * origin's start; NULL: unknown.
 */
const char *names_cgroup_at(const struct names *n, const struct experiment *e, int64_t tid,
			    int64_t time_ns);

/* The names in a session's experiments; the session owns them. */
const struct names *session_names(struct session *s);

#endif
