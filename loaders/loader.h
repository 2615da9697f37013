/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A loader turns one BPF skeleton into a running collector: a row of verbs.
 * capture.c owns the rings and the list of loaders; a new kind of data is a new
 * loader and a row in that list.
 */
#ifndef LOADERS_LOADER_H
#define LOADERS_LOADER_H

#include <stdint.h>

#include "loaders/capture.h"

struct buf;
struct diag;
struct rings;

/*
 * Each returns 0, or -errno after a report; what open() reports is said only
 * when no required feature is missing. After start() no verb needs a capability but follow_cpus.
 */
struct loader {
	/* Does the plan ask for it? The other verbs of one that is not wanted are not called. */
	bool (*wanted)(const struct capture_plan *plan);
	/* Open, set the knobs, load; *self is what the other verbs are given. */
	int (*open)(const struct capture_plan *plan, const struct rings *rings, struct diag *d,
		    void **self);
	/* Attach and begin. Time counts from start_ns on. */
	int (*start)(void *self, uint64_t start_ns, struct diag *d);
	/* Detach. Records that come of stopping are appended to `last`, each whole. */
	int (*stop)(void *self, uint64_t stop_ns, struct buf *last, struct diag *d);
	void (*close)(void *self); /* NULL: nothing */
	/* Records that found no room in the rings; how many. */
	int (*drain)(void *self, capture_fn fn, void *ctx);
	/* What capture.h says of them; NULL: does not apply. */
	void (*set_shedding)(void *self, enum capture_shedding level);
	void (*set_distance)(void *self, uint64_t ns);
	bool (*cpus_changed)(const void *self);
	void (*follow_cpus)(void *self, void (*fn)(void *ctx, int cpu, int err), void *ctx);
	enum stack_method (*stack_method)(const void *self);
	void (*counted)(const void *self, size_t counter, struct capture_counted *ret);
	void (*calls)(const void *self, struct er_calls *ret);
	void (*counter_records)(const void *self, int cpu, uint64_t *produced, uint64_t *lost);
};

extern const struct loader profile_loader;
extern const struct loader counter_loader;

#endif
