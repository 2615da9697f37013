/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of generated code: from a process's perf map, through the worker, into its experiment. */
#include "tests/unit/runtime_fixture.h"

static void test_mentioned_are_written(void **state)
{
	const struct exp_map *f;
	struct runtime r;

	start(&r, "/bin/none");
	put(&r, "w", "7f0000001000 100 before\n7f0000002000 100 never\n7f0000003000 40 after\n"
		     "7f0000100000 100 elsewhere\n");
	mention(&r, 0x10ff);
	mention(&r, 0x2100);
	mention(&r, CODE_BYTES + 1); /* not generated code */
	look(&r, SECOND);
	mention(&r, 0x3000);
	mention(&r, 0x303f);
	look(&r, 2 * SECOND);
	read_back(&r);
	f = the(&r, "before");
	assert_int_equal(f->vaddr, CODE + 0x1000);
	assert_int_equal(f->size, 0x100);
	assert_int_equal(f->time_ns, 0);
	assert_non_null(written(&r, "after"));
	assert_null(written(&r, "never"));
	assert_null(written(&r, "elsewhere"));
	assert_int_equal(r.f.drops.n[DROP_NAMES], 0);
	end(&r);
}

/* What a look did not find is younger than that look. */
static void test_dates(void **state)
{
	struct runtime r;

	start(&r, "/bin/none");
	put(&r, "w", "7f0000001000 100 old\n");
	mention(&r, 0x1000);
	mention(&r, 0x2000);
	look(&r, 5 * SECOND);
	put(&r, "a", "7f0000001080 100 new\n7f00000020");
	look(&r, 5 * SECOND + 1); /* too early */
	put(&r, "a", "00 1 half\n");
	mention(&r, 0x1080);
	look(&r, 6 * SECOND);
	mention(&r, 0x1010); /* a late record of the old function */
	read_back(&r);
	assert_int_equal(the(&r, "old")->time_ns, 0);
	assert_int_equal(the(&r, "new")->time_ns, 5 * SECOND - 1000);
	assert_int_equal(the(&r, "half")->time_ns, 5 * SECOND - 1000);
	end(&r);
}

/* When the function at this address was removed, since the experiment began; 0: never. Once at most. */
static int64_t removed(const struct runtime *r, uint64_t vaddr)
{
	int64_t found = 0;

	vec_for_each(m, &r->sub->maps) {
		if (m->what != EXP_MAP_UNMAP || m->vaddr != vaddr)
			continue;
		assert_int_equal(found, 0);
		found = m->time_ns;
	}
	return found;
}

/* Functions that the collector API removes, before and after they are written, and those in their place. */
static void test_removed(void **state)
{
	struct runtime r;

	start(&r, "/bin/none");
	put(&r, "w", "7f0000001000 100 written\n7f0000002000 100 unwritten\n7f0000003000 100 stays\n"
		     "7f0000004000 100 again\n");
	mention(&r, 0x1000);
	mention(&r, 0x4000);
	look(&r, 5 * SECOND);
	put(&r, "a", "7f0000001000 131794000\n7f0000002000 13c8e0c00\n7f0000001000 80 new\n"
		     "7f0000004000 147d357ff\n7f0000004000 100 again\n7f0000005000 100 short\n"
		     "7f0000005000 ffffffffffffff00\n7f0000003010 147d357ff\n");
	mention(&r, 0x5000);
	look(&r, 6 * SECOND);
	mention(&r, 0x1000);
	mention(&r, 0x2000); /* late records of an old function */
	mention(&r, 0x3000);
	read_back(&r);
	assert_int_equal(removed(&r, CODE + 0x1000), 0x131794000 - 1000);
	assert_int_equal(removed(&r, CODE + 0x2000), 0x13c8e0c00 - 1000);
	assert_int_equal(the(&r, "new")->time_ns, 0x13c8e0c00 - 1000 + 1);
	assert_int_equal(the(&r, "short")->time_ns, 0x147d357ff - 1000 + 1);
	assert_int_equal(removed(&r, CODE + 0x4000), 0x147d357ff - 1000);
	assert_true(removed(&r, CODE + 0x5000) > 5 * (int64_t)SECOND); /* no time that is yet to come */
	assert_int_equal(removed(&r, CODE + 0x3010) + removed(&r, CODE + 0x3000), 0);
	assert_non_null(written(&r, "unwritten"));
	end(&r);
}

/* A function that was replaced before a stack with it was written. */
static void test_replaced(void **state)
{
	struct runtime r;

	start(&r, "/bin/none");
	put(&r, "w", "7f0000001000 100 old\n");
	mention(&r, 0x5000);
	look(&r, SECOND);
	put(&r, "a", "7f0000001000 100 new\n");
	look(&r, 2 * SECOND);
	mention(&r, 0x1010);
	read_back(&r);
	assert_int_equal(the(&r, "old")->time_ns, 0);
	assert_int_equal(the(&r, "new")->time_ns, SECOND - 1000);
	end(&r);
}

/* jcmd writes the whole map again: what is the same keeps its date. */
static void test_rewritten(void **state)
{
	struct runtime r;

	start(&r, "/bin/none");
	put(&r, "w", "7f0000001000 100 same\n");
	mention(&r, 0x1000);
	look(&r, SECOND);
	put(&r, "w", "7f0000004000 100 more\n7f0000001000 100 same\n");
	mention(&r, 0x4000);
	look(&r, 2 * SECOND);
	read_back(&r);
	assert_int_equal(the(&r, "same")->time_ns, 0);
	assert_int_equal(the(&r, "more")->time_ns, SECOND - 1000);
	end(&r);
}

/* The process ends, its map is complete only then, and /proc has nothing more of it. */
static void test_after_the_end(void **state)
{
	struct runtime r;

	start(&r, "/bin/none");
	mention(&r, 0x1000);
	put(&r, "w", "7f0000001000 100 last\n");
	kill(r.pid, SIGKILL);
	waitpid(r.pid, NULL, 0);
	happens(&r, PROC_EXIT, SECOND, NULL);
	look(&r, 1); /* long before the next look is due */
	jit_names_forget(r.j, r.im);
	read_back(&r);
	assert_non_null(written(&r, "last"));
	end(&r);
}

static void test_pseudo_names_are_ours(void **state)
{
	struct runtime r;

	start(&r, "/bin/none");
	put(&r, "w", "7f0000001000 100 <IDLE>\n7f0000002000 100 \x1b[2J\xff\n");
	mention(&r, 0x1000);
	mention(&r, 0x2000);
	look(&r, SECOND);
	read_back(&r);
	assert_null(written(&r, "<IDLE>"));
	assert_non_null(written(&r, "jit:<IDLE>"));
	assert_non_null(written(&r, "\x1b[2J\xff"));
	end(&r);
}

/* Without a map, or beside it, the runtime's code has one name; unknown code has none. */
static void test_runtime(void **state)
{
	const struct exp_map *f;
	struct runtime r;

	start(&r, "/usr/bin/node");
	put(&r, "w", "7f0000001000 100 known\n");
	mention(&r, 0x1000);
	mention(&r, 0x2000);
	look(&r, SECOND);
	read_back(&r);
	f = the(&r, "<JavaScript>");
	assert_int_equal(f->vaddr, CODE + 0x2000);
	assert_int_equal(f->size, 1);
	assert_non_null(written(&r, "known"));
	end(&r);

	start(&r, "/usr/bin/nodes");
	mention(&r, 0x1000);
	look(&r, SECOND);
	read_back(&r);
	assert_null(written(&r, "<JavaScript>"));
	end(&r);

	start(&r, "/usr/lib/libjvm.so");
	mention(&r, 0x1000);
	look(&r, SECOND);
	read_back(&r);
	assert_non_null(written(&r, "<Java>"));
	end(&r);
}

/* A map that must not be read is counted once. */
static void test_refused(void **state)
{
	struct runtime r;

	start(&r, "/bin/none");
	assert_int_equal(symlink("/etc/passwd", r.path), 0);
	mention(&r, 0x1000);
	look(&r, SECOND);
	look(&r, LATER);
	read_back(&r);
	assert_int_equal(r.f.drops.n[DROP_NAMES], 1);
	end(&r);
}

/* 50,000 functions are many pieces. In the next segment all are written that are mentioned there. */
static void test_many(void **state)
{
	enum { FUNCTIONS = 50000, STEP = 16 };
	struct buf b = { 0 };
	struct runtime r;

	start(&r, "/bin/none");
	for (int i = 0; i < FUNCTIONS; i++)
		buf_printf(&b, "%llx %x Lorg/example/application/Class%d;::method\n", CODE + i * STEP,
			   STEP, i);
	put(&r, "w", b.data);
	buf_free(&b);
	mention(&r, 0);
	mention(&r, (FUNCTIONS - 1) * STEP);
	look(&r, SECOND);
	jit_names_restart(r.j);
	mention(&r, FUNCTIONS / 2 * STEP);
	look(&r, LATER);
	read_back(&r);
	the(&r, "Lorg/example/application/Class0;::method");
	the(&r, "Lorg/example/application/Class49999;::method");
	the(&r, "Lorg/example/application/Class25000;::method");
	assert_null(written(&r, "Lorg/example/application/Class1;::method"));
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mentioned_are_written),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_removed),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_rewritten),
		cmocka_unit_test(test_after_the_end),
		cmocka_unit_test(test_pseudo_names_are_ours),
		cmocka_unit_test(test_runtime),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
