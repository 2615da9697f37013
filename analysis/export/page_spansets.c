/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_spansets.h"

#include <string.h>

#include "analysis/base/map.h"
#include "analysis/metrics/hit.h"
#include "analysis/model/spans.h"

/* In a damaged recording each event may be in thousands of calls. */
enum { MAX_CALLS_OF_SETS = 1 << 22 };

size_t span_set_calls(const struct span_sets *s, uint32_t i, const uint32_t **ret)
{
	size_t first = i > 1 ? s->ends.data[i - 2] : 0;

	*ret = s->calls.data + first;
	return s->ends.data[i - 1] - first;
}

/* The calls from `from` on: an existing equal set, or a new one. */
static uint32_t set_of(struct span_sets *s, size_t from)
{
	size_t n = s->calls.len - from;
	const uint32_t *calls = &s->calls.data[from], *have;
	uint64_t hash = hash_bytes(calls, n * sizeof(*calls));
	struct intern_probe probe = intern_probe(hash);
	uint32_t set;

	while ((set = intern_next(&s->ids, &probe))) {
		if (span_set_calls(s, set, &have) == n && !memcmp(have, calls, n * sizeof(*calls))) {
			s->calls.len = from;
			return set;
		}
	}
	vec_push(&s->ends, s->calls.len);
	return intern_add(&s->ids, hash) + 1;
}

uint32_t span_set_of(struct span_sets *s, const struct hit *h)
{
	size_t from = s->calls.len;
	const struct span_call *c;
	struct span_walk w;

	if (s->cut)
		return 0;
	hit_spans(h, &w);
	while ((c = span_walk_next(&w)))
		vec_push(&s->calls, c - w.spans->calls.data);
	s->cut = s->calls.len > MAX_CALLS_OF_SETS;
	return s->calls.len > from ? set_of(s, from) : 0;
}

void span_sets_free(struct span_sets *s)
{
	intern_free(&s->ids);
	vec_free(&s->ends);
	vec_free(&s->calls);
}
