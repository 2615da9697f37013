/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the loader of bpf/span.bpf.c is told: the places where spans begin and end. */
#ifndef LOADERS_SPANS_H
#define LOADERS_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/er_event.h"
#include "loaders/uprobes.h"

/*
 * A place. A function that ends with its return has two, with the same `at` except `ret`. A system
 * call has two, the begin and behind it the end, without `at`.
 */
struct capture_span {
	struct er_span_site site;
	int syscall;           /* ER_SPAN_CALL: its number */
	bool end;              /* the span ends here */
	uint32_t function;     /* of the name: begin and ends of a function have the same number */
	struct uprobe_site at; /* the loader sets the cookie; of `refused` see capture_spans */
};

struct capture_spans {
	/*
	 * Borrowed. capture_open leaves functions out of which the kernel refuses a place: then all places of the
	 * function are marked, by at.refused.
	 */
	struct capture_span *sites;
	size_t nsites;
	size_t nnames;         /* up to ER_MAX_SPAN_NAMES */
	/*
	 * At most so many records a second on each CPU: a sample of all calls, and before them those
	 * of at least over_ns. 0: a record for each call; over_ns 0: only the sample.
	 */
	uint64_t limit, over_ns;
};

#endif
