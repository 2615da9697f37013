/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw perf records of several rings, delivered in the order of time. The rings are read one after
 * the other. A process's exec may therefore be read before its fork: the exec from a ring read
 * late, the fork in a ring read too early. So a reader delivers only records that are older than
 * the moment at which it began to read.
 */
#ifndef USER_SPACE_EVENTQUEUE_H
#define USER_SPACE_EVENTQUEUE_H

#include "analysis/base/buf.h"
#include "analysis/base/vec.h"
#include "user/space/sideband.h"

/* A record in `bytes`. */
struct queued_event {
	uint64_t time_ns;
	size_t offset, size;
};

/* All zero is an empty queue. */
struct eventqueue {
	struct buf bytes;
	VEC(struct queued_event) events;
};

void eventqueue_free(struct eventqueue *q);
/*
 * Copy a record that may wrap around the end of its ring: nhead bytes of head, then ntail of
 * tail. Its last eight bytes are its time stamp.
 */
void eventqueue_add(struct eventqueue *q, const char *head, size_t nhead, const char *tail,
		    size_t ntail);
/*
 * Deliver the records up to this time. Records of equal time keep the order of their arrival. Later
 * records stay. Records that sideband_parse refuses are dropped.
 */
void eventqueue_deliver(struct eventqueue *q, uint64_t until_ns, proc_event_fn fn, void *ctx);

#endif
