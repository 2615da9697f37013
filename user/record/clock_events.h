/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clock samples of a recorder without privileges. The library er_clock.so in the program writes them
 * (user/preload/clock_calls.c), and the recorder's server reads them (heap_server.h). They become the
 * ring records that BPF sends otherwise, so everything behind the drain is the same. The processes are
 * known from the library, too: one that has begun a program waits until its mappings were read.
 *
 * A thread's samples have its CPU time so far. The weight of a sample is the difference to the
 * thread's last one, and the process's own sum at its end has what is left.
 */
#ifndef USER_RECORD_CLOCK_EVENTS_H
#define USER_RECORD_CLOCK_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/record/heap_server.h"

struct capture;
struct clock_events;
struct drain;
struct procmap;

/* Everything here is borrowed and must outlive the events. */
struct clock_parts {
	struct drain *drain;
	struct capture *capture; /* no_bpf: the records are counted there */
	struct procmap *procmap;
	pid_t load;
	uint64_t start_ns;       /* of the recording */
	bool descend;            /* also record what the load creates */
};

/* It is paused at first. */
struct clock_events *clock_events_new(const struct clock_parts *parts);
void clock_events_free(struct clock_events *ce); /* NULL: nothing */
/* What the server is to tell of processes. */
struct heap_processes clock_events_hooks(struct clock_events *ce);
/* While paused, samples are not recorded; their time is in no later one. */
void clock_events_pause(struct clock_events *ce, bool paused);
/* Hand what the rings had at heap_server_mark to the drain; with `last` all of it. */
void clock_events_take(struct clock_events *ce, struct heap_server *server, bool last);
/* The CPU time in all records so far, in ns. */
uint64_t clock_events_total(const struct clock_events *ce);

#endif
