/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From ring records to packets: finds each sample's experiment, stack and weight. */
#ifndef USER_RECORD_DRAIN_H
#define USER_RECORD_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/record/recording.h"
#include "user/record/follow.h"
#include "loaders/capture.h"
#include "user/space/procmap.h"

struct buf;
struct drain;
struct exp_usage;
struct unwind_maps;
struct unwind_worker;

/* All of it is borrowed, and must outlive the drain. */
struct drain_parts {
	struct recording *recording;
	struct binaries *binaries;
	const struct follow *follow;
	struct drops *drops;
	struct unwind_maps *unwind; /* of the capture; NULL: no stack is raw */
	struct unwind_worker *worker; /* builds tables; NULL: there are none */
	bool targets; /* -T: times off a CPU are <SLEEPING> and <STALLED> */
	int ncpus; /* CPU ids are below this */
};

struct drain *drain_new(const struct drain_parts *parts);
/* The procmap's hooks need the drain, which needs the procmap: given before the first record. */
void drain_set_procmap(struct drain *dr, struct procmap *pm);
void drain_free(struct drain *dr);

/* The procmap's hooks: they keep the sub-experiments in step. ctx is the struct drain. */
extern const struct procmap_hooks drain_hooks;

/* A capture_fn; ctx is the struct drain. Copies, and leaves the work to drain_process. */
void drain_take(void *ctx, int cpu, const void *record, size_t size);
/*
 * Whether so much was taken that more of it had better stay in the rings, where
 * what finds no room is counted.
 */
bool drain_is_behind(const struct drain *dr);
/*
 * Work off what was taken. The procmap must know by now what happened before
 * these records. `last`: nothing comes after; what waits for its stack waits no longer.
 */
void drain_process(struct drain *dr, bool last);

struct ring_count {
	__u64 recorded[ER_KIND_ALL]; /* RESIDUAL counts with CLOCK, as in the ring */
};

/*
 * Fill in the times off a CPU of all packets so far: of waits when they have
 * ended, and after the last batch of all time there was. With targets those on a
 * CPU, too: the packets are theirs alone.
 */
void drain_usage(const struct drain *dr, struct exp_usage *u);
const struct ring_count *drain_ring(const struct drain *dr, int cpu);
/* How walks of user stacks ended, and what their tables take: elements of recorder.xml. */
void drain_walks(const struct drain *dr, struct buf *b);
uint64_t drain_samples(const struct drain *dr);
uint64_t drain_overflows(const struct drain *dr);
uint64_t drain_waits(const struct drain *dr);
uint64_t drain_stacks(const struct drain *dr);

#endif
