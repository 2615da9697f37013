/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of spans that contain an event, as a number, so that the page's filter can tell what
 * happened in slow calls. Few events are in the same calls, but many are in none; equal sets have one
 * number. The page could not find the calls itself, because its times are whole microseconds.
 */
#ifndef EXPORT_PAGE_SPANSETS_H
#define EXPORT_PAGE_SPANSETS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/intern.h"
#include "analysis/base/vec.h"

struct hit;

/* A zeroed struct has no sets. */
struct span_sets {
	struct intern ids;
	VEC(size_t) ends;    /* by set: the end of its calls in `calls` */
	VEC(uint32_t) calls; /* indexes into the session's calls, the one that began last first */
	bool cut;            /* there are too many: later sets are missing */
};

/* The set of the recorded calls that contain a packet, from 1; 0: none. */
uint32_t span_set_of(struct span_sets *s, const struct hit *h);
/* The calls of set i, from 1. Returns their number. */
size_t span_set_calls(const struct span_sets *s, uint32_t i, const uint32_t **ret);
void span_sets_free(struct span_sets *s);

#endif
