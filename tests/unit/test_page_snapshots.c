/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact states of seconds in the page. tests/tools/export_page_seconds.sh compares them with
 * er_print. */
#include <zlib.h>

#include "analysis/export/export.h"
#include "analysis/export/page_events.h"
#include "analysis/export/page_snapshots.h"
#include "tests/unit/session_fixture.h"

/*
 * Thread 1 has events. It computes for 10 ns until the first sample, sleeps until the second, and
 * runs 5 ns of the third second. 8 has none: it sleeps for a second, runs at its end, 3 ns late.
 */
static const char steps[] =
	"<snapshot at=\"100\" took=\"10\" threads=\"4711/1,sr10s90 8+3,ss103\"/>\n"
	"<snapshot at=\"200\" took=\"10\" threads=\"\"/>\n"
	"<snapshot at=\"300\" took=\"10\" threads=\"4711/1,sr5s195 8,rs190r7\"/>\n";

static void make(struct opened *o, struct page_events *events)
{
	fixture_new(o);
	exp_builder_profile(o->builder, 1, "main", MS_USER, 7);
	expwriter_text(exp_builder_writer(o->builder), "snapshots.xml.gz", steps);
	fixture_open(o);
	assert_int_equal(
		page_events_read(&(struct export){ .view = &o->view, .diag = &o->diag }, events),
		0);
}

static size_t inflate_pack(const struct packed *p, unsigned char *out, size_t room)
{
	z_stream z = { .next_in = p->bytes, .avail_in = p->n, .next_out = out, .avail_out = room };

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	return z.total_out;
}

#define HEAD(mask, longest, before) (((mask) << 4 | (longest)) << 1 | (before)) & 0xff

static void test_records(void **state)
{
	/* Kinds: 0 is CPU, 1 is sleep. Signed numbers are doubled. The longest time is a
	 * difference. */
	static const unsigned char want[] = {
		0,  0,
		2, /* experiment, second, records */
		0,  HEAD(3, 1, 0),
		20, 0,
		2,  HEAD(2, 1, 0),
		6, /* thread 8: 103 of 100 ns */
		0,  1,
		0,  0,
		2,  2,
		0,  HEAD(3, 1, 1),
		1,  1,
		0,  10,
		0, /* asleep in the second before */
		2,  HEAD(3, 1, 1),
		1,  1,
		6,  14,
		0,  0,
		3,  0,
	};
	struct page_events events;
	struct pack index = { 0 };
	packed_vec packs = { 0 };
	unsigned char out[200];
	struct opened o;

	make(&o, &events);
	make_snapshots(&(struct export){ .view = &o.view, .diag = &o.diag, .to_ns = INT64_MAX },
		       &events, &index, &packs);
	assert_int_equal(packs.len, 1);
	assert_int_equal(inflate_pack(&packs.data[0], out, sizeof(out)), 8 + sizeof(want));
	assert_memory_equal(out, "snap", 4);
	assert_memory_equal(out + 8, want, sizeof(want));
	assert_memory_equal(index.bytes.data, "snjs", 4);
	assert_non_null(strstr(index.bytes.data + 8, "{\"packs\":1,\"why\":\"\",\"named\":false,"
						     "\"exps\":[{\"exp\":1,\"begin\":0,\"n\":4,\"took\":10,"
						     "\"split\":false,\"vague\":[]}]}"));
	packs_free(&packs);
	pack_free(&index);
	page_events_free(&events);
	fixture_free(&o);
}

/* What snapshots cannot tell is not in the page, nor are threads that the filter leaves out. */
static void check_filter(const char *text, bool tells, size_t nowners)
{
	struct page_events events;
	struct pack index = { 0 };
	packed_vec packs = { 0 };
	struct filter *f;
	struct opened o;
	char *last;

	make(&o, &events);
	f = filter_parse(o.session, NULL, text, &o.diag);
	assert_non_null(f);
	make_snapshots(&(struct export){ .view = &o.view, .diag = &o.diag, .threads = f }, &events,
		       &index, &packs);
	assert_int_equal(packs.len, tells);
	last = index.bytes.data + index.bytes.len - 2 * nowners - 8;
	assert_memory_equal(last, "snow", 4);
	packs_free(&packs);
	pack_free(&index);
	filter_free(f);
	page_events_free(&events);
	fixture_free(&o);
}

static void test_filters(void **state)
{
	check_filter("TID == 1", true, 1);
	check_filter("COMM == \"x\" || PID IN (4711, 2)", true, 1);
	check_filter("STATE == SLEEP", false, 1);
	check_filter("TID == 1 && TSTAMP > 5", false, 1);
	check_filter("FNAME('main') SOME IN STACK", false, 1);
	check_filter("TID == 1 && NTICK > 0", false, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
