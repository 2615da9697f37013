/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/preload/heap_sample.h"

#include <sched.h>
#include <string.h>

#include "user/preload/raw_call.h"

enum {
	KEPT = 1 << 18,       /* blocks; a power of two */
	KEPT_MOST = KEPT / 4 * 3,
};

uint16_t heap_sample_filter[1 << 16];

static uint64_t kept[KEPT]; /* open addressing; 0: free */
static size_t nkept;
static int lock;

static uint64_t hash_of(uint64_t block)
{
	return (block >> 4) * 0x9e3779b97f4a7c15;
}

static void take_lock(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

static void leave_lock(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

bool heap_sample_keep(const void *block)
{
	uint64_t b = (uintptr_t)block, at = hash_of(b) >> 40;
	bool room;

	take_lock();
	room = nkept < KEPT_MOST;
	if (room) {
		while (kept[at % KEPT])
			at++;
		kept[at % KEPT] = b;
		nkept++;
		__atomic_fetch_add(&heap_sample_filter[hash_of(b) >> 48], 1, __ATOMIC_RELAXED);
	}
	leave_lock();
	return room;
}

/* Entries behind a removed one move up, if their search would end at the gap. */
static void close_gap(uint64_t gap)
{
	for (uint64_t at = (gap + 1) % KEPT; kept[at]; at = (at + 1) % KEPT) {
		uint64_t home = (hash_of(kept[at]) >> 40) % KEPT;

		if ((at - home) % KEPT < (at - gap) % KEPT)
			continue;
		kept[gap] = kept[at];
		kept[at] = 0;
		gap = at;
	}
}

bool heap_sample_find(const void *block)
{
	uint64_t b = (uintptr_t)block, at = (hash_of(b) >> 40) % KEPT;
	bool found;

	take_lock();
	while (kept[at] && kept[at] != b)
		at = (at + 1) % KEPT;
	found = kept[at];
	if (found) {
		kept[at] = 0;
		close_gap(at);
		nkept--;
		__atomic_fetch_sub(&heap_sample_filter[hash_of(b) >> 48], 1, __ATOMIC_RELAXED);
	}
	leave_lock();
	return found;
}

/* --- distances --- */

/* xorshift64*; the low bits are the worse ones. */
static uint64_t next_random(struct heap_thread *t)
{
	t->random ^= t->random >> 12;
	t->random ^= t->random << 25;
	t->random ^= t->random >> 27;
	return t->random * 0x2545f4914f6cdd1d;
}

/* The natural logarithm of u > 0, without libm: ln(2) e + 2 atanh((m - 1) / (m + 1)). */
static double logarithm(double u)
{
	uint64_t bits;
	double m, z, sum = 0;
	int e;

	memcpy(&bits, &u, sizeof(bits));
	e = (int)(bits >> 52) - 1023;
	bits = (bits & ((1ULL << 52) - 1)) | 1023ULL << 52;
	memcpy(&m, &bits, sizeof(m));
	if (m > 1.4142135623730951) {
		m /= 2;
		e++;
	}
	z = (m - 1) / (m + 1);
	for (int k = 17; k > 0; k -= 2)
		sum = sum * z * z + 1.0 / k;
	return e * 0.6931471805599453 + 2 * z * sum;
}

/* An exponential distance: -mean ln(u), u uniform in (0, 1]. */
static int64_t next_distance(struct heap_thread *t)
{
	double u = ((next_random(t) >> 11) + 1) * 0x1p-53;

	return -HEAP_SAMPLE_BYTES * logarithm(u);
}

bool heap_sample_passed(struct heap_thread *t, size_t size)
{
	bool fresh = !t->random;

	if (fresh) {
		t->random = (heap_client_now() ^ (uintptr_t)t) * 0x9e3779b97f4a7c15 | 1;
		for (int i = 0; i < 8; i++)
			next_random(t);
		t->distance = next_distance(t) - (int64_t)size;
		if (t->distance >= 0)
			return false;
	}
	/* The distribution has no memory: the distance from the block's end is a new one. */
	t->distance = next_distance(t);
	return true;
}
