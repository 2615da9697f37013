/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Coarse ranges of the page's timeline: which become coarse, and that sums stay. */
#include "analysis/export/page_coarse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analysis/export/page_events.h"
#include "analysis/export/page_pack.h"

enum { SPAN = 256000, STEP = 100, NEVENTS = SPAN / STEP, BUSY = 3 };

/*
 * An event every STEP microseconds, of threads 0 and 1 in turn: a clock sample, then a wait. The
 * samples of the slice BUSY represent more time than others.
 */
static void build(struct page_events *p, struct page_coarse *c)
{
	*p = (struct page_events){ 0 };
	*c = (struct page_coarse){ .begin = 0, .end = SPAN };
	vec_push(&p->classes, (struct event_class){ .state = MS_USER });
	vec_push(&p->classes, (struct event_class){ .state = MS_SLEEP });
	for (int64_t i = 0; i < NEVENTS; i++) {
		int64_t end = i * STEP;
		bool busy = end / (SPAN / COARSE_SLICES + 1) == BUSY;

		vec_push(&p->all, (struct page_event){
			.end = end, .thread = i % 2, .event_class = i / 2 % 2, .cpu = -1,
			.weight = busy ? 900 : 1, .length = i / 2 % 2 ? 7 : 0 });
	}
}

static void release(struct page_events *p, struct page_coarse *c)
{
	vec_free(&p->all);
	vec_free(&p->sums);
	vec_free(&p->classes);
	page_coarse_free(c);
}

struct sums {
	int64_t weight[2][2], n; /* by thread and class */
};

static struct sums sums_of(const struct page_events *p)
{
	struct sums ret = { 0 };

	vec_for_each(ev, &p->all) {
		ret.weight[ev->thread][ev->event_class] += ev->weight;
		ret.n += ev->merged ? ev->merged : 1;
	}
	return ret;
}

/* Events are in order, and merged ones are at the ends of ranges and nowhere else. */
static void assert_ranges(const struct page_events *p, const struct page_coarse *c)
{
	for (size_t i = 0; i < p->all.len; i++) {
		const struct page_event *ev = &p->all.data[i];
		const struct coarse_range *in = NULL;

		assert_true(!i || p->all.data[i - 1].end <= ev->end);
		vec_for_each(r, &c->ranges) {
			if (r->from <= ev->end && ev->end < r->to)
				in = r;
		}
		if (!ev->merged)
			continue;
		assert_non_null(in);
		assert_true(ev->merged > 1);
		assert_int_equal(ev->end, in->to - 1);
		assert_int_equal(ev->length, ev->event_class ? in->to - in->from : 0);
	}
}

static void test_sums_stay(void **state)
{
	static const size_t most[] = { NEVENTS - 1, NEVENTS / 2, NEVENTS / 3, 40, 4 };
	struct page_coarse c;
	struct page_events p;
	struct sums before, after;

	build(&p, &c);
	before = sums_of(&p);
	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
		assert_true(page_coarsen(&c, &p, most[i]));
		assert_in_range(p.all.len, 1, most[i]);
		after = sums_of(&p);
		assert_memory_equal(&after, &before, sizeof(after));
		assert_ranges(&p, &c);
	}
	release(&p, &c);
}

/* No more is merged than necessary, the oldest first, and a busy slice after quiet ones. */
static void test_order(void **state)
{
	struct page_coarse c;
	struct page_events p;

	build(&p, &c);
	assert_true(page_coarsen(&c, &p, NEVENTS - 20));
	assert_in_range(p.all.len, NEVENTS - 30, NEVENTS - 20);
	for (int i = 0; i < COARSE_SLICES; i++)
		assert_int_equal(c.level[i], i < BUSY || i == BUSY + 1 ? 1 : 0);
	assert_int_equal(c.ranges.data[0].from, 0);
	release(&p, &c);
}

/* Four events differ in more than time. */
static void test_least(void **state)
{
	struct page_coarse c;
	struct page_events p;
	struct pack pack = { 0 };

	build(&p, &c);
	assert_false(page_coarsen(&c, &p, 3));
	assert_int_equal(p.all.len, 4);
	assert_int_equal(c.ranges.len, 1);
	assert_int_equal(c.ranges.data[0].from, 0);
	assert_int_equal(c.ranges.data[0].to, SPAN);
	put_coarse(&pack, &c, &p);
	/* Tag and length; 4 events; the range begins at 0; its length in three bytes. */
	assert_int_equal(pack.bytes.len, 8 + 1 + 1 + 3);
	assert_int_equal(pack.bytes.data[8], 4);
	pack_free(&pack);
	release(&p, &c);
}

/* An event that differs in one thing only is not merged. */
static void test_what_differs(void **state)
{
	struct page_event same = { .end = 5, .thread = 1, .path = 2, .event_class = 0, .waker = 3,
				   .holder = 4, .waker_path = 5, .cpu = 6, .spans = 7, .weight = 1,
				   .length = 1 };
	struct page_event others[] = { same, same, same, same, same, same, same, same, same };
	struct page_coarse c = { .begin = 0, .end = 10 };
	struct page_events p = { 0 };

	others[0].thread++;
	others[1].path++;
	others[2].event_class++;
	others[3].waker++;
	others[4].holder++;
	others[5].waker_path++;
	others[6].cpu++;
	others[7].length = 0;
	others[8].spans++;
	vec_push(&p.classes, (struct event_class){ .state = MS_SLEEP });
	vec_push(&p.classes, (struct event_class){ .state = MS_USER });
	vec_push(&p.all, same);
	vec_push(&p.all, same);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		vec_push(&p.all, others[i]);
	assert_false(page_coarsen(&c, &p, 1));
	assert_int_equal(p.all.len, 10);
	/* The others stay as they are. */
	assert_memory_equal(&p.all.data[0], &others[0], sizeof(others[0]));
	assert_int_equal(p.all.data[9].merged, 2);
	release(&p, &c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_stay),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_least),
		cmocka_unit_test(test_what_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
