/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a recording, and its pauses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/buf.h"
#include "user/record/pauses.h"
#include "user/record/status.h"

#define SEC 1000000000ULL

static void test_text(void **state)
{
	const struct status s = {
		.pid = 12, .name = "a.1.er", .experiment = "/tmp/a\n.er", .elapsed_ns = 5 * SEC / 2, .paused_ns = SEC,
		.bytes = 1500, .cpu_ns = SEC / 4, .nprocesses = 3, .left_out = "nothing", .paused = true,
		.counts = { .of = { [ER_KIND_CLOCK] = { .wanted = true, .recorded = 1, .lost = 2 } } },
	};
	struct buf b = { 0 };

	status_text(&s, &b);
	assert_string_equal(b.data, "recorder:    12\n"
				    "name:        a.1.er\n"
				    "experiment:  /tmp/a\\x0a.er\n"
				    "state:       paused\n"
				    "elapsed:     2.500 s, 1.000 s of it paused\n"
				    "recorded:    1 sample, 2 lost\n"
				    "left out:    nothing\n"
				    "own CPU:     0.250 s\n"
				    "written:     1.5 KB\n"
				    "processes:   3\n");
	buf_free(&b);
}

static void test_flight(void **state)
{
	const struct status s = {
		.name = "a.er", .left_out = "nothing",
		.flight = { .wanted_ns = 60 * SEC, .dumps = "/tmp/a.N", .covered_ns = 31 * SEC / 2, .bytes = 1500, .limit = 2500000,
			    .ncrowded = 1, .ndumps = 2, .nfailed = 3, .nignored = 4, .last = "/tmp/a.2\n/a.erg" },
	};
	struct buf b = { 0 };

	status_text(&s, &b);
	assert_non_null(strstr(b.data, "\nname:        a.er\ndumps go to: /tmp/a.N\nstate:"));
	assert_non_null(strstr(b.data, "\nin memory:   the last 15.500 s (60 s wanted), 1.5 KB of 2.4 MB; "
				       "1 segment dropped early for lack of memory\n"
				       "dumps:       2, and 3 failed; ignored 4 times that pressure was high (cooldown or pause); "
				       "the last is /tmp/a.2\\x0a/a.erg\n"));
	buf_free(&b);
}

static void test_pauses(void **state)
{
	struct pauses p = { 0 };

	assert_int_equal(pauses_until(&p, 100), 0);
	pauses_begin(&p, 10);
	assert_true(is_paused(&p));
	assert_int_equal(pauses_until(&p, 15), 5);
	pauses_end(&p, 20);
	assert_false(is_paused(&p));
	pauses_reset(&p); /* the pause before was before the capture */
	assert_int_equal(p.before_ns, 10);
	assert_int_equal(p.n, 0);
	pauses_begin(&p, 30);
	pauses_end(&p, 34);
	pauses_begin(&p, 40);
	assert_int_equal(p.n, 2);
	assert_int_equal(pauses_until(&p, 43), 7);
	assert_int_equal(pauses_until(&p, 39), 4);
}

/* A size that an option gave comes back as it was written. */
static void test_sizes(void **state)
{
	static const struct { uint64_t bytes; const char *text; } sizes[] = {
		{ 999, "999 B" }, { 20 << 20, "20 MB" }, { 256 << 20, "256 MB" }, { 3ULL << 29, "1.5 GB" },
		{ 1000 << 20, "1000 MB" }, { 1ULL << 40, "1 TB" },
	};
	char text[32];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		status_bytes(sizes[i].bytes, text, sizeof(text));
		assert_string_equal(text, sizes[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_flight),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
