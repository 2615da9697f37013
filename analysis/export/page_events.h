/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of the page: each packet that passes the filter and has a state; and in page_counts.h those that add to
 * other metrics. A recording without clock data has only these. Threads, classes and call paths get numbers. The most
 * frequent classes and paths come first, so that most numbers are small.
 */
#ifndef EXPORT_PAGE_EVENTS_H
#define EXPORT_PAGE_EVENTS_H

#include <stdint.h>

#include "analysis/base/intern.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/mstate.h"
#include "analysis/export/page_counts.h"
#include "analysis/export/page_objects.h"
#include "analysis/export/page_places.h"
#include "analysis/export/page_spansets.h"
#include "analysis/export/page_tree.h"
#include "analysis/views/lockset.h"

struct experiment;
struct export;
struct metric_set;
struct wait_counts;

/* Times are whole microseconds since the origin's start, rounded down. */
struct page_event {
	int64_t end;
	int64_t weight;  /* microseconds that the packet represents; packets have no fractions */
	int64_t length;  /* length of a wait; of a divided one, that of this part */
	uint32_t thread;
	uint32_t path;   /* page_events.paths */
	uint32_t variant; /* of the path's leaf: page_places.h */
	uint32_t event_class;
	uint32_t waker, holder; /* index of the thread + 1; 0: none */
	uint32_t waker_path;    /* + 1; 0: none */
	int32_t cpu;     /* -1: unknown */
	union {
		uint32_t lock;    /* that a wait was for: index in page_events.locks + 1; 0: none */
		uint32_t subject; /* of an event of page_counts.h; 0: none */
	};
	union {
		uint32_t factor; /* of a wait: page_unusual(index in page_events.factors + 1, its thread's) */
		uint32_t heap;   /* of a call for memory in page_counts.h: its number in page_heap.h; 0: none */
		uint32_t sums;   /* of a merged event: index in page_events.sums */
	};
	uint32_t length_ns : 10; /* of a wait: what its length has beyond microseconds */
	uint32_t others : 22; /* of a divided wait: index in page_events.other_parts + 1; 0: it has no other parts */
	uint32_t spans;  /* page_events.span_sets; 0: it is in no call */
	uint32_t objects; /* tuple in page_events.objects; 0: none */
	uint32_t merged; /* events that this one was made from (page_coarse.h); 0: as recorded */
};

/* Of merged events: sums of page_event_squares and _variance. Most pages have none, and millions of events. */
struct merged_sums {
	double squares, variance;
};

/* The properties that many events share. */
struct event_class {
	uint8_t state, reason; /* enum er_mstate, er_reason */
	uint16_t flags;        /* enum er_wflag */
	int32_t syscall;       /* -1: none */
	size_t n;              /* events */
};

struct page_thread {
	const struct experiment *origin; /* hit_origin, of its first event */
	const struct exp_fold *sums; /* hit_sums: these threads share its events; NULL: it is one thread */
	int64_t pid, tid;         /* pid 0: a kernel thread */
	int64_t us[MS_COUNT];     /* time by state */
	size_t n;                 /* number of events; 0: it is only a waker or holder */
	uint32_t factor[MS_COUNT]; /* by state: of its first wait; 0: none */
	int64_t begin, end;       /* its life as recorded, in microseconds; both 0: unknown */
};

/* A distinct call path of events. */
struct page_path {
	uint32_t node;            /* in the tree: the leaf */
	uint32_t stack;           /* one of the session's stacks that have it */
	size_t n;                 /* events and wakers */
	int64_t cpu_us, wait_us;
	bool of_lock;             /* of a wait for a lock, or of a thread that let one go */
};

/* How often events have a stack of the session, and where it is among paths and places. */
struct page_stack {
	uint32_t n, wakers;       /* events; waits whose waker has it */
	int64_t cpu_us, wait_us;
	uint32_t path, variant;
	bool of_lock;             /* as for a path */
};

struct page_events {
	VEC(struct page_event) all; /* by end */
	VEC(struct merged_sums) sums;
	VEC(int64_t) other_parts; /* of divided waits: the length of their other parts in nanoseconds */
	struct page_counts counts;
	VEC(struct event_class) classes;
	VEC(struct page_thread) threads;
	VEC(struct page_path) paths;
	struct page_tree tree;
	struct page_places places;
	struct lock_set locks;
	bool no_counts;                  /* waits are not counted */
	bool filtered;                   /* not all packets of the session are read */
	struct wait_counts *wait_counts; /* NULL: no event is a wait */
	VEC(uint32_t) factors;           /* by which waits count: waitcount.h */
	VEC(uint32_t) factor_of;         /* by number: index into factors + 1; 0: none */
	const struct metric_set *metrics;
	bool has_spans; /* the recordings have spans */
	struct span_sets span_sets;
	struct page_objects objects;
	struct intern thread_ids;
	struct map by_sums; /* hit_sums, to index of the thread */
	struct map class_ids;
	VEC(struct page_stack) stacks; /* of the session, by its numbers */
};

/*
 * Read the events. Returns 0; or -1 after a report that nothing passes the filter, or silently
 * if the user interrupted. Release with page_events_free, also after a failure.
 */
int page_events_read(const struct export *x, struct page_events *ret);
void page_events_free(struct page_events *p);

/* Compares two events for vec_sort: by end, then by thread. */
int page_event_by_end(const void *pa, const void *pb);
/* The square of an event's weight. Standard errors are computed from sums of these. */
double page_event_squares(const struct page_events *p, const struct page_event *ev);
/* The variance of a wait's weight that comes from sampling; as in waitstat.h. 0 for CPU time. */
double page_event_variance(const struct page_events *p, const struct page_event *ev);

/* A code for a number that is often `usual`: 0 none, 1 the usual one, else itself + 1. */
static inline uint32_t page_unusual(uint32_t number, uint32_t usual)
{
	return !number ? 0 : number == usual ? 1 : number + 1;
}

static inline bool class_is_wait(const struct event_class *c)
{
	return !mstate_descs[c->state].on_cpu;
}

#endif
