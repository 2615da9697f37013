/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns ring records into packets: finds the experiment, stack and weight of each. */
#ifndef USER_RECORD_DRAIN_H
#define USER_RECORD_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/record/recording.h"
#include "user/record/follow.h"
#include "loaders/capture.h"
#include "user/preload/heap_ring.h"
#include "user/space/procmap.h"

struct buf;
struct drain;
struct exp_usage;
struct heap_server;
struct snapshots;
struct table_source;
struct unwind_maps;
struct unwind_worker;

/* Everything here is borrowed and must outlive the drain. */
struct drain_parts {
	struct recording *recording;
	struct binaries *binaries;
	const struct follow *follow;
	struct drops *drops;
	struct unwind_maps *unwind; /* the capture's; NULL: no stack is raw */
	struct unwind_worker *worker; /* reads names of generated code; NULL: there are none */
	struct table_source *tables;  /* for `unwind` */
	pid_t recorder; /* this process; 0: unknown */
	bool cuts;    /* the recording has several segments: drain_cut is used */
	bool each_thread; /* do not fold short-lived threads */
	bool targets; /* -T: time off the CPU is shown as <SLEEPING> and <STALLED> */
	bool program; /* only a program and its descendants are recorded; the founder is the program's */
	bool sampled; /* -H sampled */
	bool sync;    /* also write waits for locks as synchronization packets */
	int ncpus; /* CPU ids are below this */
};

struct drain *drain_new(const struct drain_parts *parts);
/*
 * Sets the procmap, before the first record. It is not in drain_parts because the procmap's hooks
 * need the drain first.
 */
void drain_set_procmap(struct drain *dr, struct procmap *pm);
void drain_free(struct drain *dr);

/* Hooks for the procmap, which keep the sub-experiments up to date. ctx is the struct drain. */
extern const struct procmap_hooks drain_hooks;

/* A capture_fn; ctx is the struct drain. Only copies the record; drain_process does the work. */
void drain_take(void *ctx, int cpu, const void *record, size_t size);
/*
 * True if so many records were taken that the next should stay in the rings. A record that finds
 * no room in its ring is counted as lost.
 */
bool drain_is_behind(const struct drain *dr);
/* True if records of the last batch wait for stacks from the rings: the next batch writes them in any case. */
bool drain_misses_stacks(const struct drain *dr);
/*
 * Turn the records taken so far into packets. The procmap must already know the events that came
 * before them. `last`: no records follow, so a record without its stack is written without it.
 */
void drain_process(struct drain *dr, bool last);
/* May be called while drain_process runs: publishes unwind tables that were built meanwhile. */
void drain_relieve(struct drain *dr);
/*
 * Turn what the rings of heap events had at heap_server_mark into packets; with `last` all of it. The
 * procmap must be up to date.
 */
void drain_heap(struct drain *dr, struct heap_server *heap, bool last);
/*
 * The same for the counts of locks. With `paused` they are read and dropped: what is counted during a
 * pause is in no packet.
 */
void drain_locks(struct drain *dr, struct heap_server *locks, bool paused, bool last);
/* True if stacks were forgotten since the last call: then call capture_resend. */
bool drain_forgot_stacks(struct drain *dr);
/* The time of the oldest stack that is still to be walked, or now_ns. */
uint64_t drain_oldest(const struct drain *dr, uint64_t now_ns);
/*
 * The present segment ends. First take the records of a cut (capture_cut), which ran from begin_ns
 * to end_ns, by drain_take_cut; then take what was in the rings by drain_take. drain_cut writes all
 * records from before the cut, and keeps the others for the next segment. A record is dated by its
 * own thread's moment of the cut. The procmap must be up to date.
 */
void drain_take_cut(void *ctx, int cpu, const void *record, size_t size);
void drain_cut(struct drain *dr, uint64_t begin_ns, uint64_t end_ns);
/* What threads did between usage samples. The drain adds the ends of threads. */
struct snapshots *drain_snapshots(struct drain *dr);
/*
 * The recording goes on in another experiment: forget its outputs, and what of names and counts was
 * written there. Processes, mappings and stacks stay known. Call it after recording_finish.
 */
void drain_restart(struct drain *dr);

struct ring_count {
	__u64 recorded[ER_KIND_COUNT]; /* RESIDUAL counts with CLOCK, as in the ring */
	__u64 folded; /* of those of kind CLOCK: records of which no packet has the number */
};

/*
 * Fill in the time off the CPU, summed over all packets so far. A wait is in the sum once it has
 * ended; after the last batch all time is. With targets this fills in time on the CPU as well,
 * because then only the targets have packets.
 */
void drain_usage(const struct drain *dr, struct exp_usage *u);
const struct ring_count *drain_ring(const struct drain *dr, int cpu);
/* Write the elements of recorder.xml about walks of user stacks: how they ended, table sizes. */
void drain_walks(const struct drain *dr, struct buf *b);
/* How many of the stacks without user frames have got them since (user/record/unread.h). */
uint64_t drain_mended(const struct drain *dr);
/* How many records of the kind were written as packets; RESIDUAL counts with CLOCK. */
uint64_t drain_written(const struct drain *dr, enum er_kind kind);
uint64_t drain_stacks(const struct drain *dr);
/* How many programs with packets followed processes have run, in all segments together. */
size_t drain_nprograms(const struct drain *dr);

#endif
