/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callers and callees: of functions that called each other, and of all functions at once. */
#include "analysis/metrics/callers.h"

#include "analysis/metrics/calls.h"
#include "tests/unit/session_fixture.h"

struct asked {
	struct opened opened;
	struct callers sums;
};

static void asked_open(struct asked *a)
{
	fixture_open(&a->opened);
	callers_init(&a->sums, view_tally(&a->opened.view));
}

static void asked_free(struct asked *a)
{
	callers_free(&a->sums);
	fixture_free(&a->opened);
}

/* The names, outermost first, with blanks between them. */
static const struct callers *ask(struct asked *a, const char *names)
{
	char *copy = xstrdup(names), *rest = copy, *name;
	func_vec funcs = { 0 };

	while ((name = strsep(&rest, " ")))
		vec_push(&funcs, the_func(&a->opened, name));
	callers_find(&a->sums, funcs.data, funcs.len);
	vec_free(&funcs);
	free(copy);
	return &a->sums;
}

static int64_t ticks(struct asked *a, const int64_t *values)
{
	return values[metric_id(&a->opened, "user")] / BUILDER_TICK_NS;
}

/* The attributed value of a caller or callee; -1: it is not one. */
static int64_t of(struct asked *a, const struct neighbours *side, const char *name)
{
	uint32_t id = the_func(&a->opened, name)->id;

	for (size_t i = 0; i < side->funcs.len; i++) {
		if (side->funcs.data[i] == id)
			return ticks(a, neighbour_values(&a->sums, side, i));
	}
	return -1;
}

static void open_tree(struct asked *a)
{
	fixture_new(&a->opened);
	exp_builder_profile(a->opened.builder, 1, "main>a>f>g", MS_USER, 1);
	exp_builder_profile(a->opened.builder, 1, "main>b>f>g", MS_USER, 2);
	exp_builder_profile(a->opened.builder, 1, "main>b>f>g>h", MS_USER, 4);
	exp_builder_profile(a->opened.builder, 1, "main>b>f", MS_USER, 8);
	exp_builder_profile(a->opened.builder, 1, "main>g>f", MS_USER, 16);
	asked_open(a);
}

static void pieces_stand_in_order(void **state)
{
	const struct callers *f;
	struct asked a;

	open_tree(&a);
	f = ask(&a, "f g");
	assert_int_equal(of(&a, &f->callers, "a"), 1);
	assert_int_equal(of(&a, &f->callers, "b"), 6);
	assert_int_equal(f->callers.funcs.len, 2);
	assert_int_equal(of(&a, &f->callees, "h"), 4);
	assert_int_equal(f->callees.funcs.len, 1);
	assert_int_equal(ticks(&a, f->self), 3);
	assert_int_equal(ticks(&a, f->total), 7);
	f = ask(&a, "b f g");
	assert_int_equal(of(&a, &f->callers, "main"), 6);
	assert_int_equal(of(&a, &f->callers, "a"), -1);
	assert_int_equal(ticks(&a, f->self), 2);
	f = ask(&a, "a h");
	assert_int_equal(f->callers.funcs.len + f->callees.funcs.len, 0);
	assert_int_equal(ticks(&a, f->total), 0);
	asked_free(&a);
}

/* The caller of the root function is <Total>. */
static void stacks_end_somewhere(void **state)
{
	const struct callers *f;
	struct asked a;

	open_tree(&a);
	f = ask(&a, "main b");
	assert_int_equal(f->callers.funcs.len, 1);
	assert_int_equal(f->callers.funcs.data[0], a.opened.session->total->id);
	assert_int_equal(ticks(&a, neighbour_values(f, &f->callers, 0)), 14);
	asked_free(&a);
}

/* <Total> calls the outermost functions and includes all time. */
static void total_calls_the_roots(void **state)
{
	const struct callers *f;
	struct asked a;

	fixture_new(&a.opened);
	exp_builder_profile(a.opened.builder, 1, "main>a", MS_USER, 1);
	exp_builder_profile(a.opened.builder, 1, "start>main", MS_USER, 2);
	exp_builder_profile(a.opened.builder, 1, "main>main", MS_USER, 4);
	asked_open(&a);
	callers_find(&a.sums, &a.opened.session->total, 1);
	f = &a.sums;
	assert_int_equal(f->callers.funcs.len, 0);
	assert_int_equal(f->callees.funcs.len, 2);
	assert_int_equal(of(&a, &f->callees, "main"), 5);
	assert_int_equal(of(&a, &f->callees, "start"), 2);
	assert_int_equal(ticks(&a, f->self), 7);
	assert_int_equal(ticks(&a, f->total), 7);
	asked_free(&a);
}

/* A function that was created after the tally has no time. */
static void what_is_new_has_no_neighbours(void **state)
{
	struct func late = { 0 }, *piece = &late;
	struct asked a;

	open_tree(&a);
	late.id = view_tally(&a.opened.view)->nfuncs;
	ask(&a, "f");
	callers_find(&a.sums, &piece, 1);
	assert_int_equal(a.sums.callers.funcs.len + a.sums.callees.funcs.len, 0);
	asked_free(&a);
}

/* An experiment with stacks but without data (found by libFuzzer). */
static void neighbours_are_known_without_metrics(void **state)
{
	struct diag d = { 0 };
	struct session *nothing = session_new(&d);
	struct metric_set none;
	struct callers f;
	struct calls c;
	struct asked a;
	struct tally *t;

	metric_set_init(&none, nothing);
	assert_int_equal(metric_set_width(&none), 0);
	open_tree(&a);
	t = tally_new(a.opened.session, &none, NULL);
	callers_init(&f, t);
	callers_find(&f, &a.opened.session->total, 1);
	assert_int_equal(f.callees.funcs.len, 1);
	assert_int_equal(f.callees.funcs.data[0], the_func(&a.opened, "main")->id);
	callers_free(&f);
	calls_init(&c, t);
	assert_int_equal(c.all.len, 9);
	calls_free(&c);
	tally_free(t);
	asked_free(&a);
	metric_set_free(&none);
	session_free(nothing);
	diag_free(&d);
}

/* In a recursion the frame nearest the leaf gets all of the time, the others nothing. */
static void recursion_counts_once(void **state)
{
	const struct callers *f;
	struct asked a;

	fixture_new(&a.opened);
	exp_builder_profile(a.opened.builder, 1, "main>r>r>r", MS_USER, 3);
	exp_builder_profile(a.opened.builder, 1, "main>r>s", MS_USER, 5);
	asked_open(&a);
	f = ask(&a, "r");
	assert_int_equal(of(&a, &f->callers, "r"), 3);
	assert_int_equal(of(&a, &f->callers, "main"), 5);
	assert_int_equal(of(&a, &f->callees, "r"), 0);
	assert_int_equal(of(&a, &f->callees, "s"), 5);
	assert_int_equal(ticks(&a, f->self), excl(&a.opened, "r", "user"));
	assert_int_equal(ticks(&a, f->total), incl(&a.opened, "r", "user"));
	f = ask(&a, "r r");
	assert_int_equal(of(&a, &f->callers, "r"), 3);
	assert_int_equal(of(&a, &f->callers, "main"), 0);
	assert_int_equal(ticks(&a, f->total), 3);
	asked_free(&a);
}

/* The calls on one side of a function are its neighbours, with the same values. */
static void assert_same(const struct calls *c, const struct callers *f, uint32_t func, bool callers)
{
	const struct neighbours *side = callers ? &f->callers : &f->callees;
	const struct tally *t = c->tally;
	int64_t *values = xcalloc(t->nmetrics, sizeof(*values));
	size_t n;
	const uint32_t *calls = calls_of(callers ? &c->by_callee : &c->by_caller, func, &n);

	assert_int_equal(n, side->funcs.len);
	for (size_t i = 0; i < n; i++) {
		const struct call *call = &c->all.data[calls[i]];
		size_t k = 0;

		while (k < n && side->funcs.data[k] != (callers ? call->caller : call->callee))
			k++;
		assert_true(k < n);
		memset(values, 0, t->nmetrics * sizeof(*values));
		tally_add(t, values, callers ? caller_values(c, calls[i]) :
					       callee_values(c, calls[i]));
		assert_memory_equal(values, neighbour_values(f, side, k),
				    t->nmetrics * sizeof(*values));
	}
	free(values);
}

static void assert_all_the_same(struct asked *a)
{
	struct calls c;

	calls_init(&c, view_tally(&a->opened.view));
	for (uint32_t id = 0; id < c.tally->nfuncs; id++) {
		struct func *func = a->opened.session->funcs.data[id];

		callers_find(&a->sums, &func, 1);
		assert_same(&c, &a->sums, id, true);
		assert_same(&c, &a->sums, id, false);
		assert_memory_equal(a->sums.self, tally_excl(c.tally, id),
				    c.tally->nmetrics * sizeof(*a->sums.self));
		assert_memory_equal(a->sums.total, tally_incl(c.tally, id),
				    c.tally->nmetrics * sizeof(*a->sums.total));
	}
	calls_free(&c);
}

/* Of every function, with recursion of all kinds, and in more states than a stack has room for. */
static void calls_are_the_callers_of_all(void **state)
{
	static const char *const stacks[] = {
		"main>r>r>r", "main>r>s", "main>s>r>s>r", "r>main>r", "s", "main", "main>s>s",
		"main>a>b>a>b>c",
	};
	struct asked a;

	fixture_new(&a.opened);
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		for (int ms = 0; ms < MS_COUNT; ms++)
			exp_builder_profile(a.opened.builder, 1, stacks[i], ms, 1 + i * 100 + ms);
	}
	asked_open(&a);
	assert_true(view_tally(&a.opened.view)->met.len > 4);
	assert_all_the_same(&a);
	asked_free(&a);
}

/* Functions of an object that is not shown in full are merged, so their calls are not made. */
static void calls_are_those_shown(void **state)
{
	static const char *const stacks[] = {
		"main>k:a>k:b>k:c", "r>k:b>k:c", "main>r>k:c>k:a>k:b", "k:a>k:b", "main>r>s>k:a", "k:a",
	};
	static const enum show shows[] = { SHOW_HIDE, SHOW_API, SHOW_ALL };

	for (size_t how = 0; how < sizeof(shows) / sizeof(shows[0]); how++) {
		struct asked a;

		fixture_new_kernel(&a.opened);
		for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
			exp_builder_profile(a.opened.builder, 1, stacks[i], MS_SYSTEM, 1 + i);
		fixture_open(&a.opened);
		view_tally(&a.opened.view);
		the_func(&a.opened, "vmlinux`a")->obj->show = shows[how];
		view_state_changed(&a.opened.view);
		callers_init(&a.sums, view_tally(&a.opened.view));
		assert_all_the_same(&a);
		asked_free(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_stand_in_order),
		cmocka_unit_test(stacks_end_somewhere),
		cmocka_unit_test(total_calls_the_roots),
		cmocka_unit_test(what_is_new_has_no_neighbours),
		cmocka_unit_test(neighbours_are_known_without_metrics),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(calls_are_the_callers_of_all),
		cmocka_unit_test(calls_are_those_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
