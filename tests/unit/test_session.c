/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/experiment/packet.h"
#include "analysis/model/addrmap.h"
#include "tests/unit/session_fixture.h"

static const struct mapping *at(struct addrmap *m, uint64_t pc, int64_t t, struct span *valid)
{
	*valid = (struct span){ INT64_MIN, INT64_MAX };
	return addrmap_find(m, pc, t, valid);
}

/*
 * A mapping is valid until it is replaced. Before its beginning a mapping is valid, too, if there
 * is none other.
 */
static void test_map_over_time(void **state)
{
	struct func f[3] = { 0 };
	struct addrmap *m = addrmap_new();
	struct span valid;

	addrmap_add(m, 10, &(struct mapping){ .vaddr = 0x1000, .size = 0x1000, .func = &f[0] });
	addrmap_add(m, 20, &(struct mapping){ .vaddr = 0x1800, .size = 0x1000, .func = &f[1] });
	addrmap_unmap(m, 30, 0x1800);
	addrmap_finish(m);
	assert_ptr_equal(at(m, 0x1000, 0, &valid)->func, &f[0]);
	assert_true(valid.from == INT64_MIN && valid.to == INT64_MAX);
	assert_ptr_equal(at(m, 0x1900, 5, &valid)->func, &f[0]);
	assert_true(valid.to == 20);
	assert_ptr_equal(at(m, 0x1900, 20, &valid)->func, &f[1]);
	assert_true(valid.from == 20 && valid.to == 30);
	assert_null(at(m, 0x1900, 30, &valid));
	assert_true(valid.from == 30);
	assert_null(at(m, 0x3000, 0, &valid));
	assert_null(at(m, 0xfff, 0, &valid));
	addrmap_free(m);
}

/*
 * A mapping was cut in two by another one. If it is unmapped at its beginning both pieces end, and
 * the other one stays.
 */
static void test_unmapping_ends_all_pieces(void **state)
{
	struct func f[2] = { 0 };
	struct addrmap *m = addrmap_new();
	struct span valid;

	addrmap_add(m, 10, &(struct mapping){ .vaddr = 0x1000, .size = 0x3000, .func = &f[0] });
	addrmap_add(m, 20, &(struct mapping){ .vaddr = 0x2000, .size = 0x1000, .func = &f[1] });
	addrmap_unmap(m, 30, 0x1000);
	addrmap_finish(m);
	assert_ptr_equal(at(m, 0x1800, 25, &valid)->func, &f[0]);
	assert_ptr_equal(at(m, 0x3800, 25, &valid)->func, &f[0]);
	assert_true(valid.to == 30);
	assert_null(at(m, 0x1800, 30, &valid));
	assert_null(at(m, 0x3800, 30, &valid));
	assert_ptr_equal(at(m, 0x2800, 40, &valid)->func, &f[1]);
	assert_ptr_equal(at(m, 0x2800, 10, &valid)->func, &f[0]);
	addrmap_free(m);
}

/* Reporting a mapping twice changes nothing. A mapping that covers the end of memory is handled. */
static void test_map_odd(void **state)
{
	struct func f = { 0 };
	struct addrmap *m = addrmap_new();
	struct span valid;

	addrmap_add(m, 10, &(struct mapping){ .vaddr = 0x1000, .size = 0x1000, .func = &f });
	addrmap_add(m, 20, &(struct mapping){ .vaddr = 0x1000, .size = 0x1000, .func = &f });
	addrmap_add(m, 20, &(struct mapping){ .vaddr = UINT64_MAX - 10, .size = 100, .func = &f });
	addrmap_add(m, 20, &(struct mapping){ .vaddr = 5, .size = 0, .func = &f });
	addrmap_unmap(m, 20, 0x9000);
	addrmap_finish(m);
	assert_ptr_equal(at(m, 0x1000, 30, &valid)->func, &f);
	assert_true(valid.from == INT64_MIN && valid.to == INT64_MAX);
	assert_non_null(at(m, UINT64_MAX - 1, 0, &valid));
	assert_null(at(m, 5, 30, &valid));
	addrmap_free(m);
}

/* Every number of mappings, at, before and behind each begin. */
static void test_map_finds_each(void **state)
{
	struct span valid;

	for (uint64_t n = 0; n < 10; n++) {
		struct addrmap *m = addrmap_new();
		struct func f[10] = { 0 };

		for (uint64_t i = 0; i < n; i++)
			addrmap_add(m, 1, &(struct mapping){ .vaddr = 100 + 20 * i, .size = 10, .func = &f[i] });
		addrmap_finish(m);
		for (uint64_t i = 0; i < n; i++) {
			assert_null(at(m, 99 + 20 * i, 1, &valid));
			assert_ptr_equal(at(m, 100 + 20 * i, 1, &valid)->func, &f[i]);
			assert_ptr_equal(at(m, 109 + 20 * i, 1, &valid)->func, &f[i]);
			assert_null(at(m, 110 + 20 * i, 1, &valid));
		}
		addrmap_free(m);
	}
}

/* With thousands of mappings on top of each other, every lookup ends with an answer. */
static void test_map_deep(void **state)
{
	struct func f[2] = { 0 };
	struct addrmap *m = addrmap_new();
	struct span valid;

	for (int i = 0; i < 20000; i++)
		addrmap_add(m, i, &(struct mapping){ .vaddr = 0x1000 + i % 7, .size = 0x1000,
						     .func = &f[i % 2] });
	addrmap_finish(m);
	assert_ptr_equal(at(m, 0x1800, 12345, &valid)->func, &f[1]);
	assert_true(valid.from == 12345 && valid.to == 12346);
	addrmap_free(m);
}

/* An address with two meanings: one recorded stack becomes two stacks of the session. */
static void test_epochs(void **state)
{
	struct expwriter *w;
	struct opened o;

	fixture_new(&o);
	w = exp_builder_writer(o.builder);
	expwriter_function(w, exp_builder_now(o.builder), 0x7000, 0x100, "before");
	exp_builder_profile(o.builder, 1, "0x7010", MS_USER, 3);
	exp_builder_sleep(o.builder, 1000000);
	expwriter_function(w, exp_builder_now(o.builder), 0x7000, 0x100, "after");
	exp_builder_profile(o.builder, 1, "0x7010", MS_USER, 5);
	fixture_open(&o);
	view_tally(&o.view);
	assert_int_equal(excl(&o, "before", "user"), 3);
	assert_int_equal(excl(&o, "after", "user"), 5);
	fixture_free(&o);
}

static void test_names(void **state)
{
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main>k:vfs_read>k:ext4`ext4_sync", MS_SYSTEM, 1);
	exp_builder_profile(o.builder, 1, "?", MS_USER, 2);
	exp_builder_profile(o.builder, 1, "...>work", MS_USER, 4);
	fixture_open(&o);
	assert_int_equal(excl(&o, "ext4`ext4_sync", "total"), 1);
	assert_int_equal(incl(&o, "vmlinux`vfs_read", "total"), 1);
	assert_int_equal(excl(&o, "<Unknown>", "total"), 2);
	assert_int_equal(excl(&o, "work", "total"), 4);
	assert_int_equal(incl(&o, "<Truncated-stack>", "total"), 4);
	assert_int_equal(excl(&o, "<Truncated-stack>", "total"), 0);
	assert_int_equal(attributed(&o, true, "<Truncated-stack>", "<Total>", "total"), 4);
	assert_true(the_func(&o, "vmlinux`vfs_read")->obj->kernel);
	fixture_free(&o);
}

static void put_stack(struct opened *o, uint64_t uid, const uint64_t *pcs, size_t n, uint64_t ticks)
{
	struct clock_packet p = { .lwp = 1, .thread = 1, .stack = uid, .state = MS_USER, .nticks = ticks,
				  .time_ns = exp_builder_now(o->builder) };

	expwriter_stack(exp_builder_writer(o->builder), uid, pcs, n);
	expwriter_clock(exp_builder_writer(o->builder), &p);
}

/* A marker's value is a marker only at a stack's end. A pc may occur twice in the first stack with it. */
static void test_pcs_are_known_by_place(void **state)
{
	struct opened o;

	fixture_new(&o);
	expwriter_function(exp_builder_writer(o.builder), exp_builder_now(o.builder), 0x7000, 0x100, "work");
	put_stack(&o, 901, (uint64_t[]){ ER_PC_TRUNCATED, 0x7010, 0x7020, 0x7010 }, 4, 1);
	put_stack(&o, 902, (uint64_t[]){ 0x7010, ER_PC_TRUNCATED }, 2, 2);
	put_stack(&o, 903, (uint64_t[]){ 0x7020, ER_PC_TRUNCATED, 0x7010 }, 3, 4);
	put_stack(&o, 904, (uint64_t[]){ 0x7020, ER_PC_UNWIND_FAILED }, 2, 8);
	fixture_open(&o);
	assert_int_equal(excl(&o, "<Unknown>", "total"), 1);
	assert_int_equal(incl(&o, "<Unknown>", "total"), 5);
	assert_int_equal(incl(&o, "<Truncated-stack>", "total"), 2);
	assert_int_equal(incl(&o, "<Stack-unwind-failed>", "total"), 8);
	assert_int_equal(excl(&o, "work", "total"), 14);
	assert_int_equal(incl(&o, "work", "total"), 15);
	fixture_free(&o);
}

/* So many that they are resolved in order of their addresses. */
enum { PCS = 100000, DEPTH = 250, PCS_FROM = 0x100000, CHANGES = 256 };

static uint64_t scattered_pc(size_t i)
{
	return PCS_FROM + i * 7919 % PCS;
}

/* The function that is at a pc, and the offset in it. */
static const char *place_of(uint64_t pc, bool later, uint64_t *offset)
{
	uint64_t at = pc - PCS_FROM;

	*offset = at < PCS / 2 ? at : at < PCS / 4 * 3 ? at - PCS / 2 : at - PCS / 4 * 3;
	if (at < PCS / 4 * 3)
		return at < PCS / 2 ? "low" : "high";
	if (at < PCS / 4 * 3 + CHANGES)
		return later ? "after" : "before";
	*offset = pc;
	return "<Unknown>";
}

static void check_places(struct opened *o, bool later)
{
	struct session *s = o->session;
	uint64_t offset;

	for (size_t i = 0; i < PCS / DEPTH; i++) {
		uint32_t id = session_resolve(s, s->experiments.data[0], i, later ? 2000000 : 0);
		const struct stack *st = &s->stacks.data[id];

		assert_int_equal(st->n, DEPTH);
		for (size_t k = 0; k < DEPTH; k++) {
			struct frame f = frame_at(s, s->stack_frames.data[st->first + k]);

			assert_string_equal(f.func->name, place_of(scattered_pc(i * DEPTH + k), later, &offset));
			assert_int_equal(f.offset, offset);
		}
	}
}

static void very_many_pcs_have_their_places(void **state)
{
	uint64_t pcs[DEPTH];
	struct expwriter *w;
	struct opened o;

	fixture_new(&o);
	w = exp_builder_writer(o.builder);
	expwriter_function(w, exp_builder_now(o.builder), PCS_FROM, PCS / 2, "low");
	expwriter_function(w, exp_builder_now(o.builder), PCS_FROM + PCS / 2, PCS / 4, "high");
	expwriter_function(w, exp_builder_now(o.builder), PCS_FROM + PCS / 4 * 3, CHANGES, "before");
	for (size_t i = 0; i < PCS; i++) {
		pcs[i % DEPTH] = scattered_pc(i);
		if (i % DEPTH == DEPTH - 1)
			put_stack(&o, 1000 + i / DEPTH, pcs, DEPTH, 1);
	}
	expwriter_function(w, BUILDER_START_NS + 1000000, PCS_FROM + PCS / 4 * 3, CHANGES, "after");
	fixture_open(&o);
	check_places(&o, false);
	check_places(&o, true);
	fixture_free(&o);
}

/* The function's share in a view mode; a stack has the interpreter, generated code and interpreted functions. */
static double share_by(const char *interpreter, const char *name, bool inclusive, enum interpreted_shown shown)
{
	enum { RUN = 0x5000, MAIN = 0x6000, LOOP = 0x7000, JITTED = 0x8000, SIZE = 0x100 };
	static const uint64_t pcs[] = { LOOP + 1, RUN + 1, JITTED + 1, LOOP + 1, MAIN + 1, LOOP + 1 };
	const struct exp_code run = { .vaddr = RUN, .size = SIZE, .name = "run", .language = "java" };
	const struct exp_code start = { .vaddr = MAIN, .size = SIZE, .name = "start", .language = "java" };
	struct expwriter *w;
	struct opened o;
	double got;

	fixture_new(&o);
	w = exp_builder_writer(o.builder);
	expwriter_function(w, BUILDER_START_NS, LOOP, SIZE, interpreter);
	expwriter_function(w, BUILDER_START_NS, JITTED, SIZE, "jitted");
	expwriter_dynamic(w, &run);
	expwriter_dynamic(w, &start);
	put_stack(&o, 1000, pcs, sizeof(pcs) / sizeof(*pcs), 1);
	fixture_open(&o);
	session_show_interpreted(o.session, shown);
	got = inclusive ? incl(&o, name, "user") : excl(&o, name, "user");
	fixture_free(&o);
	return got;
}

static double share(const char *name, bool inclusive, enum interpreted_shown shown)
{
	return share_by("<interpreter>", name, inclusive, shown);
}

/* Each frame of generated code that runs an interpreted function is shown as that function, or the reverse. */
static void interpreters_of_generated_code(void **state)
{
	assert_int_equal(share("run", false, INTERPRETED_ONLY), 1);
	assert_int_equal(share("jitted", true, INTERPRETED_ONLY), 1);
	assert_int_equal(share("start", true, INTERPRETED_ONLY), 1);
	assert_int_equal(share("<interpreter>", true, INTERPRETED_ONLY), 1); /* the last one runs nothing */
	assert_int_equal(share("<interpreter>", false, INTERPRETED_ONLY), 0);
	assert_int_equal(share("<interpreter>", false, INTERPRETED_HIDDEN), 1);
	assert_int_equal(share("jitted", true, INTERPRETED_HIDDEN), 1);
	assert_int_equal(share("run", true, INTERPRETED_HIDDEN), 0);
	assert_int_equal(share("<interpreter>", false, INTERPRETED_AND_MACHINE), 1);
	assert_int_equal(share("run", true, INTERPRETED_AND_MACHINE), 1);
	/* As the VM's own map names it. */
	assert_int_equal(share_by("Interpreter", "run", false, INTERPRETED_ONLY), 1);
	assert_int_equal(share_by("Interpreter", "jitted", true, INTERPRETED_ONLY), 1);
	assert_int_equal(share_by("Interpreter", "jitted", true, INTERPRETED_HIDDEN), 1);
}

/* If a file no longer exists, its mapping is one function, and the object has a warning. */
static void test_missing_object(void **state)
{
	struct loadobj *obj;
	struct opened o;

	fixture_new(&o);
	exp_builder_segment(o.builder, "/nonexistent/libfoo.so", 0x7f0000000000, 0x10000, 0x2000);
	exp_builder_profile(o.builder, 1, "0x7f0000000100>0x7f0000000200", MS_USER, 1);
	fixture_open(&o);
	view_tally(&o.view);
	obj = session_find_object(o.session, "libfoo.so");
	assert_non_null(obj);
	assert_ptr_equal(obj, session_find_object(o.session, "<libfoo.so>"));
	assert_int_equal(obj->diag.nwarnings, 1);
	assert_int_equal(excl(&o, "<static>@0x2000 (<libfoo.so>) --  no functions found", "user"), 1);
	fixture_free(&o);
}

/*
 * Ids are in the order of names, functions are shared, and SYSTEM counts as KCPU in a kernel
 * experiment.
 */
static void test_subs(void **state)
{
	struct exp_builder *a, *b;
	struct opened o;

	fixture_new(&o);
	b = exp_builder_sub(o.builder, "_b_PID_12.1.er", "/bin/b x", 12);
	a = exp_builder_sub(o.builder, "_a_PID_13.1.er", "/bin/a", 13);
	exp_builder_profile(a, 13, "k:read", MS_SYSTEM, 1);
	exp_builder_profile(b, 12, "k:read", MS_SYSTEM, 2);
	exp_builder_close(a);
	exp_builder_close(b);
	fixture_open(&o);
	assert_int_equal(o.session->experiments.len, 3);
	assert_string_equal(o.session->experiments.data[1]->name, "_a_PID_13.1.er");
	assert_int_equal(o.session->experiments.data[2]->id, 3);
	assert_int_equal(excl(&o, "vmlinux`read", "system"), 3);
	fixture_free(&o);
}

/* A recording that was not closed ends with its last packet, whichever part has it. */
static void test_end_of_parts(void **state)
{
	for (int closed = 0; closed < 2; closed++) {
		struct exp_builder *sub;
		struct opened o;

		fixture_new(&o);
		sub = exp_builder_sub(o.builder, "_b_PID_12.1.er", "/bin/b x", 12);
		exp_builder_profile(o.builder, 1, "main", MS_USER, 3);
		exp_builder_profile(sub, 12, "main", MS_USER, 7);
		exp_builder_abandon(sub);
		if (closed)
			exp_builder_close(o.builder);
		else
			exp_builder_abandon(o.builder);
		fixture_open_built(&o);
		assert_int_equal(o.session->experiments.data[0]->end_ns, (closed ? 3 : 7) * BUILDER_TICK_NS);
		/* The founder's warning is enough: its parts were not closed, either. */
		assert_int_equal(o.session->experiments.data[1]->diag.nwarnings, closed);
		fixture_free(&o);
	}
}

static void test_not_there(void **state)
{
	struct diag d = { 0 };
	struct session *s = session_new(&d);

	assert_int_equal(session_add(s, "/nonexistent/x.er"), -1);
	assert_int_equal(d.nerrors, 1);
	session_free(s);
	session_free(NULL);
	diag_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_over_time),  cmocka_unit_test(test_unmapping_ends_all_pieces),
		cmocka_unit_test(test_map_odd),	       cmocka_unit_test(test_map_finds_each),
		cmocka_unit_test(test_map_deep),       cmocka_unit_test(test_epochs),
		cmocka_unit_test(test_pcs_are_known_by_place),
		cmocka_unit_test(very_many_pcs_have_their_places),
		cmocka_unit_test(interpreters_of_generated_code),
		cmocka_unit_test(test_names),	       cmocka_unit_test(test_missing_object),
		cmocka_unit_test(test_subs),	       cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_end_of_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
