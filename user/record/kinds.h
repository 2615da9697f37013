/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of data that are recorded, one row each: how large a ring record of the kind is,
 * what writes it, and how it is counted. The drain, recorder.xml, the live line and the
 * messages at the end go by these rows; a new kind is a row here and a file that writes it
 * (docs/howto-packet.md).
 */
#ifndef USER_RECORD_KINDS_H
#define USER_RECORD_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "analysis/experiment/packet.h"
#include "bpf/er_event.h"
#include "user/record/plan.h"

struct drain;
struct expwriter;

enum {
	KIND_STACKS = ER_OFF_STATES, /* the most that a record refers to */
	KIND_VALUES = 16,            /* fields of a packet that write_event writes, at most */
};

struct data_kind {
	const char *word;         /* what losses in recorder.xml call it */
	const struct ring_desc *ring; /* how it is counted; NULL: with no name of its own */
	enum er_kind counted_as;
	size_t size;              /* of a record, at least */
	/* Whether the rest of the record can be true; NULL: nothing to check. */
	bool (*valid)(const void *record, size_t size);
	/* The ids of the stacks that a record refers to, 0 for none; how many. */
	size_t (*stacks)(const void *record, uint64_t ret[KIND_STACKS]);
	/*
	 * Write the packets of a record. False: a stack of it is not there yet, and nothing was
	 * done; with `last_chance` it does without. NULL: kept as it comes (stacks).
	 */
	bool (*write)(struct drain *dr, const void *record, bool last_chance);
	/* Does the plan ask for it? Then it is shown while recording, even if there is none. */
	bool (*wanted)(const struct plan *plan);
	/*
	 * The packet that write_event writes of a record; EMPTY: another function writes. `values`
	 * fills in the packet's fields after FRINFO, in the order of packet.c; NULL: there are none.
	 */
	enum er_packet packet;
	void (*values)(const void *record, int64_t *ret);
	/*
	 * Describe the kind's packets in log.xml: for the founder, or for all sub-experiments
	 * (`part`). NULL: the description is packet.c's, if there is a packet.
	 */
	void (*announce)(const struct plan *plan, struct expwriter *w, bool part);
};

/* The row of a ring record's kind; NULL: there is none. */
const struct data_kind *data_kind(uint32_t kind);

/* Describe in log.xml the packets of all kinds that the plan asks for. */
void kinds_announce(const struct plan *plan, struct expwriter *w, bool part);

/* What has come of each kind so far, by the kernel's and the drain's counts. */
struct record_counts {
	struct kind_count {
		uint64_t produced, recorded, lost;
		bool wanted;
	} of[ER_KIND_COUNT];
};

#endif
