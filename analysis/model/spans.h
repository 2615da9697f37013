/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorded calls of spans in a session, in order of threads and time, so that the calls that
 * contain a moment of a thread are found quickly. Names are merged over all recordings.
 *
 * Nesting is not assumed: calls of a thread may overlap in any way.
 */
#ifndef MODEL_SPANS_H
#define MODEL_SPANS_H

#include "analysis/base/map.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/span.h"
#include "analysis/model/session.h"

/* Times are in nanoseconds since the origin's start. A call has begin_ns <= t < end_ns. */
struct span_call {
	int64_t begin_ns, end_ns;
	uint64_t id;
	const unsigned char *packet; /* in the file; its size is in the next field */
	uint16_t size, source;       /* index into sources */
	uint32_t name;    /* index into names */
	uint32_t outer;   /* the last earlier call of the thread that ends later, + 1; 0: none */
	uint32_t rank;    /* among the recorded calls of its name; the longest is 1 */
	uint32_t flags;   /* enum er_span_flag */
	uint8_t percent;  /* of the calls of its name so many percent are shorter: 0 to 99 */
};

/* A stream of span packets. */
struct span_source {
	struct experiment *e;
	const struct exp_stream *stream;
	struct field_ref name, dur, flags, id, time, thread, lwp;
};

/* All calls of a name. */
struct span_name {
	/*
	 * The sums of spans.xml. The number is 0. hist is NULL if it is not known for each
	 * recording that has calls of the name; then the sums mean nothing, either.
	 */
	struct span_row sum;
	uint64_t *hist;
	bool max_unknown; /* sum.max_ns lacks that of a recording: of a segment that is not the first */
	size_t first, n; /* its recorded calls in `ranked` */
	size_t nwhole;   /* how many of them are whole (span_is_whole), */
	size_t nover;    /* and of these: surely recorded (SPAN_OVER) */
};

struct span_thread {
	uint32_t first, n; /* calls of one thread */
};

struct spans {
	VEC(struct span_call) calls; /* by thread; begin, the earliest first; end, the latest first */
	VEC(uint32_t) ranked;        /* indexes into calls, by name; the longest first */
	VEC(struct span_name) names;
	VEC(struct span_source) sources;
	VEC(struct span_thread) threads;
	struct map thread_by_key; /* origin's id << 32 | tid to index into threads */
	struct strtab name_ids;   /* dense, as in names */
};

/* The session's spans; it owns them. Made by the first call, and again if experiments change. */
const struct spans *session_spans(struct session *s);
/* Whether any experiment has packets or sums of spans. */
bool session_has_spans(const struct session *s);
void spans_free(struct spans *sp);

/* Whether the call began and returned during the recording. */
static inline bool span_is_whole(uint32_t flags)
{
	return flags & SPAN_RETURNED && !(flags & (SPAN_OPEN_START | SPAN_OPEN_END));
}

/* Whether each whole call of the name has a record. */
static inline bool span_all_recorded(const struct span_name *n)
{
	return !n->hist || n->nwhole >= n->sum.count;
}

/*
 * The calls that contain a moment of a thread, the one that began last first. A walk ends after so
 * many steps, one or two for each level of nesting: a hostile file could nest millions.
 */
enum { SPAN_WALK_MAX = 4096 };

struct span_walk {
	const struct spans *spans;
	uint32_t at, first; /* the next candidate + 1 */
	uint32_t steps;     /* so far */
	int64_t time_ns;
};

/* Begin a walk: thread by the system's id, time since the origin's start. */
void span_walk_begin(struct span_walk *w, const struct spans *sp, const struct experiment *e,
		     int64_t thread, int64_t time_ns);
/* The next call, or NULL. */
const struct span_call *span_walk_next(struct span_walk *w);

/* The calls of a thread, by the system's id; NULL: none. */
const struct span_thread *span_thread_of(const struct spans *sp, const struct experiment *e, int64_t thread);

/* The call that a packet of a span stream is; NULL: the packet is not among them. */
const struct span_call *span_of_packet(const struct spans *sp, const struct experiment *e,
				       int64_t thread, const struct packet *p);

/* The packet of a call, and an integer field of it by name; 0: no such field. */
struct packet span_packet_of(const struct spans *sp, const struct span_call *c);
int64_t span_int(const struct spans *sp, const struct span_call *c, const char *field);
/* The text of a call; NULL: it has none. */
const char *span_text(const struct spans *sp, const struct span_call *c);
/* The call with this rank of a name; NULL: none. */
const struct span_call *span_ranked(const struct spans *sp, const struct span_name *n, size_t rank);

#endif
