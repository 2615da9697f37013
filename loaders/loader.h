/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A loader runs the BPF programs of one skeleton; it is a table of functions. capture.c owns
 * the rings and calls the loaders. A new kind of program is a new loader and a name in the list
 * LOADERS.
 */
#ifndef LOADERS_LOADER_H
#define LOADERS_LOADER_H

#include <stdint.h>

#include "loaders/capture.h"

struct buf;
struct diag;
struct rings;

/*
 * Functions that return int, except drain, return 0, or -errno after a report. A report of open
 * is shown only if no required feature is missing. After start no function needs a capability,
 * except follow_cpus.
 */
struct loader {
	/* Whether the plan needs this loader. If not, only close is called, with NULL. */
	bool (*wanted)(const struct capture_plan *plan);
	/*
	 * Open the skeleton, set its variables, load it. Set breakpoints, which do nothing before the start.
	 * *self is passed to the other functions.
	 */
	int (*open)(const struct capture_plan *plan, struct rings *rings, struct diag *d,
		    void **self);
	/* Attach and start. Time is counted from start_ns. NULL, like the next three: nothing to do. */
	int (*start)(void *self, uint64_t start_ns, struct diag *d);
	/* Like capture_pause and capture_resume; records as from stop. Stop may follow a pause. */
	int (*pause)(void *self, uint64_t *time_ns, struct buf *last, struct diag *d);
	int (*resume)(void *self, uint64_t time_ns, struct diag *d);
	/*
	 * Detach. Records that stopping produces are appended to `last`, each behind a struct
	 * er_last. *stop_ns is the time of the call; a loader that dates records later puts the
	 * time after the last of them there.
	 */
	int (*stop)(void *self, uint64_t *stop_ns, struct buf *last, struct diag *d);
	/* Remove breakpoints, as capture_detach does. NULL: there are none. */
	void (*detach)(void *self);
	/* Like stop, but nothing stops: only what capture_cut promises. NULL: sends nothing. */
	int (*cut)(void *self, struct buf *last, struct diag *d);
	/* Append what capture_snapshot passes on. NULL: nothing. */
	int (*snapshot)(void *self, uint64_t time_ns, bool all, struct buf *snaps, struct diag *d);
	void (*close)(void *self); /* NULL is allowed */
	/* Pass on records that did not fit into the rings. Returns their number. */
	int (*drain)(void *self, capture_fn fn, void *ctx);
	/* Like the functions of capture.h with these names; NULL: does not apply. */
	void (*set_shedding)(void *self, enum capture_shedding level);
	void (*set_distance)(void *self, uint64_t ns);
	void (*resend)(void *self);
	bool (*cpus_changed)(const void *self);
	void (*follow_cpus)(void *self, void (*fn)(void *ctx, int cpu, int err), void *ctx);
	enum stack_method (*stack_method)(const void *self);
	void (*counted)(const void *self, size_t counter, struct capture_counted *ret);
	void (*calls)(const void *self, struct er_calls *ret);
	void (*family)(const void *self, struct capture_family_count *ret);
	void (*probed)(const void *self, size_t probe, struct capture_probed *ret);
	int (*heap_aim)(void *self, pid_t pid, struct diag *d);
	uint64_t (*heap_missed)(const void *self);
	void (*io_counts)(const void *self, struct capture_io *ret);
	void (*span_sums)(const void *self, size_t name, struct er_span_sums *ret,
			  uint64_t hist[ER_SPAN_BUCKETS]);
	void (*span_losses)(const void *self, struct capture_span_losses *ret);
};

/* All loaders, in the order in which they start; they stop in the opposite order. */
#define LOADERS(row) \
	row(family_loader) row(profile_loader) row(counter_loader) row(probe_loader) row(span_loader) \
	row(io_loader) row(heap_loader)

#define LOADER_DECLARATION(name) extern const struct loader name;
LOADERS(LOADER_DECLARATION)

#endif
