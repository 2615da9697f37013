/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leaks: allocations and frees matched in order of time; ratios of counters. */
#include <math.h>

#include "analysis/experiment/exp_packets.h"
#include "analysis/metrics/leaks.h"
#include "tests/unit/session_fixture.h"

static void heap(struct opened *o, uint64_t at, enum heap_type type, uint64_t size, uint64_t addr,
		 uint64_t old)
{
	const int64_t values[] = { 1, 1, 0, exp_builder_now(o->builder) + at,
				   exp_builder_stack(o->builder, "main>f"), type, size, addr, old };

	expwriter_packet(exp_builder_writer(o->builder), ER_PKT_HEAP, values, NULL);
}

static void open_heap(struct opened *o)
{
	fixture_new(o);
	expwriter_profile(exp_builder_writer(o->builder), ER_PKT_HEAP, "");
}

static int64_t sum(struct opened *o, const char *metric)
{
	return view_tally(&o->view)->total[metric_id(o, metric)];
}

static void assert_leaks(struct opened *o, int64_t bytes, int64_t count)
{
	fixture_open(o);
	assert_int_equal(sum(o, "heapleakbytes"), bytes);
	assert_int_equal(sum(o, "heapleakcnt"), count);
	fixture_free(o);
}

static void what_is_not_freed_is_a_leak(void **state)
{
	struct opened o;

	open_heap(&o);
	heap(&o, 1, HEAP_MALLOC, 100, 0x1000, 0);
	heap(&o, 2, HEAP_MALLOC, 20, 0x2000, 0);
	heap(&o, 3, HEAP_FREE, 0, 0x1000, 0);
	heap(&o, 4, HEAP_FREE, 0, 0x9999, 0); /* unknown: nothing */
	heap(&o, 5, HEAP_FREE, 0, 0, 0);
	assert_leaks(&o, 20, 1);
}

/* Of a process that ran before. A block counts once, and a null pointer is none. */
static void frees_of_unknown_blocks_are_counted(void **state)
{
	struct opened o;

	open_heap(&o);
	heap(&o, 1, HEAP_FREE, 0, 0x1000, 0);
	heap(&o, 2, HEAP_FREE, 0, 0x2000, 0);
	heap(&o, 3, HEAP_MALLOC, 100, 0x1000, 0);
	heap(&o, 4, HEAP_FREE, 0, 0x1000, 0);
	heap(&o, 5, HEAP_FREE, 0, 0x1000, 0);
	heap(&o, 6, HEAP_FREE, 0, 0, 0);
	fixture_open(&o);
	assert_int_equal(leaks_unknown_frees(o.metrics.leaks), 3);
	fixture_free(&o);
}

/* Each thread's packets are in order; the file is not. */
static void time_decides_not_the_file(void **state)
{
	struct opened o;

	open_heap(&o);
	heap(&o, 9, HEAP_FREE, 0, 0x1000, 0);
	heap(&o, 8, HEAP_MALLOC, 100, 0x1000, 0);
	assert_leaks(&o, 0, 0);
}

static void an_address_is_used_again(void **state)
{
	struct opened o;

	open_heap(&o);
	heap(&o, 1, HEAP_MALLOC, 100, 0x1000, 0);
	heap(&o, 2, HEAP_FREE, 0, 0x1000, 0);
	heap(&o, 3, HEAP_MALLOC, 7, 0x1000, 0);
	assert_leaks(&o, 7, 1);
}

/* The free was not recorded: the first allocation is no leak. */
static void an_address_is_given_out_twice(void **state)
{
	struct opened o;

	open_heap(&o);
	heap(&o, 1, HEAP_MALLOC, 100, 0x1000, 0);
	heap(&o, 2, HEAP_MALLOC, 7, 0x1000, 0);
	heap(&o, 3, HEAP_MMAP, 0x1000, 0x10000, 0);
	heap(&o, 4, HEAP_MMAP, 0x2000, 0x10000, 0);
	assert_leaks(&o, 7 + 0x2000, 2);
}

/* If two calls have the same time, their order in the file decides. */
static void the_file_decides_between_equal_times(void **state)
{
	struct opened o;

	open_heap(&o);
	for (int i = 0; i < 50; i++) {
		heap(&o, 5, HEAP_MALLOC, 100, 0x1000, 0);
		heap(&o, 5, HEAP_FREE, 0, 0x1000, 0);
	}
	heap(&o, 5, HEAP_FREE, 0, 0x2000, 0);
	heap(&o, 5, HEAP_MALLOC, 9, 0x2000, 0);
	assert_leaks(&o, 9, 1);
}

static void realloc_frees_and_allocates(void **state)
{
	struct opened o;

	open_heap(&o);
	heap(&o, 1, HEAP_MALLOC, 100, 0x1000, 0);
	heap(&o, 2, HEAP_REALLOC, 300, 0x3000, 0x1000);
	heap(&o, 3, HEAP_REALLOC, 5, 0x4000, 0);
	assert_leaks(&o, 305, 2);
}

static void mappings_go_in_parts(void **state)
{
	struct opened o;

	open_heap(&o);
	heap(&o, 1, HEAP_MMAP, 0x3000, 0x10000, 0);
	heap(&o, 2, HEAP_MMAP, 0x1000, 0x20000, 0);
	heap(&o, 3, HEAP_MUNMAP, 0x1000, 0x11000, 0);
	heap(&o, 4, HEAP_MUNMAP, 0x1000, 0x20000, 0);
	assert_leaks(&o, 0x2000, 1);
}

static void hostile_sizes_are_only_numbers(void **state)
{
	struct opened o;

	open_heap(&o);
	heap(&o, 1, HEAP_MMAP, UINT64_MAX, 0x10000, 0);
	heap(&o, 2, HEAP_MUNMAP, UINT64_MAX - 1, 0x11000, 0);
	heap(&o, 3, (enum heap_type)77, 1, 0x11000, 0);
	assert_leaks(&o, 0x11000, 1);
}

static void the_peak_is_known(void **state)
{
	const struct heap_peak *p;
	struct opened o;
	size_t n;

	open_heap(&o);
	heap(&o, 10, HEAP_MALLOC, 100, 0x1000, 0);
	heap(&o, 20, HEAP_MALLOC, 50, 0x2000, 0);
	heap(&o, 30, HEAP_FREE, 0, 0x1000, 0);
	heap(&o, 40, HEAP_MALLOC, 100, 0x3000, 0); /* the same peak again */
	fixture_open(&o);
	p = leaks_peaks(o.metrics.leaks, &n);
	assert_int_equal(n, 1);
	assert_int_equal(p->bytes, 150);
	assert_int_equal(p->time_ns, 20);
	fixture_free(&o);
}

static void of_all_packets(struct experiment *e, struct map *packets)
{
	struct packet_iter it;
	struct packet p;

	vec_for_each(st, &e->streams) {
		packet_iter_init(&it, e, st);
		while (st->kind == ER_PKT_HEAP && packet_next(&it, &p))
			map_put(packets, (uintptr_t)p.p, NULL);
	}
}

/* Only the last of the processes with the highest peak is named. */
static void of_equal_peaks_the_last_counts(void **state)
{
	struct map packets = { 0 };
	struct exp_builder *sub;
	struct heap_peak peak;
	struct opened o, inner;

	open_heap(&o);
	sub = exp_builder_sub(o.builder, "_b_PID_20.1.er", "/bin/b", 20);
	expwriter_profile(exp_builder_writer(sub), ER_PKT_HEAP, "");
	inner = (struct opened){ .builder = sub };
	heap(&o, 10, HEAP_MALLOC, 100, 0x1000, 0);
	heap(&inner, 30, HEAP_MALLOC, 100, 0x1000, 0);
	exp_builder_close(sub);
	fixture_open(&o);
	vec_for_each(e, &o.session->experiments)
		of_all_packets(*e, &packets);
	leaks_peak_among(o.session, &packets, &peak);
	assert_int_equal(peak.bytes, 100);
	assert_int_equal(peak.e->pid, 20);
	map_free(&packets);
	fixture_free(&o);
}

static void of_thread(struct opened *o, int64_t thread, uint64_t at, enum heap_type type, uint64_t addr, uint64_t old)
{
	const int64_t values[] = { thread, thread, 0, exp_builder_now(o->builder) + at,
				   exp_builder_stack(o->builder, "main>f"), type, 10, addr, old };

	expwriter_packet(exp_builder_writer(o->builder), ER_PKT_HEAP, values, NULL);
}

static void what_its_thread_frees_at_once_is_temporary(void **state)
{
	struct opened o;

	open_heap(&o);
	expwriter_text(exp_builder_writer(o.builder), "recorder.xml", "<recorder state=\"closed\"/>");
	of_thread(&o, 1, 1, HEAP_MALLOC, 0x1000, 0); /* temporary: what thread 2 does is nothing to thread 1 */
	of_thread(&o, 2, 2, HEAP_MALLOC, 0x2000, 0);
	of_thread(&o, 1, 3, HEAP_FREE, 0x1000, 0);
	of_thread(&o, 1, 4, HEAP_FREE, 0x2000, 0); /* not its own */
	of_thread(&o, 1, 5, HEAP_MALLOC, 0x3000, 0);
	of_thread(&o, 1, 6, HEAP_MALLOC, 0x4000, 0);
	of_thread(&o, 1, 7, HEAP_FREE, 0x3000, 0); /* another one came in between */
	of_thread(&o, 1, 8, HEAP_REALLOC, 0x5000, 0x4000); /* temporary */
	of_thread(&o, 1, 9, HEAP_FREE, 0x5000, 0);         /* temporary */
	of_thread(&o, 1, 10, HEAP_FREE, 0x5000, 0);
	fixture_open(&o);
	assert_int_equal(sum(&o, "heaptempcnt"), 3);
	fixture_free(&o);
}

/* Where most allocations are not recorded, or another collector's reader has no such metric. */
static void of_a_sample_no_temporary_ones_are_known(void **state)
{
	struct opened o;

	for (int own = 0; own < 2; own++) {
		fixture_new(&o);
		expwriter_profile(exp_builder_writer(o.builder), ER_PKT_HEAP, own ? "sampled=\"512\"" : "");
		if (own)
			expwriter_text(exp_builder_writer(o.builder), "recorder.xml", "<recorder/>");
		of_thread(&o, 1, 1, HEAP_MALLOC, 0x1000, 0);
		of_thread(&o, 1, 2, HEAP_FREE, 0x1000, 0);
		fixture_open(&o);
		assert_null(metric_find(&o.metrics, "heaptempcnt"));
		fixture_free(&o);
	}
}

static void a_sampled_block_has_its_variance(void **state)
{
	const double mean = 512 << 10, sizes[] = { 1, 100, 4096, 100000, 524288, 2e6, 1e7, 1e9 };
	struct exp_stream st = { .kind = ER_PKT_HEAP, .sampled = 512 << 10 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double p = -expm1(-sizes[i] / mean), w = sizes[i] / p, want = w * w * (1 - p);
		double got = leaks_variance(&st, HEAP_MALLOC, w + 0.5);

		assert_true(fabs(got - want) <= 2e-5 * want + 1e-3);
	}
	assert_true(leaks_variance(&st, HEAP_MMAP, 1 << 20) == 0);
	assert_true(leaks_variance(&st, HEAP_MALLOC, 0) == 0);
	st.sampled = 0;
	assert_true(leaks_variance(&st, HEAP_MALLOC, 1 << 20) == 0);
}

static void changes_add_up_to_what_is_in_use(void **state)
{
	heap_changes changes;
	struct opened o;

	open_heap(&o);
	heap(&o, 30, HEAP_FREE, 0, 0x1000, 0);
	heap(&o, 10, HEAP_MALLOC, 100, 0x1000, 0);
	heap(&o, 20, HEAP_MMAP, 0x3000, 0x10000, 0);
	heap(&o, 40, HEAP_MUNMAP, 0x1000, 0x11000, 0);
	heap(&o, 50, HEAP_REALLOC, 7, 0x2000, 0);
	fixture_open(&o);
	leaks_changes(o.session, NULL, &changes);
	assert_int_equal(changes.len, 5);
	assert_int_equal(changes.data[0].bytes, 100);
	assert_int_equal(changes.data[1].bytes, 0x3000);
	assert_int_equal(changes.data[2].bytes, -100);
	assert_int_equal(changes.data[2].time_ns, 30);
	assert_int_equal(changes.data[3].bytes, -0x1000);
	assert_int_equal(changes.data[4].bytes, 7);
	vec_free(&changes);
	fixture_free(&o);
}

/* The blocks at the peak have these bytes, in the order of allocation. */
static void assert_held(struct opened *o, const struct map *packets, uint64_t peak, const uint64_t *bytes, size_t n)
{
	heap_blocks blocks;
	struct heap_peak p;
	uint64_t total = 0;

	leaks_at_peak(o->session, packets, &p, &blocks);
	assert_int_equal(p.bytes, peak);
	assert_int_equal(blocks.len, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(blocks.data[i].bytes, bytes[i]);
		total += bytes[i];
	}
	assert_int_equal(total, peak);
	vec_free(&blocks);
}

static void blocks_at_the_peak_add_up_to_it(void **state)
{
	struct map none = { 0 };
	struct opened o;

	open_heap(&o);
	heap(&o, 10, HEAP_MALLOC, 100, 0x1000, 0);
	heap(&o, 15, HEAP_MALLOC, 5, 0x9000, 0);
	heap(&o, 17, HEAP_FREE, 0, 0x9000, 0); /* freed before the peak */
	heap(&o, 20, HEAP_MMAP, 0x3000, 0x10000, 0); /* the peak */
	heap(&o, 25, HEAP_MUNMAP, 0x1000, 0x11000, 0);
	heap(&o, 30, HEAP_REALLOC, 300, 0x2000, 0x1000);
	fixture_open(&o);
	assert_held(&o, NULL, 100 + 0x3000, (const uint64_t[]){ 100, 0x3000 }, 2);
	assert_held(&o, &none, 0, NULL, 0);
	map_free(&none);
	fixture_free(&o);
}

static void a_block_is_held_in_part_at_the_peak(void **state)
{
	struct opened o;

	open_heap(&o);
	heap(&o, 20, HEAP_MMAP, 0x3000, 0x10000, 0);
	heap(&o, 25, HEAP_MUNMAP, 0x1000, 0x11000, 0);
	heap(&o, 27, HEAP_MALLOC, 50, 0x1000, 0);
	heap(&o, 30, HEAP_REALLOC, 0x5000, 0x2000, 0x1000);
	heap(&o, 40, HEAP_FREE, 0, 0x2000, 0);
	heap(&o, 50, HEAP_MALLOC, 0x5000, 0x7000, 0); /* the same peak again: the first one counts */
	fixture_open(&o);
	assert_held(&o, NULL, 0x7000, (const uint64_t[]){ 0x2000, 0x5000 }, 2);
	fixture_free(&o);
}

static void count(struct opened *o, int tag, int64_t n)
{
	const int64_t values[] = { 1, 1, 0, exp_builder_now(o->builder),
				   exp_builder_stack(o->builder, "main>f"), tag, n, 0 };

	expwriter_packet(exp_builder_writer(o->builder), ER_PKT_HWC, values, NULL);
}

static void counters(struct opened *o, const char *first, const char *second)
{
	const char *const names[] = { first, second };

	fixture_new(o);
	for (int i = 0; i < 2; i++) {
		char *attrs =
			xasprintf("cpuver=\"0\" hwcname=\"%s\" int_name=\"%s\" interval=\"1000\" "
				  "tag=\"%d\"",
				  names[i], names[i], i);

		expwriter_profile(exp_builder_writer(o->builder), ER_PKT_HWC, attrs);
		free(attrs);
	}
	count(o, 0, 4000);
	count(o, 1, 1000);
	fixture_open(o);
}

static void ratios_are_of_what_a_row_has(void **state)
{
	struct opened o;
	const int64_t *f;

	counters(&o, "cycles", "insts");
	f = tally_excl(view_tally(&o.view), the_func(&o, "f")->id);
	assert_int_equal(metric_value(metric_find(&o.metrics, "IPC"), f), RATIO_UNIT / 4);
	assert_int_equal(metric_value(metric_find(&o.metrics, "CPI"), f), 4 * RATIO_UNIT);
	assert_null(metric_find(&o.metrics, "K_IPC"));
	/* no ratio without events */
	f = tally_excl(view_tally(&o.view), the_func(&o, "main")->id);
	assert_int_equal(metric_value(metric_find(&o.metrics, "IPC"), f), 0);
	fixture_free(&o);
}

static void ratios_need_both_counters(void **state)
{
	struct opened o;

	counters(&o, "K_cycles", "K_insts");
	assert_non_null(metric_find(&o.metrics, "K_IPC"));
	assert_null(metric_find(&o.metrics, "IPC"));
	fixture_free(&o);
	counters(&o, "cycles", "dcrm");
	assert_null(metric_find(&o.metrics, "CPI"));
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_freed_is_a_leak),
		cmocka_unit_test(frees_of_unknown_blocks_are_counted),
		cmocka_unit_test(time_decides_not_the_file),
		cmocka_unit_test(an_address_is_used_again),
		cmocka_unit_test(an_address_is_given_out_twice),
		cmocka_unit_test(the_file_decides_between_equal_times),
		cmocka_unit_test(realloc_frees_and_allocates),
		cmocka_unit_test(mappings_go_in_parts),
		cmocka_unit_test(hostile_sizes_are_only_numbers),
		cmocka_unit_test(the_peak_is_known),
		cmocka_unit_test(of_equal_peaks_the_last_counts),
		cmocka_unit_test(blocks_at_the_peak_add_up_to_it),
		cmocka_unit_test(a_block_is_held_in_part_at_the_peak),
		cmocka_unit_test(what_its_thread_frees_at_once_is_temporary),
		cmocka_unit_test(of_a_sample_no_temporary_ones_are_known),
		cmocka_unit_test(a_sampled_block_has_its_variance),
		cmocka_unit_test(changes_add_up_to_what_is_in_use),
		cmocka_unit_test(ratios_are_of_what_a_row_has),
		cmocka_unit_test(ratios_need_both_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
