/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data of the page. tests/tools/export_page.sh shows pages in a browser. */
#include "analysis/export/page_events.h"

#include "analysis/export/export.h"
#include "analysis/export/outfile.h"
#include "analysis/export/page_losses.h"
#include "analysis/export/page_mips.h"
#include "analysis/export/page_pack.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/leaks.h"
#include "analysis/metrics/pass.h"
#include "tests/unit/session_fixture.h"

static void assert_bytes(const struct buf *b, const char *want, size_t n)
{
	assert_int_equal(b->len, n);
	assert_memory_equal(b->data, want, n);
}

static void test_varints(void **state)
{
	struct pack p = { 0 };

	pack_uint(&p, 0);
	pack_uint(&p, 127);
	pack_uint(&p, 128);
	pack_uint(&p, 300);
	assert_bytes(&p.bytes, "\x00\x7f\x80\x01\xac\x02", 6);
	buf_clear(&p.bytes);
	pack_int(&p, -1);
	pack_int(&p, 1);
	pack_int(&p, -64);
	pack_int(&p, 64);
	assert_bytes(&p.bytes, "\x01\x02\x7f\x80\x01", 5);
	buf_clear(&p.bytes);
	pack_int(&p, INT64_MIN);
	assert_bytes(&p.bytes, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
	pack_free(&p);
}

static void test_sections(void **state)
{
	struct pack p = { 0 };

	pack_begin(&p, "abcd");
	pack_uint(&p, 5);
	pack_end(&p);
	pack_begin(&p, "none");
	pack_end(&p);
	assert_bytes(&p.bytes, "abcd\x01\0\0\0\x05none\0\0\0\0", 17);
	pack_free(&p);
}

/* The examples of RFC 4648. */
static void test_base64(void **state)
{
	static const char *const pairs[][2] = {
		{ "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct buf b = { 0 };

		put_base64(&b, (const unsigned char *)pairs[i][0], strlen(pairs[i][0]));
		assert_string_equal(b.data, pairs[i][1]);
		buf_free(&b);
	}
}

/* Recursion, and a stack of two states: path numbers follow frequency. */
static void build(struct opened *o)
{
	fixture_new(o);
	exp_builder_profile(o->builder, 1, "main>rare", MS_USER, 7);
	for (int i = 0; i < 3; i++)
		exp_builder_profile(o->builder, 2, "main>often>often", MS_SYSTEM, 1);
	exp_builder_profile(o->builder, 2, "main>often>often", MS_SLEEP, 5);
	fixture_open(o);
}

static void test_events(void **state)
{
	struct page_events p;
	struct opened o;

	build(&o);
	assert_int_equal(page_events_read(&(struct export){ .view = &o.view, .diag = &o.diag }, &p), 0);
	assert_int_equal(p.all.len, 5);
	for (size_t i = 1; i < p.all.len; i++)
		assert_true(p.all.data[i - 1].end <= p.all.data[i].end);
	assert_int_equal(p.threads.len, 2);
	assert_int_equal(p.threads.data[0].us[MS_USER], 7000);
	assert_int_equal(p.threads.data[1].us[MS_SYSTEM], 3000);
	assert_int_equal(p.threads.data[1].us[MS_SLEEP], 5000);
	/* The most frequent path and class are the first. */
	assert_int_equal(p.paths.len, 2);
	assert_int_equal(p.paths.data[0].n, 4);
	assert_int_equal(p.paths.data[0].cpu_us, 3000);
	assert_int_equal(p.paths.data[0].wait_us, 5000);
	assert_int_equal(p.paths.data[1].cpu_us, 7000);
	assert_int_equal(p.classes.data[0].state, MS_SYSTEM);
	assert_int_equal(p.all.data[0].path, 1);
	/* root, main, rare, often, often */
	assert_int_equal(p.tree.nodes.len, 5);
	assert_int_equal(p.tree.funcs.len, 3);
	for (size_t i = 1; i < p.tree.nodes.len; i++)
		assert_true(p.tree.nodes.data[i].parent < i);
	page_events_free(&p);
	fixture_free(&o);
}

/* An event adds 1 to some metrics, and at most two other numbers to others. The classes say to which. */
static void test_counted(void **state)
{
	struct metric metrics[6];
	struct metric_set ms = { .all = { .data = metrics, .len = 6 } };
	struct exp_stream st = { .kind = ER_PKT_SYNC };
	struct hit h = { .stream = &st };
	/* Twice the same number; nothing; a time by state; a copy of a metric that is not in the set. */
	const struct amount amounts[] = { { 0, 1 }, { 1, 500 }, { 2, 2000 }, { 3, 7 },
					  { 4, 7 }, { 5, 9 },	{ 1, 0 },    { 6, 3 } };
	struct page_counts c = { 0 };

	for (uint32_t i = 0; i < 6; i++)
		metrics[i] = (struct metric){ .id = i, .kind = i == 5 ? ER_PKT_CLOCK : ER_PKT_SYNC, .tag = -1 };
	assert_true(counts_possible(&ms));
	for (int i = 0; i < 2; i++)
		page_counts_add(&c, &ms, &h, (struct page_event){ .thread = 3 }, amounts, 8);
	page_counts_add(&c, &ms, &h, (struct page_event){ .thread = 3 }, amounts + 5, 3);
	assert_int_equal(c.all.len, 4);
	assert_int_equal(c.classes.len, 2);
	assert_int_equal(c.classes.data[0].n, 2);
	assert_int_equal(c.classes.data[0].nadds, 3);
	assert_int_equal(c.classes.data[0].adds[0].from, COUNT_ONE);
	assert_int_equal(c.classes.data[0].adds[1].from, COUNT_WEIGHT);
	assert_int_equal(c.classes.data[0].adds[2].from, COUNT_LENGTH);
	assert_int_equal(c.all.data[0].weight, 500);
	assert_int_equal(c.all.data[0].length, 2000);
	assert_int_equal(c.classes.data[1].nadds, 2);
	assert_int_equal(c.classes.data[1].adds[0].metric, 3);
	assert_int_equal(c.classes.data[1].adds[1].from, COUNT_WEIGHT);
	assert_int_equal(c.all.data[1].weight, 7);
	assert_int_equal(c.all.data[1].length, 0);
	assert_int_equal(c.all.data[1].thread, 3);
	assert_int_equal(c.all.data[1].subject, 0);
	page_counts_free(&c);
	ms.all.len = 0;
	assert_false(counts_possible(&ms));
}

/* The overview of this range has 1,024 bins, and MS_USER fills each. */
static void assert_full(const struct page_events *events, int64_t begin, int64_t end)
{
	struct pack p = { 0 };

	put_mips(&p, events, begin, end);
	/* Tag, length, number of bins; then the mask and one share of each bin. */
	assert_int_equal(p.bytes.len, 8 + 2 + 1024 * 2);
	for (size_t i = 10; i < p.bytes.len; i += 2) {
		assert_int_equal((unsigned char)p.bytes.data[i], 1 << MS_USER);
		assert_in_range((unsigned char)p.bytes.data[i + 1], 254, 255);
	}
	pack_free(&p);
}

/* A thread on a CPU all the time fills each bin with its state. */
static void test_overview(void **state)
{
	struct page_events events;
	struct opened o;
	int64_t end;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main", MS_USER, 100);
	fixture_open(&o);
	assert_int_equal(page_events_read(&(struct export){ .view = &o.view, .diag = &o.diag }, &events), 0);
	end = events.all.data[0].end;
	assert_full(&events, end - 100000, end);
	/* The event goes beyond either end of the range. */
	assert_full(&events, end - 100000, end - 40000);
	assert_full(&events, end - 60000, end);
	page_events_free(&events);
	fixture_free(&o);
}

/* Damaged numbers of seconds become times within the recording. */
static void test_losses(void **state)
{
	static const char recorder[] =
		"<recorder version=\"1\" pid=\"7\" state=\"closed\"/>\n"
		"<loss second=\"-5\" pid=\"4711\" tid=\"1\" kind=\"clock\" count=\"1\"/>\n"
		"<loss second=\"9223372036854775807\" pid=\"4711\" tid=\"8\" kind=\"wait\" count=\"2\"/>\n"
		"<loss second=\"1\" pid=\"4711\" tid=\"1\" kind=\"counter\" count=\"3\"/>\n";
	struct page_events events;
	struct buf b = { 0 };
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main", MS_USER, 2500);
	assert_int_equal(expwriter_replace(exp_builder_writer(o.builder), "recorder.xml", recorder), 0);
	fixture_open(&o);
	struct export x = { .view = &o.view, .diag = &o.diag };
	assert_int_equal(page_events_read(&x, &events), 0);
	put_losses(&x, &events, &b);
	assert_string_equal(b.data, ",\"lost\":[[0,0,1000000,1],[-1,2000000,2500000,2]]");
	buf_free(&b);
	page_events_free(&events);
	fixture_free(&o);
}

static void put_call(struct exp_builder *b, enum heap_type type, int64_t size, int64_t addr)
{
	const int64_t values[] = { 1, 1, 0, exp_builder_now(b), exp_builder_stack(b, "main>call"), type, size, addr, 0 };

	expwriter_packet(exp_builder_writer(b), ER_PKT_HEAP, values, NULL);
}

/* Calls for memory have the order in which they happened. Without clock data there are only these. */
static void test_heap(void **state)
{
	struct page_events p;
	struct opened o;

	fixture_new(&o);
	expwriter_profile(exp_builder_writer(o.builder), ER_PKT_HEAP, NULL);
	exp_builder_at(o.builder, 5000000);
	put_call(o.builder, HEAP_FREE, 0, 0x1000);
	exp_builder_at(o.builder, 3000000);
	put_call(o.builder, HEAP_MALLOC, 70, 0x1000);
	put_call(o.builder, HEAP_MMAP, 4096, 0x2000);
	fixture_open(&o);
	assert_int_equal(page_events_read(&(struct export){ .view = &o.view, .diag = &o.diag }, &p), 0);
	assert_int_equal(p.all.len, 0);
	assert_int_equal(p.threads.data[0].n, 3);
	assert_int_equal(p.counts.all.len, 3);
	assert_true(page_heap_usable(&p.counts.heap));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(p.counts.all.data[i].heap, i + 1);
	assert_int_equal(p.counts.heap.calls.data[0].size, 70);
	assert_int_equal(p.counts.heap.calls.data[1].type, HEAP_MMAP);
	assert_int_equal(p.counts.heap.calls.data[2].type, HEAP_FREE);
	page_events_free(&p);
	fixture_free(&o);
}

/* JavaScript would round these numbers. */
static void test_large_heap(void **state)
{
	static const int64_t addrs[] = { (int64_t)1 << 53, ((int64_t)1 << 53) - 10, 0x1000 };
	static const int64_t sizes[] = { 10, 10, -5 };
	struct page_events p;
	struct opened o;

	for (size_t i = 0; i < 3; i++) {
		fixture_new(&o);
		expwriter_profile(exp_builder_writer(o.builder), ER_PKT_HEAP, NULL);
		put_call(o.builder, HEAP_MALLOC, sizes[i], addrs[i]);
		fixture_open(&o);
		assert_int_equal(page_events_read(&(struct export){ .view = &o.view, .diag = &o.diag }, &p), 0);
		assert_false(page_heap_usable(&p.counts.heap));
		page_events_free(&p);
		fixture_free(&o);
	}
}

/* --page-size is kept only if no byte of a pack is forgotten. */
static void test_room(void **state)
{
	for (size_t n = 0; n < 10000; n += 999) {
		struct outfile out = { .fd = -1 };
		struct pack p = { 0 };
		struct packed packed;
		size_t room;

		buf_zero(&p.bytes, n);
		packed = pack_compress(&p);
		room = packed_room(&packed);
		assert_true(packed_put(&packed, "reports", &out));
		assert_in_range(out.buf.len, room - 16, room);
		buf_free(&out.buf);
		pack_free(&p);
	}
}

static void test_nothing(void **state)
{
	struct page_events p;
	struct opened o;

	fixture_new(&o);
	fixture_open(&o);
	assert_int_equal(page_events_read(&(struct export){ .view = &o.view, .diag = &o.diag }, &p), -1);
	page_events_free(&p);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_varints), cmocka_unit_test(test_sections),
		cmocka_unit_test(test_base64),  cmocka_unit_test(test_events),
		cmocka_unit_test(test_counted), cmocka_unit_test(test_overview),
		cmocka_unit_test(test_losses),  cmocka_unit_test(test_heap),
		cmocka_unit_test(test_large_heap), cmocka_unit_test(test_room),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
