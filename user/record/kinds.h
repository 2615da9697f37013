/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of data that are recorded, one row each: the size of a ring record, the function that
 * writes its packets, and how it is counted. The drain, recorder.xml, the live line and the
 * messages at the end use these rows. A new kind is a row here and a file that writes it
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
	KIND_STACKS = ER_OFF_STATES, /* the most stacks that a record refers to */
	KIND_VALUES = 24,            /* the most fields of a packet that write_event writes */
	KIND_ADDRESSES = 2,          /* the most of them that are addresses */
	KIND_TEXT = 2048,            /* bytes of a packet's text, with its NUL */
};

struct data_kind {
	const char *word;         /* its name in recorder.xml's list of losses */
	const struct ring_desc *ring; /* the counts' name; NULL: not counted separately */
	enum er_kind counted_as;
	size_t size;              /* of a record, at least */
	/* Whether the rest of the record is plausible; NULL: nothing to check. */
	bool (*valid)(const void *record, size_t size);
	/* Stores the ids of the stacks that a record refers to (0: none). Returns how many. */
	size_t (*stacks)(const void *record, uint64_t ret[KIND_STACKS]);
	/* Keep a record that others refer to. NULL: `write` writes its packets. */
	void (*keep)(struct drain *dr, const void *record);
	/*
	 * Write the packets of a record. Returns false, and does nothing, if one of its stacks has
	 * not come yet; with `last_chance` it writes without that stack.
	 */
	bool (*write)(struct drain *dr, const void *record, bool last_chance);
	/*
	 * Whether the plan asks for this kind. If so it is shown while recording, even if its count
	 * is 0.
	 */
	bool (*wanted)(const struct plan *plan);
	/*
	 * The packet that write_event writes for a record. EMPTY: another function writes it.
	 * `values` fills in the packet's fields after FRINFO, in the order of packet.c. NULL: there
	 * are none.
	 */
	enum er_packet packet;
	void (*values)(const void *record, int64_t *ret);
	/* Places of values that are addresses in the process, as a pool has them; they end with 0. */
	uint8_t addresses[KIND_ADDRESSES + 1];
	/* The value of the packet's STRING field, written to `ret`. NULL: it has none. */
	void (*text)(const void *record, char ret[KIND_TEXT]);
	/* Its values mean something in one process only: each process needs an experiment of its own. */
	bool own;
	/*
	 * Describe the kind's packets in log.xml: of the founder, or of sub-experiments (`part`).
	 * NULL: use the description in packet.c, if the kind has a packet.
	 */
	void (*announce)(const struct plan *plan, struct expwriter *w, bool part);
};

/* The row of a ring record's kind; NULL: there is none. */
const struct data_kind *data_kind(uint32_t kind);

/* Describe in log.xml the packets of all kinds that the plan asks for. */
void kinds_announce(const struct plan *plan, struct expwriter *w, bool part);

/* The counts of each kind so far, from the kernel and the drain. */
struct record_counts {
	struct kind_count {
		uint64_t produced, recorded, lost;
		bool wanted;
	} of[ER_KIND_COUNT];
};

#endif
