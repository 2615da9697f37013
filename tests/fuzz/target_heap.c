/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring of heap events that a hostile program has written. The input is a list of slots without
 * their numbers; a byte before each says how far the reader goes, and whether the slot is filled.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/experiment/packet.h"
#include "user/record/heap_slots.h"

enum { BODY = sizeof(struct heap_slot) - sizeof(uint64_t), UNFILLED = 1, READ = 2, LAST = 4, FAR = 8 };

static struct heap_ring *ring;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	ring = calloc(1, HEAP_RING_BYTES);
	return !ring;
}

static void take_stack(void *ctx, const struct heap_process *p, uint64_t id, uint64_t time_ns,
		       const uint64_t *pcs, size_t n, unsigned end)
{
	uint64_t *sum = ctx;

	if (n > HEAP_FRAMES || !id)
		abort();
	for (size_t i = 0; i < n; i++)
		*sum += pcs[i];
}

static void take_event(void *ctx, const struct heap_process *p, const struct heap_record *r)
{
	if (r->kind >= HEAP_SLOT_EVENTS || strnlen(r->comm, sizeof(r->comm)) == sizeof(r->comm))
		abort();
}

static void take_sample(void *ctx, const struct heap_process *p, const struct heap_sample *s)
{
	if (strnlen(s->comm, sizeof(s->comm)) == sizeof(s->comm))
		abort();
}

static void take_lock(void *ctx, const struct heap_process *p, const struct heap_lock *l)
{
	if (strnlen(l->comm, sizeof(l->comm)) == sizeof(l->comm) || l->kind >= ER_LOCK_KINDS || l->n > INT64_MAX)
		abort();
}

static void take_code(void *ctx, const struct heap_process *p, uint64_t time_ns)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heap_reader *reader = heap_reader_new();
	struct heap_process process = { .pid = 1 };
	struct heap_counts counts = { 0 };
	uint64_t sum = 0, head = 0;
	struct heap_sink sink = { .lock = take_lock, .stack = take_stack, .event = take_event, .sample = take_sample,
				  .process = take_sample, .code = take_code, .ctx = &sum };

	for (; size > BODY; data += BODY + 1, size -= BODY + 1) {
		struct heap_slot *s = (struct heap_slot *)((char *)ring + HEAP_SLOTS_AT) + head % HEAP_SLOTS;

		memcpy(&s->kind, data + 1, BODY);
		s->kind %= HEAP_SLOT_LOCK + 2;
		s->number = ++head - (*data & UNFILLED);
		if (*data & READ)
			heap_reader_read(reader, ring, *data & FAR ? sum : head, &process, &sink, *data >> 4,
					 *data & LAST, &counts);
	}
	heap_reader_read(reader, ring, head, &process, &sink, HEAP_SLOTS, true, &counts);
	for (int i = 0; i < 2; i++)
		heap_reader_counts(reader, ring, head, &process, &sink, i, &counts);
	heap_reader_free(reader);
	return 0;
}
