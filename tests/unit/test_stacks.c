/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store of stacks: what it keeps, and what it forgets when it is full. */
#include "tests/unit/drain_fixture.h"
#include "bpf/frame.h"
#include "user/record/stacks.h"

enum { STORE_PCS = ER_MAX_FRAMES, GENERATION = 1 << 20, ENOUGH = GENERATION / STORE_PCS };

struct large_stack {
	struct er_stack s;
	uint64_t pcs[STORE_PCS];
};

/* Keep ENOUGH further stacks, which fill more than a generation. */
static void keep_more(struct stacks *st, struct large_stack *r)
{
	for (uint64_t last = r->s.id + ENOUGH; r->s.id < last;) {
		r->s.id++;
		stacks_keep(st, &r->s);
	}
}

/* The store has two generations. Stacks are forgotten with the older one. */
static void test_a_full_store_forgets_the_oldest(void **state)
{
	struct large_stack r = { .s = { .nkernel = ER_MAX_KERNEL_FRAMES, .nuser = ER_MAX_USER_FRAMES } };
	struct stacks *st = stacks_new(NULL);

	stacks_keep(st, &r.s); /* id 0 */
	assert_false(stacks_resend(st));
	keep_more(st, &r);
	assert_true(stacks_resend(st)); /* the younger one became the older one */
	assert_false(stacks_resend(st));
	assert_true(stacks_has(st, 0) && stacks_has(st, 1) && stacks_has(st, r.s.id));
	keep_more(st, &r);
	assert_true(stacks_resend(st));
	assert_false(stacks_has(st, 0) || stacks_has(st, 1));
	assert_true(stacks_has(st, ENOUGH) && stacks_has(st, r.s.id));
	assert_int_equal(stacks_count(st), 1 + 2 * ENOUGH);
	stacks_restart(st);
	assert_int_equal(stacks_count(st), 0);
	stacks_free(st);
}

/* A stack that packets refer to stays, however many others come. */
static void test_a_used_stack_is_not_forgotten(void **state)
{
	struct large_stack r = { .s = { .nkernel = ER_MAX_KERNEL_FRAMES, .nuser = 0 } };
	struct fixture f;
	struct stacks *st;

	begin(&f, FOLLOW_OFF, NULL);
	st = stacks_new(f.recording);
	r.s.id = 1;
	stacks_keep(st, &r.s);
	for (int i = 0; i < 40; i++) {
		for (int k = 0; k < ENOUGH / 2; k++) {
			r.s.id++;
			stacks_keep(st, &r.s);
		}
		assert_true(stacks_write(st, recording_founder(f.recording), 1,
					 &(struct stack_shape){ 0 }));
	}
	assert_true(stacks_has(st, 1));
	assert_false(stacks_has(st, 2));
	stacks_free(st);
	experiment_close(finish(&f));
}

/* Raw stacks with equal frames: their own ids are bounded, too. */
static void test_ids_of_raw_stacks_are_forgotten(void **state)
{
	struct large_stack r = { .s = { .nkernel = 1 } };
	struct stacks *st = stacks_new(NULL);

	for (uint64_t id = 1; id < GENERATION; id++) {
		r.s.id = id;
		stacks_keep_equal(st, &r.s);
		assert_true(stacks_has(st, id));
	}
	assert_false(stacks_has(st, 1));
	assert_true(stacks_has(st, GENERATION - 1));
	stacks_free(st);
}

/* Files that frames of either generation are in, until their stacks are forgotten. */
static void test_files_of_stacks(void **state)
{
	struct large_stack r = { .s = { .id = 1, .nkernel = 1, .nuser = 2 } };
	struct stacks *st = stacks_new(NULL);

	r.s.pcs[0] = er_frame(9, 0x100); /* looks like one, but is a kernel's frame */
	r.s.pcs[1] = er_frame(5, 0x100);
	r.s.pcs[2] = 0x400100;
	stacks_keep(st, &r.s);
	assert_false(stacks_has_file(st, 5));
	stacks_look(st);
	assert_true(stacks_has_file(st, 5));
	assert_false(stacks_has_file(st, 9) || stacks_has_file(st, 0) || stacks_has_file(st, ER_MAX_FILES));
	stacks_age(st);
	assert_true(stacks_resend(st));
	r.s.id = 2;
	r.s.pcs[2] = er_frame(ER_MAX_FILES - 1, 0x100);
	stacks_keep(st, &r.s);
	stacks_look(st);
	assert_true(stacks_has_file(st, 5) && stacks_has_file(st, ER_MAX_FILES - 1));
	stacks_age(st);
	stacks_age(st);
	stacks_look(st);
	assert_false(stacks_has_file(st, 5) || stacks_has_file(st, ER_MAX_FILES - 1));
	stacks_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_full_store_forgets_the_oldest),
		cmocka_unit_test(test_a_used_stack_is_not_forgotten),
		cmocka_unit_test(test_files_of_stacks),
		cmocka_unit_test(test_ids_of_raw_stacks_are_forgotten),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
