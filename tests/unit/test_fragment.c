/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callers and callees of functions that called each other. */
#include "analysis/metrics/fragment.h"
#include "tests/unit/session_fixture.h"

/* The names, outermost first, with blanks between them. */
static void fragment_of(struct opened *o, const char *names, struct fragment *ret)
{
	char *copy = xstrdup(names), *rest = copy, *name;
	func_vec funcs = { 0 };

	while ((name = strsep(&rest, " ")))
		vec_push(&funcs, the_func(o, name));
	fragment_init(ret, view_tally(&o->view), funcs.data, funcs.len);
	vec_free(&funcs);
	free(copy);
}

static int64_t ticks(struct opened *o, const int64_t *values)
{
	return values[metric_id(o, "user")] / BUILDER_TICK_NS;
}

/* What that neighbour hands on; -1: it is none. */
static int64_t of(struct opened *o, const edge_vec *edges, const char *name)
{
	uint32_t id = the_func(o, name)->id;

	vec_for_each(e, edges) {
		if (e->neighbour == id)
			return ticks(o, e->values);
	}
	return -1;
}

static void open_tree(struct opened *o)
{
	fixture_new(o);
	exp_builder_profile(o->builder, 1, "main>a>f>g", MS_USER, 1);
	exp_builder_profile(o->builder, 1, "main>b>f>g", MS_USER, 2);
	exp_builder_profile(o->builder, 1, "main>b>f>g>h", MS_USER, 4);
	exp_builder_profile(o->builder, 1, "main>b>f", MS_USER, 8);
	exp_builder_profile(o->builder, 1, "main>g>f", MS_USER, 16);
	fixture_open(o);
}

static void pieces_stand_in_order(void **state)
{
	struct fragment f;
	struct opened o;

	open_tree(&o);
	fragment_of(&o, "f g", &f);
	assert_int_equal(of(&o, &f.callers, "a"), 1);
	assert_int_equal(of(&o, &f.callers, "b"), 6);
	assert_int_equal(f.callers.len, 2);
	assert_int_equal(of(&o, &f.callees, "h"), 4);
	assert_int_equal(f.callees.len, 1);
	assert_int_equal(ticks(&o, f.self), 3);
	assert_int_equal(ticks(&o, f.total), 7);
	fragment_free(&f);
	fragment_of(&o, "b f g", &f);
	assert_int_equal(of(&o, &f.callers, "main"), 6);
	assert_int_equal(ticks(&o, f.self), 2);
	fragment_free(&f);
	fragment_of(&o, "a h", &f);
	assert_int_equal(f.callers.len + f.callees.len, 0);
	assert_int_equal(ticks(&o, f.total), 0);
	fragment_free(&f);
	fixture_free(&o);
}

/* The root's caller is <Total>. */
static void stacks_end_somewhere(void **state)
{
	struct fragment f;
	struct opened o;

	open_tree(&o);
	fragment_of(&o, "main b", &f);
	assert_int_equal(f.callers.len, 1);
	assert_int_equal(f.callers.data[0].neighbour, o.session->total->id);
	assert_int_equal(ticks(&o, f.callers.data[0].values), 14);
	fragment_free(&f);
	fixture_free(&o);
}

/* Of one function they are what edges are (S-005), with recursion, too. */
static void one_function_is_its_panel(void **state)
{
	struct fragment f;
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main>r>r>r", MS_USER, 3);
	exp_builder_profile(o.builder, 1, "main>r>s", MS_USER, 5);
	fixture_open(&o);
	fragment_of(&o, "r", &f);
	assert_int_equal(of(&o, &f.callers, "r"), attributed(&o, true, "r", "r", "user"));
	assert_int_equal(of(&o, &f.callers, "main"), attributed(&o, true, "r", "main", "user"));
	assert_int_equal(of(&o, &f.callees, "r"), attributed(&o, false, "r", "r", "user"));
	assert_int_equal(of(&o, &f.callees, "s"), 5);
	assert_int_equal(ticks(&o, f.self), excl(&o, "r", "user"));
	assert_int_equal(ticks(&o, f.total), incl(&o, "r", "user"));
	fragment_free(&f);
	/* nearest the leaf */
	fragment_of(&o, "r r", &f);
	assert_int_equal(of(&o, &f.callers, "r"), 3);
	assert_int_equal(of(&o, &f.callers, "main"), 0);
	assert_int_equal(ticks(&o, f.total), 3);
	fragment_free(&f);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_stand_in_order),
		cmocka_unit_test(stacks_end_somewhere),
		cmocka_unit_test(one_function_is_its_panel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
