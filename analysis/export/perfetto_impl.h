/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the source files of the Perfetto exporter. A trace is a sequence of packets
 * (perfetto.dev, protos/perfetto/trace/). Stacks, frames, functions and files are interned: the
 * first packet that uses one also defines it.
 */
#ifndef EXPORT_PERFETTO_IMPL_H
#define EXPORT_PERFETTO_IMPL_H

#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"

struct experiment;
struct export;
struct outfile;
struct session;
struct timeline;
struct timelines;

/* Field numbers that several source files use. */
enum {
	TRACE_PACKET = 1,
	PACKET_FTRACE = 1, PACKET_PROCESS_TREE = 2, PACKET_CLOCKS = 6, PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10, PACKET_TRACK_EVENT = 11, PACKET_INTERNED = 12,
	PACKET_SEQUENCE_FLAGS = 13, PACKET_SYSTEM_INFO = 45, PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60, PACKET_PERF_SAMPLE = 66,
};

struct perfetto {
	const struct export *x;
	struct session *session;
	struct outfile *out;
	bool begun;                 /* a packet was written */
	struct buf packet, message, inner; /* under construction */
	struct buf interned;        /* definitions for the present packet */
	struct buf text;
	struct map stacks, frames, funcs, objects; /* ids that are defined */
	struct strtab sources;
	VEC(uint32_t) path, path_frames; /* scratch: the present stack */
	VEC(uint64_t) ids;
	uint64_t flow;              /* the last flow id */
	struct map tracks;          /* ids of tracks that are described */
};

/* Field numbers of tracks and of the events on them. */
enum {
	TRACK_UUID = 1, TRACK_NAME = 2, TRACK_THREAD = 4, TRACK_PARENT = 5,
	EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_CATEGORY = 22, EVENT_NAME = 23,
	EVENT_FLOW = 47, EVENT_FLOW_END = 48, EVENT_STACK = 56, EVENT_WEIGHT = 57,
	TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3,
};

/* Printable text; valid until the next call. */
const char *perfetto_text(struct perfetto *p, const char *s);
/* Finish p->packet and write it. `time` is absolute, in nanoseconds; 0: it has no time. */
void perfetto_put(struct perfetto *p, int64_t time);

/* The id of a stack in packets; defines it in p->interned if it is new. (perfetto_stacks.c) */
uint64_t perfetto_stack(struct perfetto *p, uint32_t stack);

/*
 * The id of a thread's track, and of a track under it, `number` of which is not 0. Describe them at
 * their first use. (perfetto_waits.c)
 */
uint64_t perfetto_thread_track(struct perfetto *p, const struct experiment *origin, int64_t pid, int64_t tid);
uint64_t perfetto_track_below(struct perfetto *p, uint64_t thread, unsigned number, const char *name);
/* Begin p->message as an event on a track; add a note of it; write it. `time` is absolute. */
void perfetto_begin_event(struct perfetto *p, unsigned type, uint64_t track);
void perfetto_annotate(struct perfetto *p, const char *name, const char *text);
void perfetto_annotate_number(struct perfetto *p, const char *name, uint64_t value);
void perfetto_put_event(struct perfetto *p, int64_t time);

/* Calls of spans as slices, without their texts. (perfetto_spans.c) */
void perfetto_spans(struct perfetto *p);

/* Waits as slices with their stacks, reasons, holders and wakers. (perfetto_waits.c) */
void perfetto_waits(struct perfetto *p, const struct timelines *tl);

/*
 * Switches and wakings, as the kernel's trace events, of threads all of whose waits were recorded.
 * Returns the number of threads that were left out because they have gaps. (perfetto_sched.c)
 */
size_t perfetto_sched(struct perfetto *p, const struct timelines *tl);

/* The names of a thread and of a process. Never NULL. The caller must make them printable. */
const char *perfetto_thread_name(struct perfetto *p, const struct experiment *origin, int64_t tid);
const char *perfetto_process_name(struct perfetto *p, const struct experiment *origin,
				  int64_t pid, int64_t tid);
/* A thread's process in the trace. A kernel thread counts as a process of its own. */
static inline int64_t perfetto_pid(int64_t pid, int64_t tid)
{
	return pid ? pid : tid;
}

#endif
