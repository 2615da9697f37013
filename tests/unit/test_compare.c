/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparison of groups: every array of values has the values of each group. */
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"
#include "tests/unit/session_fixture.h"

/* t.1.er has 3 + 1 ticks of user time in f and g; u.1.er has 5 in f. */
static void open_two(struct opened *o)
{
	struct exp_builder *b;
	char *path;

	fixture_new(o);
	exp_builder_profile(o->builder, 1, "main>f", MS_USER, 3);
	exp_builder_profile(o->builder, 1, "main>g", MS_USER, 1);
	b = exp_builder_new(o->dir, "u.1.er");
	exp_builder_profile(b, 1, "main>f", MS_USER, 5);
	exp_builder_close(b);
	exp_builder_close(o->builder);
	o->session = session_new(&o->diag);
	for (const char *const *name = (const char *const[]){ "t.1.er", "none.er", "u.1.er", NULL };
	     *name; name++) {
		path = xasprintf("%s/%s", o->dir, *name);
		session_add(o->session, path);
		free(path);
	}
	metric_set_init(&o->metrics, o->session);
	view_state_init(&o->view, o->session, &o->metrics);
}

static int64_t of_group(struct opened *o, const int64_t *values, size_t group)
{
	return metric_value(&metric_find(&o->metrics, "user")->groups[group], values) /
	       BUILDER_TICK_NS;
}

static void groups_have_their_own_values(void **state)
{
	struct opened o;
	const struct tally *t;
	const int64_t *f;

	open_two(&o);
	/* an experiment that could not be opened is no group */
	assert_int_equal(o.session->groups.len, 2);
	assert_int_equal(metric_set_compare(&o.metrics, o.session, COMPARE_ON, &o.diag), 0);
	view_state_changed(&o.view);
	t = view_tally(&o.view);
	f = tally_incl(t, the_func(&o, "f")->id);
	assert_int_equal(of_group(&o, f, 0), 3);
	assert_int_equal(of_group(&o, f, 1), 5);
	assert_int_equal(incl(&o, "f", "user"), 8);
	assert_int_equal(of_group(&o, t->total, 0), 4);
	assert_int_equal(of_group(&o, t->total, 1), 5);
	fixture_free(&o);
}

static void off_is_as_before(void **state)
{
	struct opened o;

	open_two(&o);
	metric_set_compare(&o.metrics, o.session, COMPARE_RATIO, &o.diag);
	assert_int_equal(metric_set_width(&o.metrics), 3 * o.metrics.all.len);
	metric_set_compare(&o.metrics, o.session, COMPARE_OFF, &o.diag);
	assert_int_equal(metric_set_width(&o.metrics), o.metrics.all.len);
	assert_int_equal(metric_find(&o.metrics, "user")->ngroups, 0);
	assert_int_equal(incl(&o, "f", "user"), 8);
	fixture_free(&o);
}

/* Function f in a list of e.user: the cells of both groups. */
static void assert_cells(enum compare how, const char *func, struct cell first, struct cell second)
{
	struct metric_list l = { 0 };
	struct table t = { 0 };
	struct opened o;
	struct row *r;
	const struct tally *tally;

	open_two(&o);
	metric_set_compare(&o.metrics, o.session, how, &o.diag);
	metric_list_parse(&o.metrics, LIST_FUNCS, "e.user", &o.diag, &l);
	columns_add(&t, &l, NULL);
	assert_int_equal(t.columns.len, 3);
	tally = view_tally(&o.view);
	r = table_row(&t);
	columns_fill(r, &l, &(struct values){ .excl = tally_excl(tally, the_func(&o, func)->id),
					      .whole = tally->total, .name = func });
	assert_int_equal(r->cells[0].kind, first.kind);
	assert_int_equal(r->cells[0].i, first.i);
	assert_int_equal(r->cells[1].kind, second.kind);
	assert_int_equal(r->cells[1].n, second.n);
	if (second.kind == CELL_TIMES)
		assert_true(r->cells[1].d == second.d);
	else
		assert_int_equal(r->cells[1].i, second.i);
	table_free(&t);
	metric_list_free(&l);
	fixture_free(&o);
}

static void columns_say_how_they_differ(void **state)
{
	struct cell three = { .kind = CELL_TIME, .i = 3 * BUILDER_TICK_NS },
		    none = { .kind = CELL_TIME };

	assert_cells(COMPARE_ON, "f", three, (struct cell){ .kind = CELL_TIME,
							    .i = 5 * BUILDER_TICK_NS });
	assert_cells(COMPARE_DELTA, "f", three, (struct cell){ .kind = CELL_TIME, .n = 1,
							       .i = 2 * BUILDER_TICK_NS });
	assert_cells(COMPARE_RATIO, "f", three, (struct cell){ .kind = CELL_TIMES, .d = 5.0 / 3 });
	assert_cells(COMPARE_RATIO, "main", none, (struct cell){ .kind = CELL_TIMES, .d = 1 });
}

static void there_is_an_end_to_columns(void **state)
{
	struct opened o;

	open_two(&o);
	for (int i = 0; i < 14; i++)
		vec_push(&o.session->groups, "x");
	assert_int_equal(metric_set_compare(&o.metrics, o.session, COMPARE_ON, &o.diag), 0);
	metric_set_compare(&o.metrics, o.session, COMPARE_OFF, &o.diag);
	vec_push(&o.session->groups, "x");
	assert_int_equal(metric_set_compare(&o.metrics, o.session, COMPARE_ON, &o.diag), -1);
	assert_int_equal(o.metrics.compare, COMPARE_OFF);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_have_their_own_values),
		cmocka_unit_test(off_is_as_before),
		cmocka_unit_test(columns_say_how_they_differ),
		cmocka_unit_test(there_is_an_end_to_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
