/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The histogram of durations, and what is written about spans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/experiment.h"
#include "analysis/experiment/span.h"
#include "tests/fixtures/exp_builder.h"
#include "tests/fixtures/tempdir.h"

static void buckets_cover_all_durations(void **state)
{
	for (unsigned i = 0; i < SPAN_BUCKETS; i++) {
		uint64_t low = span_bucket_low(i), high = span_bucket_low(i + 1);

		assert_true(high > low);
		assert_int_equal(span_bucket(low), i);
		assert_int_equal(span_bucket(high - 1), i);
		if (i < SPAN_BUCKETS - 1)
			assert_true(high - low == 1 || (high - low) * 64 <= low);
	}
	assert_int_equal(span_bucket(0), 0);
	assert_int_equal(span_bucket(UINT64_MAX), SPAN_BUCKETS - 1);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Durations from nanoseconds to hours, of which a few are much longer than most. */
static uint64_t duration(unsigned i, unsigned spread)
{
	uint64_t h = hash64(i + 1), base = 1ull << (h % spread);

	return base + (h >> 8) % base;
}

/* The least value that is not below `mille` thousandths of them, without the code that is tested. */
static uint64_t sorted_quantile(const uint64_t *sorted, uint64_t n, uint64_t mille)
{
	uint64_t i = 0;

	while ((i + 1) * 1000 < mille * n)
		i++;
	return sorted[i];
}

static void quantiles_agree_with_sorting(void **state)
{
	static const unsigned milles[] = { 0, 1, 500, 900, 990, 999, 1000 };
	enum { MANY = 20000 };
	uint64_t *all = calloc(MANY, sizeof(*all));

	for (unsigned spread = 1; spread <= 44; spread++) {
		unsigned n = 1 + hash64(spread) % MANY;
		uint64_t counts[SPAN_BUCKETS] = { 0 };

		for (unsigned i = 0; i < n; i++) {
			all[i] = duration(i, spread);
			counts[span_bucket(all[i])]++;
		}
		qsort(all, n, sizeof(*all), by_value);
		for (size_t k = 0; k < sizeof(milles) / sizeof(*milles); k++) {
			double exact = sorted_quantile(all, n, milles[k]);
			double got = span_hist_quantile(counts, milles[k] / 1000.0);

			assert_true(got <= exact * 1.01 && got >= exact * 0.99);
		}
	}
	free(all);
}

static void ranks_are_those_of_sorted_values(void **state)
{
	assert_int_equal(span_rank(1, 0.5), 0);
	assert_int_equal(span_rank(100, 0.99), 98);
	assert_int_equal(span_rank(100, 1), 99);
	assert_int_equal(span_rank(100, 0), 0);
	assert_int_equal(span_rank(3, 0.5), 1);
	assert_int_equal(span_hist_quantile((const uint64_t[SPAN_BUCKETS]){ 0 }, 0.5), 0);
}

/* Each state of a span has a field, and its time goes there. */
static void states_go_to_their_fields(void **state)
{
	char *dir = tempdir_new();
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", dir);
	struct exp_builder *b = exp_builder_new(dir, "t.1.er");
	struct span_packet span = { .thread = 7, .end_ns = BUILDER_START_NS + 5, .name = 3, .id = 9,
				    .parent = 8, .dur_ns = 100, .run_ns = 50, .args = { 1, -2, 3, 4 } };
	struct experiment *e;
	int found = 0;

	for (int i = 0; i < MS_COUNT; i++)
		span.state_ns[i] = 1000 + i;
	expwriter_profile(exp_builder_writer(b), ER_PKT_SPAN, NULL);
	expwriter_span(exp_builder_writer(b), &span);
	exp_builder_close(b);
	e = experiment_open(path, NULL);
	assert_non_null(e);
	vec_for_each(s, &e->streams) {
		struct packet_iter it;
		struct packet p;

		packet_iter_init(&it, e, s);
		while (s->kind == ER_PKT_SPAN && packet_next(&it, &p)) {
			for (int i = 0; i < MS_COUNT; i++) {
				const char *field = mstate_descs[i].span;

				if (field)
					assert_int_equal(packet_int(&p, stream_field(s, field)), 1000 + i);
				found += field != NULL;
			}
			assert_int_equal(packet_int(&p, stream_field(s, "SPANA2")), -2);
			assert_int_equal(packet_int(&p, stream_field(s, "SPANPARENT")), 8);
			assert_int_equal(packet_int(&p, stream_field(s, "TSTAMP")), span.end_ns);
		}
	}
	assert_int_equal(found, STATES_ALL - 1); /* all but TRAP */
	experiment_close(e);
	tempdir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_cover_all_durations),
		cmocka_unit_test(quantiles_agree_with_sorting),
		cmocka_unit_test(ranks_are_those_of_sorted_values),
		cmocka_unit_test(states_go_to_their_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
