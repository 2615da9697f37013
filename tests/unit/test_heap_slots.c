/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader of a ring of heap events, with rings that the library writes, and with hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/experiment/packet.h"
#include "user/record/heap_slots.h"

enum { ALL = HEAP_SLOTS, ROUNDS = 2000 };

struct seen {
	size_t nevents, nstacks;
	struct heap_record last;
	uint64_t id, pcs[HEAP_FRAMES];
	size_t n;
	unsigned end;
	size_t nsamples, nprocesses, ncodes;
	struct heap_sample sample, process;
	size_t nlocks;
	struct heap_lock lock;
};

static void see_stack(void *ctx, const struct heap_process *p, uint64_t id, uint64_t time_ns,
		      const uint64_t *pcs, size_t n, unsigned end)
{
	struct seen *s = ctx;

	assert_true(n <= HEAP_FRAMES);
	s->nstacks++;
	s->id = id;
	s->n = n;
	s->end = end;
	memcpy(s->pcs, pcs, n * sizeof(*pcs));
}

static void see_event(void *ctx, const struct heap_process *p, const struct heap_record *r)
{
	struct seen *s = ctx;

	assert_true(r->kind < HEAP_SLOT_EVENTS);
	assert_true(strnlen(r->comm, sizeof(r->comm)) < sizeof(r->comm));
	s->nevents++;
	s->last = *r;
}

static void see_sample(void *ctx, const struct heap_process *p, const struct heap_sample *k)
{
	struct seen *s = ctx;

	assert_true(strnlen(k->comm, sizeof(k->comm)) < sizeof(k->comm));
	s->nsamples++;
	s->sample = *k;
}

static void see_process(void *ctx, const struct heap_process *p, const struct heap_sample *k)
{
	struct seen *s = ctx;

	s->nprocesses++;
	s->process = *k;
}

static void see_code(void *ctx, const struct heap_process *p, uint64_t time_ns)
{
	struct seen *s = ctx;

	s->ncodes++;
}

static void see_lock(void *ctx, const struct heap_process *p, const struct heap_lock *l)
{
	struct seen *s = ctx;

	assert_true(strnlen(l->comm, sizeof(l->comm)) < sizeof(l->comm));
	assert_true(l->kind > ER_LOCK_UNKNOWN && l->kind < ER_LOCK_KINDS);
	assert_true(l->n && l->n <= INT64_MAX);
	s->nlocks++;
	s->lock = *l;
}

struct fixture {
	struct heap_ring *ring;
	struct heap_reader *reader;
	struct seen seen;
	struct heap_counts counts;
	bool clock; /* the ring of er_clock.so */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->ring = calloc(1, HEAP_RING_BYTES);
	f->reader = heap_reader_new();
	*state = f;
	return !f->ring;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	heap_reader_free(f->reader);
	free(f->ring);
	free(f);
	return 0;
}

static struct heap_slot *slot(struct fixture *f, uint64_t number)
{
	return (struct heap_slot *)((char *)f->ring + HEAP_SLOTS_AT) + number % HEAP_SLOTS;
}

static struct heap_slot *put(struct fixture *f, uint32_t kind, uint32_t tid, uint64_t word0)
{
	struct heap_slot *s = slot(f, f->ring->head);

	*s = (struct heap_slot){ .number = ++f->ring->head, .kind = kind, .tid = tid };
	s->words[0] = word0;
	return s;
}

static bool read_to(struct fixture *f, uint64_t mark, size_t most, bool last)
{
	const struct heap_process p = { .pid = 1 };
	const struct heap_sink heap = { .stack = see_stack, .event = see_event, .ctx = &f->seen };
	const struct heap_sink clock = { .stack = see_stack, .event = see_event, .sample = see_sample,
					 .process = see_process, .code = see_code, .ctx = &f->seen };

	return heap_reader_read(f->reader, f->ring, mark, &p, f->clock ? &clock : &heap, most, last, &f->counts);
}

static void put_stack(struct fixture *f, uint32_t n)
{
	struct heap_slot *s = put(f, HEAP_SLOT_STACK, 7, 99);
	uint32_t at = HEAP_STACK_WORDS;

	s->words[2] = n | 3ULL << 32;
	for (uint32_t i = 0; i < n; i++, at++) {
		if (at == HEAP_WORDS) {
			s = put(f, HEAP_SLOT_FRAMES, 7, 0);
			at = 0;
		}
		s->words[at] = 1000 + i;
	}
}

static void test_stacks_of_all_sizes(void **state)
{
	struct fixture *f = *state;

	for (uint32_t n = 0; n <= HEAP_FRAMES; n++) {
		uint64_t before = f->ring->head;

		put_stack(f, n);
		assert_int_equal(f->ring->head - before, heap_stack_slots(n));
		assert_true(read_to(f, f->ring->head, ALL, false));
		assert_int_equal(f->seen.nstacks, n + 1);
		assert_int_equal(f->seen.n, n);
		assert_int_equal(f->seen.id, 99);
		assert_int_equal(f->seen.end, 3);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(f->seen.pcs[i], 1000 + i);
		assert_int_equal(f->ring->tail, f->ring->head);
	}
	assert_int_equal(f->counts.malformed, 0);
}

/* A stack may be read in parts. */
static void test_stack_in_parts(void **state)
{
	struct fixture *f = *state;

	put_stack(f, 20);
	while (!read_to(f, f->ring->head, 1, false))
		continue;
	assert_int_equal(f->seen.nstacks, 1);
	assert_int_equal(f->seen.pcs[19], 1019);
}

static void test_event(void **state)
{
	struct fixture *f = *state;
	struct heap_slot *s = put(f, HEAP_SLOT_THREAD, 7, 0);

	memset(s->words, 'x', sizeof(s->words)); /* a name without an end */
	s = put(f, HEAP_SLOT_REALLOC, 7, 5);
	memcpy(s->words, (uint64_t[]){ 5, 99, 64, 0x1000, 0x2000, 0 }, sizeof(s->words));
	assert_true(read_to(f, f->ring->head, ALL, false));
	assert_int_equal(f->seen.last.kind, HEAP_SLOT_REALLOC);
	assert_int_equal(f->seen.last.time_ns, 5);
	assert_int_equal(f->seen.last.stack, 99);
	assert_int_equal(f->seen.last.size, 64);
	assert_int_equal(f->seen.last.address, 0x1000);
	assert_int_equal(f->seen.last.old, 0x2000);
	assert_string_equal(f->seen.last.comm, "xxxxxxxxxxxxxxx");
	assert_int_equal(f->counts.events, 1);
}

static void test_clock(void **state)
{
	struct fixture *f = *state;
	struct heap_slot *s;

	f->clock = true;
	memcpy(put(f, HEAP_SLOT_THREAD, 7, 0)->words, "spin", 5);
	s = put(f, HEAP_SLOT_CLOCK, 7, 5);
	memcpy(s->words, (uint64_t[]){ 5, 99, 1000, 20, 3 }, 5 * sizeof(uint64_t));
	put(f, HEAP_SLOT_CODE, 7, 6);
	s = put(f, HEAP_SLOT_PROCESS, 7, 8);
	memcpy(s->words, (uint64_t[]){ 8, 1100, 30 }, 3 * sizeof(uint64_t));
	assert_true(read_to(f, f->ring->head, ALL, false));
	assert_int_equal(f->counts.malformed, 0);
	assert_int_equal(f->seen.nsamples, 1);
	assert_string_equal(f->seen.sample.comm, "spin");
	assert_int_equal(f->seen.sample.tid, 7);
	assert_int_equal(f->seen.sample.time_ns, 5);
	assert_int_equal(f->seen.sample.stack, 99);
	assert_int_equal(f->seen.sample.user_us, 1000);
	assert_int_equal(f->seen.sample.system_us, 20);
	assert_int_equal(f->seen.sample.cpu, 3);
	assert_int_equal(f->seen.ncodes, 1);
	assert_int_equal(f->seen.nprocesses, 1);
	assert_int_equal(f->seen.process.user_us, 1100);
	assert_int_equal(f->seen.process.system_us, 30);
}

/* Heap tracing does not know these slots. */
static void test_clock_in_a_heap(void **state)
{
	struct fixture *f = *state;

	put(f, HEAP_SLOT_CLOCK, 7, 5);
	put(f, HEAP_SLOT_CODE, 7, 6);
	put(f, HEAP_SLOT_PROCESS, 7, 8);
	assert_true(read_to(f, f->ring->head, ALL, false));
	assert_int_equal(f->counts.malformed, 3);
}

/* A thread took a slot and was killed, or has not filled it yet. */
static void test_unfilled_slot(void **state)
{
	struct fixture *f = *state;

	put(f, HEAP_SLOT_FREE, 7, 1);
	f->ring->head++;
	put(f, HEAP_SLOT_FREE, 7, 3);
	assert_false(read_to(f, f->ring->head, ALL, false));
	assert_int_equal(f->seen.nevents, 1);
	assert_int_equal(f->ring->tail, 1);
	assert_true(read_to(f, f->ring->head, ALL, true));
	assert_int_equal(f->seen.nevents, 2);
	assert_int_equal(f->counts.lost, 1);
}

/* Slots of the round before are not read again. */
static void test_many_rounds(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3 * HEAP_SLOTS + 5; i++) {
		put(f, HEAP_SLOT_MALLOC, 7, i);
		if (i % 1000 == 0)
			assert_true(read_to(f, f->ring->head, ALL, false));
	}
	assert_true(read_to(f, f->ring->head, ALL, true));
	assert_int_equal(f->seen.nevents, 3 * HEAP_SLOTS + 5);
	assert_int_equal(f->counts.lost, 0);
	assert_int_equal(f->counts.malformed, 0);
}

static void test_hostile_heads(void **state)
{
	static const uint64_t heads[] = { UINT64_MAX, 1ULL << 63, 1ULL << 40, HEAP_SLOTS + 1 };
	struct fixture *f = *state;

	put(f, HEAP_SLOT_FREE, 7, 1);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		read_to(f, heads[i], ALL, false);
	assert_int_equal(f->counts.malformed, 3);
	assert_true(read_to(f, 0, ALL, true)); /* behind the reader */
	assert_int_equal(f->seen.nevents, 1);
	assert_true(f->counts.lost <= HEAP_SLOTS);
}

static void test_hostile_slots(void **state)
{
	struct fixture *f = *state;

	put(f, HEAP_SLOT_STACK, 7, 99)->words[2] = HEAP_FRAMES + 1;
	put(f, HEAP_SLOT_STACK, 7, 99)->words[2] = UINT32_MAX;
	put(f, HEAP_SLOT_FRAMES, 7, 1);
	put(f, HEAP_SLOT_EVENTS, 7, 1);
	put(f, UINT32_MAX, 7, 1);
	assert_true(read_to(f, f->ring->head, ALL, false));
	assert_int_equal(f->counts.malformed, 5);
	/* A stack that another thread's slot cuts short is not handed on. */
	put(f, HEAP_SLOT_STACK, 7, 99)->words[2] = 20;
	put(f, HEAP_SLOT_FRAMES, 8, 1);
	put(f, HEAP_SLOT_FREE, 7, 1);
	put(f, HEAP_SLOT_FRAMES, 7, 1);
	assert_true(read_to(f, f->ring->head, ALL, false));
	assert_int_equal(f->counts.malformed, 8);
	assert_int_equal(f->seen.nstacks, 0);
	assert_int_equal(f->seen.nevents, 1);
}

static void read_counts(struct fixture *f, uint64_t mark, uint64_t now_ns)
{
	heap_reader_counts(f->reader, f->ring, mark, &(struct heap_process){ .pid = 1 },
			   &(struct heap_sink){ .lock = see_lock, .ctx = &f->seen }, now_ns, &f->counts);
}

static struct heap_slot *put_lock(struct fixture *f, uint64_t kind, uint64_t count)
{
	struct heap_slot *s = put(f, HEAP_SLOT_LOCK, 7, 50);

	s->words[COUNT_LOCK] = 0x1000;
	s->words[COUNT_CALLER] = 0x2000;
	s->words[COUNT_KIND] = kind;
	s->words[COUNT_TIMES] = count;
	return s;
}

/* Each reading hands on what was added since the one before. */
static void test_locks(void **state)
{
	struct fixture *f = *state;
	struct heap_slot *s;

	memcpy(put(f, HEAP_SLOT_THREAD, 7, 0)->words, "spin", 5);
	s = put_lock(f, ER_LOCK_MUTEX, 3);
	read_counts(f, f->ring->head, 100);
	assert_int_equal(f->seen.nlocks, 1);
	assert_int_equal(f->seen.lock.n, 3);
	assert_int_equal(f->seen.lock.began_ns, 50);
	assert_int_equal(f->seen.lock.object, 0x1000);
	assert_int_equal(f->seen.lock.caller, 0x2000);
	assert_int_equal(f->seen.lock.kind, ER_LOCK_MUTEX);
	assert_int_equal(f->seen.lock.tid, 7);
	assert_string_equal(f->seen.lock.comm, "spin");
	read_counts(f, f->ring->head, 200);
	assert_int_equal(f->seen.nlocks, 1);
	s->words[COUNT_TIMES] = 10;
	read_counts(f, f->ring->head, 300);
	assert_int_equal(f->seen.nlocks, 2);
	assert_int_equal(f->seen.lock.n, 7);
	assert_int_equal(f->seen.lock.began_ns, 200);
	assert_int_equal(f->counts.malformed, 0);
}

static void test_hostile_locks(void **state)
{
	struct fixture *f = *state;
	struct heap_slot *s = put_lock(f, ER_LOCK_JOIN, 9);

	put_lock(f, ER_LOCK_UNKNOWN, 1);
	put_lock(f, ER_LOCK_KINDS, 1);
	put_lock(f, ER_LOCK_MUTEX, UINT64_MAX);
	put(f, HEAP_SLOT_MALLOC, 7, 1);
	put_lock(f, ER_LOCK_MUTEX, 1)->number = 99; /* not filled */
	read_counts(f, UINT64_MAX, 100);
	assert_int_equal(f->seen.nlocks, 1);
	assert_int_equal(f->counts.malformed, 4);
	s->words[COUNT_TIMES] = 4; /* a count that goes back adds nothing, then or later */
	read_counts(f, f->ring->head, 200);
	s->words[COUNT_TIMES] = 10;
	read_counts(f, f->ring->head, 300);
	assert_int_equal(f->seen.nlocks, 2);
	assert_int_equal(f->seen.lock.n, 1);
	assert_int_equal(f->counts.malformed, 4);
}

/* Anything at all: the callbacks check what they get, and a sanitizer the rest. */
static void test_noise(void **state)
{
	struct fixture *f = *state;
	unsigned seed = 1;

	for (int round = 0; round < ROUNDS; round++) {
		f->clock = round % 2;
		for (int i = 0; i < 40; i++) {
			struct heap_slot *s = put(f, rand_r(&seed) % 24, rand_r(&seed) % 2, rand_r(&seed));

			s->number -= rand_r(&seed) % 16 == 0;
			s->words[2] = rand_r(&seed) % 1000 | (uint64_t)rand_r(&seed) << 32;
		}
		f->ring->tail = rand_r(&seed);
		read_to(f, f->ring->head + rand_r(&seed) % 3, rand_r(&seed) % 60, rand_r(&seed) % 2);
		if (round % 100 == 0)
			read_counts(f, f->ring->head, round);
	}
	assert_true(f->seen.nevents > ROUNDS);
	assert_true(f->seen.nsamples > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_stacks_of_all_sizes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stack_in_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_event, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clock, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clock_in_a_heap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unfilled_slot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_rounds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_heads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_slots, setup, teardown),
		cmocka_unit_test_setup_teardown(test_locks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_locks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_noise, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
