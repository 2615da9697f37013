/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data that the rules use: the CPU time and the waits of each program, and what held it up, by
 * holder, place, lock and cgroup. All of it comes from one pass over the packets that the filter
 * keeps. A program is all processes of one name. Each kernel thread counts as a program. The
 * recorder's own processes are left out.
 */
#ifndef FINDINGS_FACTS_H
#define FINDINGS_FACTS_H

#include "analysis/metrics/holdup.h"
#include "analysis/metrics/timeline.h"
#include "analysis/views/lockset.h"
#include "analysis/views/waitrows.h"

/*
 * The keys of the sums of hold-ups. Each hold-up is in one sum for each thing that is known of it. No rule asks for
 * two of these at once, and the combinations would be as many as the waits.
 */
enum { FACT_HOLDUP, FACT_PROGRAM, FACT_BY, FACT_VALUE, FACT_KEYS = FACT_VALUE };
/* FACT_BY: whether FACT_VALUE is a text's key, a path (waitpath.h), or a lock of facts.locks. */
enum fact_by { BY_HOLDER, BY_PATH, BY_LOCK, BY_CGROUP }; /* BY_LOCK: of waits for locks; BY_CGROUP: for the CPU quota */

/* A wait for a message that a thread ended. There may be millions; members are those of an activity (timeline.h). */
struct message_wait {
	const struct experiment *origin;
	int64_t pid, tid;
	int64_t begin, end, weight;
	uint32_t waker, waker_pid;
	uint32_t waiter, rank; /* for rule_chain.c: index into its waiters; and among the waiter's waits, by time */
};

typedef VEC(struct message_wait) message_waits;

/* If a program has more processes than this, they are not listed. */
enum { PROGRAM_PIDS = 4 };

struct program {
	const char *name;
	bool kernel;       /* a kernel thread */
	int64_t run_ns, wait_ns; /* on a CPU, off a CPU */
	int64_t busy_ns;   /* on a CPU or held up */
	bool cut;          /* the filter removed a part of a thread's packets */
	int64_t pids[PROGRAM_PIDS];
	size_t npids;      /* PROGRAM_PIDS + 1: more than these */
	struct wait_stat held[HOLDUPS];
};

/* The CPU time of one stack. */
struct stack_time {
	int64_t ns;
	double squares; /* sum of the squares of the packets' weights, in ns squared */
};

struct facts {
	struct wait_report w; /* names, paths, and the bag of hold-ups */
	struct wait_groups holdups; /* the bag's sums by their first FACT_KEYS keys */
	struct lock_set locks;
	VEC(struct program) programs; /* program 0: all of them */
	struct map by_name;           /* text key of the name, to index */
	VEC(struct stack_time) stacks; /* by stack */
	double run_squares;
	message_waits messages;
	/*
	 * What each thread did at what time. This includes the packets that the filter removes. If there is a
	 * filter, and no thread waited for a message, it is empty.
	 */
	struct timelines lines;
	VEC(struct fact_thread) threads;
	struct map by_thread;         /* origin's id << 32 | tid, to index */
	int64_t first_ns, last_ns;    /* ends of the first and last packet; first > last: none */
	int64_t duration_ns;          /* between them */
};

/* `t` lends its arena to texts. Free with facts_free. */
void facts_init(struct facts *f, struct view_state *v, struct table *t);
void facts_free(struct facts *f);
/* All programs together. */
const struct program *facts_all(const struct facts *f);
/*
 * What held up a thread in a wait: the result of holdup_of, corrected by the stack and the holder.
 */
enum holdup facts_holdup(struct facts *f, const struct hit *h);
/* Add "12,13" to the buffer; false: the program has too many processes to list. */
bool program_put_pids(const struct program *p, struct buf *b);

#endif
