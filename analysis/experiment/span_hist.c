/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/experiment/span.h"

uint64_t span_bucket_low(unsigned bucket)
{
	unsigned octave = bucket >> SPAN_HIST_BITS;
	uint64_t step = bucket & ((1 << SPAN_HIST_BITS) - 1);

	if (bucket < 1 << SPAN_HIST_BITS)
		return bucket;
	if (bucket >= SPAN_BUCKETS)
		return UINT64_MAX;
	return ((1ull << SPAN_HIST_BITS) + step) << (octave - 1);
}

/* The last bucket has no upper bound. Its lower bound is taken instead of a middle. */
static uint64_t middle(unsigned bucket)
{
	uint64_t low = span_bucket_low(bucket);

	return bucket == SPAN_BUCKETS - 1 ? low : low + (span_bucket_low(bucket + 1) - low) / 2;
}

uint64_t span_hist_quantile(const uint64_t counts[SPAN_BUCKETS], double share)
{
	uint64_t total = 0, below = 0, rank;
	unsigned i;

	for (i = 0; i < SPAN_BUCKETS; i++)
		total += counts[i];
	if (!total)
		return 0;
	rank = span_rank(total, share);
	for (i = 0; i < SPAN_BUCKETS - 1; i++) {
		below += counts[i];
		if (below > rank)
			break;
	}
	return middle(i);
}
