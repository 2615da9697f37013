/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits that the ends of segments divide: each part has the length and the end of its whole wait. */
#include "analysis/metrics/filter.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/pass.h"
#include "analysis/metrics/timeline.h"
#include "analysis/views/table.h"
#include "tests/unit/waitviews_fixture.h"

enum { SEGMENTS = 3, SEGMENT = 1000, WAKER = 9, HOLDER = 8 };
enum {
	FROM_BEFORE = WFLAG_TRACED | WFLAG_OPEN_START | WFLAG_CONTINUED,
	TO_NEXT = WFLAG_TRACED | WFLAG_OPEN_END,
};

/* Times in ms. What hits say of each: the length, the flags, and whether WAKER woke the thread. */
struct part {
	int segment, thread, begin, end;
	enum er_mstate state;
	uint32_t flags;
	int length;
	uint32_t said;
	bool woken;
};

static const struct part parts[] = {
	/* Through three segments. It began before the first one, and the last part tells its end. */
	{ 0, 1, 500, 1000, MS_SLEEP, TO_NEXT | WFLAG_OPEN_START, 2000,
	  WFLAG_TRACED | WFLAG_OPEN_START | WFLAG_WAKER_IRQ | WFLAG_GOES_ON, true },
	{ 1, 1, 1000, 2000, MS_SLEEP, FROM_BEFORE | WFLAG_OPEN_END, 2000,
	  FROM_BEFORE | WFLAG_WAKER_IRQ | WFLAG_GOES_ON, true },
	{ 2, 1, 2000, 2500, MS_SLEEP, FROM_BEFORE | WFLAG_WAKER_IRQ, 2000, FROM_BEFORE | WFLAG_WAKER_IRQ, true },
	/* What continues it begins too late. */
	{ 0, 2, 900, 1000, MS_SLEEP, TO_NEXT, 100, TO_NEXT, false },
	{ 1, 2, 1200, 1300, MS_SLEEP, FROM_BEFORE, 100, FROM_BEFORE, true },
	/* … is in another state. */
	{ 0, 3, 900, 1000, MS_SLEEP, TO_NEXT, 100, TO_NEXT, false },
	{ 1, 3, 1000, 1300, MS_USER_LOCK, FROM_BEFORE, 300, FROM_BEFORE, true },
	/* … is a wait of its own. */
	{ 0, 4, 900, 1000, MS_SLEEP, TO_NEXT, 100, TO_NEXT, false },
	{ 1, 4, 1000, 1300, MS_SLEEP, WFLAG_TRACED, 300, WFLAG_TRACED, true },
	/* The first part was chosen by a sample point. It is still known to be one wait. */
	{ 0, 7, 995, 1000, MS_SLEEP, WFLAG_OPEN_END, 1005, WFLAG_TRACED | WFLAG_GOES_ON, true },
	{ 1, 7, 1000, 2000, MS_SLEEP, FROM_BEFORE, 1005, WFLAG_TRACED | WFLAG_CONTINUED, true },
	{ 0, 6, 900, 1000, MS_SLEEP, TO_NEXT, 100, TO_NEXT, false },
	{ 1, 6, 1000, 2000, MS_SLEEP, TO_NEXT, 1000, TO_NEXT, false },
	/* A part whose weight is in two packets counts once, and times may be some milliseconds off. */
	{ 0, 5, 400, 1000, MS_USER_LOCK, TO_NEXT, 750, WFLAG_TRACED | WFLAG_GOES_ON, true },
	{ 0, 5, 400, 1000, MS_USER_LOCK, TO_NEXT | WFLAG_CONTINUED | WFLAG_MORE, 750,
	  WFLAG_TRACED | WFLAG_CONTINUED | WFLAG_MORE | WFLAG_GOES_ON, true },
	{ 1, 5, 1030, 1180, MS_USER_LOCK, FROM_BEFORE, 750, WFLAG_TRACED | WFLAG_CONTINUED, true },
	{ 1, 5, 1030, 1180, MS_USER_LOCK, FROM_BEFORE | WFLAG_MORE, 750,
	  WFLAG_TRACED | WFLAG_CONTINUED | WFLAG_MORE, true },
};

enum { NPARTS = sizeof(parts) / sizeof(parts[0]) };

static bool ends_here(const struct part *p)
{
	return !(p->flags & WFLAG_OPEN_END);
}

static void put_part(struct exp_builder *b, const struct part *p)
{
	struct wait_info info = {
		.reason = REASON_POLL, .syscall = -1, .flags = p->flags,
		.length_ns = (uint64_t)(p->end - p->begin) * MS,
	};

	if (ends_here(p)) {
		info.waker = WAKER;
		info.holder = HOLDER;
		info.holder_pid = info.waker_pid = 10;
		info.waker_stack = exp_builder_stack(b, "main>give");
	}
	exp_builder_at(b, (uint64_t)p->begin * MS);
	exp_builder_wait_of(b, 10, p->thread, ends_here(p) ? "main>call>take" : "main>take", p->state, p->end - p->begin, &info);
}

static void record(const struct opened *o, int segment)
{
	__cleanup(freep) char *name = xasprintf("t.%d.er", segment + 1);
	__cleanup(freep) char *recorder = xasprintf("<recorder version=\"0\" pid=\"1\" first_ns=\"%llu\"/>",
						    (unsigned long long)BUILDER_START_NS);
	struct exp_builder *founder = exp_builder_new_kernel_later(o->dir, name, (uint64_t)segment * SEGMENT * MS);
	struct exp_builder *sub = exp_builder_sub_states(founder, "_app_PID_10.1.er", "app", 10, STATES_ALL);

	expwriter_text(exp_builder_writer(founder), "recorder.xml", recorder);
	for (size_t i = 0; i < NPARTS; i++) {
		if (parts[i].segment == segment)
			put_part(sub, &parts[i]);
	}
	/* The CPU time that was not sampled is given to the end of the segment. */
	if (!segment) {
		exp_builder_at(sub, (uint64_t)(SEGMENT - 1) * MS);
		exp_builder_wait_of(sub, 10, 1, "main>work", MS_USER, 1, NULL);
	}
	exp_builder_close(sub);
	exp_builder_close(founder);
}

static void open_segments(struct opened *o, int n)
{
	*o = (struct opened){ .dir = "/tmp/er_unit_XXXXXX" };
	assert_non_null(mkdtemp(o->dir));
	for (int i = 0; i < SEGMENTS; i++)
		record(o, i);
	fixture_open_built(o);
	for (int i = 1; i < n; i++) {
		__cleanup(freep) char *path = xasprintf("%s/t.%d.er", o->dir, i + 1);

		assert_int_equal(session_add(o->session, path), 0);
	}
	session_join(o->session, false);
}

static const char *leaf_name(const struct session *s, uint32_t stack)
{
	return frame_func(s, s->stack_frames.data[s->stacks.data[stack].first])->name;
}

static void check_hit(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	uint32_t *met = ctx;

	if (!hit_is_wait(h))
		return;
	for (size_t i = 0; i < NPARTS; i++) {
		const struct part *p = &parts[i];

		if (hit_thread(h) != p->thread || hit_time(h) != (int64_t)p->end * MS || *met >> i & 1)
			continue;
		*met |= 1U << i;
		assert_int_equal(hit_wait_length(h), (int64_t)p->length * MS);
		assert_int_equal(hit_part_length(h), (int64_t)(p->end - p->begin) * MS);
		assert_int_equal(hit_wait_flags(h), p->said);
		/* The stack of the last part is longer, and all parts have it. */
		assert_int_equal(h->session->stacks.data[h->stack].n, p->woken ? 3 : 2);
		assert_int_equal(hit_waker(h), p->woken ? WAKER : 0);
		assert_int_equal(hit_waker_pid(h), p->woken ? 10 : 0);
		assert_int_equal(hit_holder(h), p->woken ? HOLDER : 0);
		assert_int_equal(hit_holder_pid(h), p->woken ? 10 : 0);
		assert_string_equal(leaf_name(h->session, hit_waker_stack(h)), p->woken ? "give" : "<Unknown>");
		return;
	}
	fail_msg("a packet of thread %d at %lld", (int)hit_thread(h), (long long)hit_time(h));
}

static void test_parts_have_what_the_wait_has(void **state)
{
	uint32_t met = 0;
	struct opened o;

	open_segments(&o, SEGMENTS);
	pass_run(o.session, &o.metrics, NULL, check_hit, NULL, &met);
	assert_int_equal(met, (1U << NPARTS) - 1);
	fixture_free(&o);
}

static void note_longest(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	int64_t *longest = ctx, length = hit_wait_length(h);

	*longest = hit_thread(h) == 1 && length > *longest ? length : *longest;
}

/* Parts in segments that are not open are not known. */
static void test_open_segments_only(void **state)
{
	static const int known[] = { 500, 1500, 2000 };

	for (int n = 1; n <= SEGMENTS; n++) {
		int64_t longest = 0;
		struct opened o;

		open_segments(&o, n);
		pass_run(o.session, &o.metrics, NULL, note_longest, NULL, &longest);
		assert_int_equal(longest, (int64_t)known[n - 1] * MS);
		session_join(o.session, true);
		longest = 0;
		pass_run(o.session, &o.metrics, NULL, note_longest, NULL, &longest);
		assert_int_equal(longest, (int64_t)(n > 1 ? 1000 : 500) * MS); /* compared, each is a recording */
		fixture_free(&o);
	}
}

enum { COUNT = 3, MEAN = 5, LONGEST = 6, DECADES = 7 };

/* The first part counts as the wait, with the whole length; the others add their time. */
static void test_statistics(void **state)
{
	struct table t = { 0 };
	const struct row *r;
	struct opened o;

	open_segments(&o, SEGMENTS);
	o.view.filter = filter_parse(o.session, NULL, "THRID == 1", &o.diag);
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	r = row_of(&t, "poll");
	assert_int_equal(r->cells[0].i, (int64_t)2000 * MS);
	assert_int_equal(r->cells[COUNT].i, 1);
	assert_int_equal(r->cells[MEAN].i, (int64_t)2000 * MS);
	assert_int_equal(r->cells[LONGEST].i, (int64_t)2000 * MS);
	assert_string_equal(r->cells[DECADES].s, "0 0 0 0 0 0 0 1 0");
	table_free(&t);
	filter_free(o.view.filter);
	/* Of the second and third part nothing counts, and the wait is still known to be that long. */
	t = (struct table){ 0 };
	o.view.filter = filter_parse(o.session, NULL, "THRID == 1 && TSTAMP > 1500000000", &o.diag);
	assert_int_equal(view_waits(&o.view, &t, &o.diag), 0);
	r = row_of(&t, "poll");
	assert_int_equal(r->cells[0].i, (int64_t)1500 * MS);
	assert_int_equal(r->cells[COUNT].kind, CELL_BLANK);
	assert_int_equal(r->cells[LONGEST].i, (int64_t)2000 * MS);
	table_free(&t);
	filter_free(o.view.filter);
	o.view.filter = NULL;
	fixture_free(&o);
}

static void test_longest_names_each_wait_once(void **state)
{
	static const int lengths[] = { 2000, 1005, 1000, 750, 300, 300, 100, 100, 100, 100, 100 };
	struct table t = { 0 };
	struct opened o;

	open_segments(&o, SEGMENTS);
	assert_int_equal(view_longest(&o.view, &t, &o.diag), 0);
	assert_int_equal(t.rows.len, sizeof(lengths) / sizeof(lengths[0]));
	for (size_t i = 0; i < t.rows.len; i++)
		assert_int_equal(t.rows.data[i].cells[1].i, (int64_t)lengths[i] * MS);
	assert_int_equal(t.rows.data[0].cells[0].i, (int64_t)500 * MS);
	table_free(&t);
	fixture_free(&o);
}

static void collect(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	timelines_add(ctx, h);
}

static const struct timeline *read_timeline(struct opened *o, struct timelines *tl, int thread)
{
	pass_run(o->session, &o->metrics, o->view.filter, collect, NULL, tl);
	timelines_sort(tl);
	timelines_join(tl);
	return timeline_of(tl, o->session->experiments.data[0]->origin, thread);
}

static void test_an_activity_is_whole(void **state)
{
	struct timelines tl = { 0 };
	const struct timeline *t;
	struct opened o;

	open_segments(&o, SEGMENTS);
	t = read_timeline(&o, &tl, 1);
	assert_int_equal(t->acts.len, 2);
	assert_int_equal(t->acts.data[0].state, MS_USER); /* they are in the order of their ends */
	assert_int_equal(t->acts.data[1].begin, (int64_t)500 * MS);
	assert_int_equal(t->acts.data[1].end, (int64_t)2500 * MS);
	assert_int_equal(t->acts.data[1].weight, (int64_t)2000 * MS);
	assert_int_equal(t->acts.data[1].flags, WFLAG_TRACED | WFLAG_OPEN_START | WFLAG_WAKER_IRQ);
	t = timeline_of(&tl, t->origin, 5);
	assert_int_equal(t->acts.len, 1);
	assert_int_equal(t->acts.data[0].weight, (int64_t)1500 * MS);
	assert_int_equal(timeline_of(&tl, t->origin, 4)->acts.len, 2);
	timelines_free(&tl);
	/* A filter leaves out the last part: nothing ended the rest. */
	tl = (struct timelines){ 0 };
	o.view.filter = filter_parse(o.session, NULL, "TSTAMP <= 2000000000", &o.diag);
	t = read_timeline(&o, &tl, 1);
	assert_int_equal(t->acts.len, 2);
	assert_int_equal(t->acts.data[1].end, (int64_t)2000 * MS);
	assert_true(t->acts.data[1].flags & WFLAG_OPEN_END);
	timelines_free(&tl);
	filter_free(o.view.filter);
	o.view.filter = NULL;
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_have_what_the_wait_has),
		cmocka_unit_test(test_open_segments_only),
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_longest_names_each_wait_once),
		cmocka_unit_test(test_an_activity_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
