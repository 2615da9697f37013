/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spans: named calls of which each has its own times by state. A call that was recorded has a
 * packet (ER_PKT_SPAN) in the experiment of its process. Two files are in the founder:
 *
 *   spans.xml            exact sums of all calls of each name, recorded or not, and their losses
 *   spanstrings.xml.gz   the texts that packets refer to by number
 *
 * What spans.xml counts are whole calls: begun and returned (SPAN_RETURNED) during the recording.
 * All other calls are counted by what happened to them.
 */
#ifndef EXPERIMENT_SPAN_H
#define EXPERIMENT_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/experiment/mstate.h"
#include "analysis/experiment/packet.h"

struct buf;
struct expwriter;

#define SPANS_XML    "spans.xml"
#define SPAN_STRINGS "spanstrings.xml"

/* The number of a name counts from 1. 0 in a packet: unknown. */
enum { SPAN_NAMES_MAX = 1024 };

/*
 * A histogram of durations in ns. Below 2^SPAN_HIST_BITS each value has a bucket. Above, each power
 * of two is divided into 2^SPAN_HIST_BITS buckets of the same width, so a bucket is at most 1/64 =
 * 1.6 % as wide as its lowest value. The last bucket has all values from 2^48 ns (3 days) on.
 */
enum {
	SPAN_HIST_BITS = 6,
	SPAN_HIST_TOP = 48,
	SPAN_BUCKETS = ((SPAN_HIST_TOP - SPAN_HIST_BITS + 1) << SPAN_HIST_BITS) + 1,
};

/* The bucket of a duration. */
static inline unsigned span_bucket(uint64_t ns)
{
	unsigned octave;

	if (ns < 1 << SPAN_HIST_BITS)
		return ns;
	octave = 63 - __builtin_clzll(ns);
	if (octave >= SPAN_HIST_TOP)
		return SPAN_BUCKETS - 1;
	return ((octave - SPAN_HIST_BITS) << SPAN_HIST_BITS) + (ns >> (octave - SPAN_HIST_BITS));
}

/* The lowest duration of a bucket; `bucket` may be SPAN_BUCKETS: the end of the last one. */
uint64_t span_bucket_low(unsigned bucket);
/* The index of a quantile among n sorted values, n > 0: nearest rank. */
static inline uint64_t span_rank(uint64_t n, double share)
{
	double at = share * n;
	uint64_t rank = at;

	rank += at > rank;
	return rank < 1 ? 0 : rank > n ? n - 1 : rank - 1;
}

/*
 * The duration that a share of the calls (0 to 1) does not exceed: nearest rank, the middle of the
 * rank's bucket, so at most 0.8 % from the exact one. 0 if there are no calls.
 */
uint64_t span_hist_quantile(const uint64_t counts[SPAN_BUCKETS], double share);

/* All whole calls of a name, and what is not among them. Times are in ns. */
struct span_row {
	uint32_t number;      /* 1 …: field SPAN of packets */
	const char *name, *spec;
	uint64_t sites;       /* places in the code that were taken */
	uint64_t threshold_ns; /* each call at least as long has a record, unless lost; 0: each call */
	uint64_t count;       /* whole calls; the sums are theirs */
	uint64_t dur_ns, max_ns, run_ns;
	/* By enum er_mstate. USER and SYSTEM are valid with `split`; the others are off the CPU. */
	uint64_t state_ns[MS_COUNT];
	bool split;           /* user and system time were measured exactly */
	uint64_t stolen_ns;   /* part of WAIT_CPU */
	uint64_t waits, minflt, majflt;
	uint64_t unended;     /* their end never came: left, thread's end, exec, open at the end */
	uint64_t nobegin;     /* ends without a begin: calls that had begun before the recording */
	uint64_t noroom;      /* begins that found no room: too deep, or no storage */
	uint64_t lost;        /* records that found no room in a ring */
	/* SPAN_BUCKETS counts that add up to `count`; NULL: not known. */
	const uint64_t *hist;
};

/* Append the row's line of spans.xml. The file is written whole, by expwriter_replace. */
void span_put_row(struct buf *b, const struct span_row *row);
/*
 * Add a text of n bytes to the strings of a founder, before the packets that refer to it. Numbers
 * count from 1; each is given once. A text ends at its first NUL.
 */
void expwriter_span_text(struct expwriter *founder, uint32_t number, const char *text, size_t n);

/* A recorded call. run_ns plus the states off the CPU are dur_ns. */
struct span_packet {
	int64_t lwp, thread; /* as in clock packets */
	uint32_t cpu;
	uint64_t end_ns;     /* absolute */
	uint32_t stack;      /* uid; 0 none */
	uint32_t name;
	uint64_t id, parent; /* unique in the recording; parent 0: none */
	uint64_t dur_ns, run_ns;
	uint64_t state_ns[MS_COUNT]; /* as in struct span_row; USER, SYSTEM with SPAN_SPLIT */
	int64_t stolen_ns;   /* duration less all parts as measured; negative: the parts were cut */
	uint32_t waits, minflt, majflt;
	uint32_t depth;      /* 0: outermost */
	uint32_t flags;      /* enum er_span_flag */
	int64_t args[SPAN_ARGS];
	uint32_t text;       /* number of a text; 0 none */
	uint32_t seq;
};

/* Write a packet. Announce the kind with expwriter_profile(w, ER_PKT_SPAN, NULL). */
void expwriter_span(struct expwriter *w, const struct span_packet *p);

#endif
