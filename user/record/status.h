/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The status of a recording so far, for the live line, --ctl status and --status. */
#ifndef USER_RECORD_STATUS_H
#define USER_RECORD_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/record/kinds.h"

struct buf;

/* Of a flight recorder. */
struct status_flight {
	uint64_t wanted_ns;          /* --flight; 0: the recorder is none */
	const char *dumps;           /* where they go: "/dir/stem.N"; borrowed */
	uint64_t covered_ns;         /* that is in memory, without pauses */
	uint64_t bytes, limit;       /* of memory */
	size_t ncrowded;             /* segments that went early because memory was short */
	size_t ndumps, nfailed;
	size_t nignored;             /* times that pressure came in the cooldown or in a pause */
	const char *last;            /* the group of the last dump; NULL: none; borrowed */
};

struct status {
	pid_t pid;              /* of the recorder */
	const char *name;       /* what --pid calls it: the name of its first experiment; borrowed */
	const char *experiment; /* absolute path; NULL: a flight recorder has none; borrowed */
	uint64_t now_ns, elapsed_ns;
	uint64_t paused_ns;     /* part of elapsed_ns; includes the present pause */
	uint64_t bytes;         /* bytes written, without archives */
	uint64_t cpu_ns;        /* CPU time of this process and its BPF programs */
	size_t nprocesses;      /* programs that followed processes have run */
	const char *left_out;   /* what --budget leaves out now, or "nothing" */
	unsigned shedding;      /* the same as a level, enum capture_shedding */
	struct record_counts counts;
	struct status_flight flight;
	bool paused;
};

/* Append "3 samples", the gap, "2 waits", the gap, "0 lost": each kind that is recorded. */
void status_counts(const struct record_counts *n, const char *gap, struct buf *ret);
/* "12.3 MB"; units are powers of 1024, as in options, so 20M comes back as "20 MB". */
void status_bytes(uint64_t bytes, char *ret, unsigned size);
/* Append the status as lines "word:  value". The experiment's path is made printable. */
void status_text(const struct status *s, struct buf *ret);

#endif
