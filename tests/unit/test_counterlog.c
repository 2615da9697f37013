/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What log.xml says of counters, and their packets, as the reader takes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/experiment.h"
#include "tests/fixtures/tempdir.h"
#include "tests/unit/expwriter_fixture.h"

/* Close the writer, and open what it wrote. */
static struct experiment *written(struct expwriter *w, const char *dir, struct diag *d)
{
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", dir);
	struct experiment *e;

	expwriter_exit(w, 7000000000);
	assert_int_equal(expwriter_close(w), 0);
	e = experiment_open(path, d);
	assert_non_null(e);
	assert_int_equal(e->diag.nmsgs, 0);
	return e;
}

/* One element for each counter; the packets are described once, after the last. */
static void counters_are_announced(void **state)
{
	const struct exp_counter_desc counters[] = {
		{ .tag = 0, .name = "cycles", .int_name = "c~system=0", .label = "CPU Cycles",
		  .interval = 9999991, .cycles = true },
		{ .tag = 3, .name = "K_x<y>", .int_name = "x", .label = "Kernel X", .interval = 1 },
	};
	const int64_t values[] = { 1, 2, 3, 6000000000, 0, 3, INT64_MAX, UINT32_MAX };
	struct diag d = { 0 };
	int dirfd;
	struct expwriter *w = new_writer(*state, "t.1.er", &dirfd);
	const struct exp_stream *s;
	struct packet_iter it;
	struct experiment *e;
	struct packet p;

	expwriter_counter_profile(w, ER_PKT_HWC, counters, 0);
	expwriter_counter_profile(w, ER_PKT_HWC, counters, 2);
	expwriter_packet(w, ER_PKT_HWC, values, NULL);
	e = written(w, *state, &d);
	assert_int_equal(e->streams.len, 1);
	s = &e->streams.data[0];
	assert_int_equal(s->counters.len, 2);
	assert_int_equal(s->counters.data[0].timecvt, 1);
	assert_string_equal(s->counters.data[1].name, "K_x<y>");
	assert_string_equal(s->counters.data[1].metric, "Kernel X");
	packet_iter_init(&it, e, s);
	assert_true(packet_next(&it, &p));
	assert_true(packet_int(&p, stream_field(s, "HWCINT")) == INT64_MAX);
	assert_int_equal(packet_int(&p, stream_field(s, "HWCTAG")), 3);
	assert_true(packet_int(&p, stream_field(s, "SEQ")) == UINT32_MAX);
	assert_false(packet_next(&it, &p));
	experiment_close(e);
	diag_free(&d);
	close(dirfd);
}

/* A counter has packets of one kind: those of one with addresses of data are longer. */
static void counters_with_addresses_have_packets_of_their_own(void **state)
{
	const struct exp_counter_desc counters[] = {
		{ .tag = 0, .name = "plain", .int_name = "plain", .label = "P", .interval = 1 },
		{ .tag = 2, .name = "data", .int_name = "data", .label = "D", .interval = 1, .data = true },
	};
	const int64_t plain[] = { 1, 2, 3, 6000, 0, 0, 10, 1 };
	const int64_t data[] = { 1, 2, 3, 7000, 0, 2, 20, 0x7f1234, 0x401000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9 };
	struct diag d = { 0 };
	int dirfd;
	struct expwriter *w = new_writer(*state, "t.1.er", &dirfd);
	struct experiment *e;

	expwriter_counter_profile(w, ER_PKT_HWC, counters, 2);
	expwriter_packet(w, ER_PKT_HWC, plain, NULL);
	expwriter_packet(w, ER_PKT_MHWC, data, NULL);
	e = written(w, *state, &d);
	assert_int_equal(e->streams.len, 2);
	vec_for_each(s, &e->streams) {
		bool has_data = s->kind == ER_PKT_MHWC;
		struct packet_iter it;
		struct packet p;

		assert_int_equal(s->counters.len, 1);
		assert_string_equal(s->counters.data[0].name, has_data ? "data" : "plain");
		packet_iter_init(&it, e, s);
		assert_true(packet_next(&it, &p));
		assert_int_equal(packet_int(&p, stream_field(s, "HWCINT")), has_data ? 20 : 10);
		assert_int_equal(packet_int(&p, stream_field(s, "SEQ")), has_data ? 9 : 1);
		if (has_data)
			assert_int_equal(packet_int(&p, stream_field(s, "VADDR")), 0x7f1234);
		assert_false(packet_next(&it, &p));
	}
	experiment_close(e);
	diag_free(&d);
	close(dirfd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMPDIR_CASE(counters_are_announced),
		TEMPDIR_CASE(counters_with_addresses_have_packets_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
