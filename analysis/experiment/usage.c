/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/experiment/usage.h"

#include <string.h>

#include "analysis/base/cursor.h"

enum { HEAD = 8, NSEC = 1000000000 };

/* Offset of a member in a record of 8-byte words. Times are {seconds, nanoseconds}. */
struct usage_field {
	uint16_t member, offset;
};

#define AT(m, off) { offsetof(struct exp_usage, m), off }

static const struct usage_field times[] = {
	AT(time_ns, 8),	    AT(create_ns, 24),	AT(real_ns, 56),    AT(user_ns, 72),
	AT(system_ns, 88),  AT(trap_ns, 104),	AT(tfault_ns, 120), AT(dfault_ns, 136),
	AT(kfault_ns, 152), AT(lock_ns, 168),	AT(sleep_ns, 184),  AT(wait_ns, 200),
	AT(stop_ns, 216),
};

static const struct usage_field counts[] = {
	AT(minflt, 328), AT(majflt, 336), AT(nswap, 344),    AT(inblock, 352),
	AT(oublock, 360), AT(msgsnd, 368), AT(msgrcv, 376),  AT(nsignals, 384),
	AT(vctx, 392),	 AT(ictx, 400),	  AT(syscalls, 408), AT(ioch, 416),
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t *member(const struct exp_usage *u, const struct usage_field *f)
{
	return (uint64_t *)((char *)u + f->member);
}

void usage_encode(const struct exp_usage *u, unsigned char rec[USAGE_SIZE])
{
	memset(rec, 0, USAGE_SIZE);
	memcpy(rec + 4, &u->nthreads, 4);
	for (size_t i = 0; i < COUNT(times); i++) {
		uint64_t t = *member(u, &times[i]);
		uint64_t pair[2] = { t / NSEC, t % NSEC };

		memcpy(rec + times[i].offset, pair, sizeof(pair));
	}
	for (size_t i = 0; i < COUNT(counts); i++)
		memcpy(rec + counts[i].offset, member(u, &counts[i]), 8);
}

size_t usage_record_size(int wordsize)
{
	return wordsize == 32 ? HEAD + (USAGE_SIZE - HEAD) / 2 : USAGE_SIZE;
}

static uint64_t word(const unsigned char *rec, size_t offset, int wordsize, bool swap)
{
	struct cursor c = { .swap = swap };

	c.p = rec + (wordsize == 32 ? HEAD + (offset - HEAD) / 2 : offset);
	c.end = c.p + 8;
	return wordsize == 32 ? cursor_u32(&c) : cursor_u64(&c);
}

void usage_decode(const unsigned char *rec, int wordsize, bool swap, struct exp_usage *ret)
{
	struct cursor head = { .p = rec + 4, .end = rec + HEAD, .swap = swap };

	*ret = (struct exp_usage){ .nthreads = cursor_u32(&head) };
	for (size_t i = 0; i < COUNT(times); i++) {
		uint64_t sec = word(rec, times[i].offset, wordsize, swap);
		*member(ret, &times[i]) = sec * NSEC + word(rec, times[i].offset + 8, wordsize, swap);
	}
	for (size_t i = 0; i < COUNT(counts); i++)
		*member(ret, &counts[i]) = word(rec, counts[i].offset, wordsize, swap);
}
