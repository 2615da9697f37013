/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/calltree.h"
#include "analysis/views/table.h"
#include "tests/unit/session_fixture.h"

static const struct tree_node *child(struct opened *o, const struct tree_node *n, const char *func)
{
	uint32_t id = the_func(o, func)->id;

	for (const struct tree_node *c = n->children; c; c = c->next) {
		if (c->func == id)
			return c;
	}
	fail_msg("no child %s", func);
	return NULL;
}

/* Recursion adds levels to the tree; each level has the time that passes through it. */
static void test_tree(void **state)
{
	const struct tree_node *main_node, *r;
	struct calltree tree;
	struct opened o;
	size_t user;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main>r>r>leaf", MS_USER, 2);
	exp_builder_profile(o.builder, 1, "main>r", MS_USER, 3);
	exp_builder_profile(o.builder, 1, "main>leaf", MS_USER, 4);
	fixture_open(&o);
	user = metric_id(&o, "user");
	calltree_init(&tree, view_tally(&o.view));
	assert_int_equal(tree.root->nchildren, 1);
	assert_int_equal(tree.root->values[user], 9 * BUILDER_TICK_NS);
	main_node = child(&o, tree.root, "main");
	assert_int_equal(main_node->nchildren, 2);
	r = child(&o, main_node, "r");
	assert_int_equal(r->values[user], 5 * BUILDER_TICK_NS);
	assert_int_equal(child(&o, child(&o, r, "r"), "leaf")->values[user], 2 * BUILDER_TICK_NS);
	assert_int_equal(child(&o, main_node, "leaf")->values[user], 4 * BUILDER_TICK_NS);
	calltree_free(&tree);
	fixture_free(&o);
}

/* Rows are in depth-first order, sorted by the metric, with a rail where a sibling follows. */
static void test_rows(void **state)
{
	static const struct {
		const char *name;
		int depth, more;
	} want[] = { { "<Total>", 0, 0 }, { "main", 1, 0 }, { "big", 2, 1 }, { "deep", 3, 0 },
		     { "alpha", 2, 1 },	  { "beta", 2, 0 } };
	struct table t = { 0 };
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "main>beta", MS_USER, 3);
	exp_builder_profile(o.builder, 1, "main>alpha", MS_USER, 3);
	exp_builder_profile(o.builder, 1, "main>big>deep", MS_USER, 5);
	exp_builder_profile(o.builder, 1, "main>asleep", MS_SLEEP, 50);
	fixture_open(&o);
	assert_int_equal(view_calltree(&o.view, &t, &o.diag), 0);
	assert_int_equal(t.rows.len, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < t.rows.len; i++) {
		const struct row *r = &t.rows.data[i];

		assert_string_equal(r->cells[t.columns.len - 1].s, want[i].name);
		assert_int_equal(r->depth, want[i].depth);
		assert_int_equal(r->more, want[i].more);
	}
	table_free(&t);
	fixture_free(&o);
}

static void test_empty(void **state)
{
	struct calltree tree;
	struct opened o;

	fixture_new(&o);
	fixture_open(&o);
	calltree_init(&tree, view_tally(&o.view));
	assert_int_equal(tree.root->nchildren, 0);
	calltree_free(&tree);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
