/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_fixtures DIR: the experiments that the golden cases report on, the same
 * bytes each time. tree.1.er is the tree of requirement T-20, one unit being
 * 10 ms; sys.1.er is a system recording with a followed process and a second;
 * rec.1.er recurses (T-21); twin.1.er has a function of the same name as sys.1.er;
 * cut.1.er was not closed; hostile.1.er has names that a terminal must not see.
 */
#include <stdio.h>

#include "analysis/base/diag.h"
#include "tests/fixtures/exp_builder.h"

enum { UNIT = 10 };

static void tree(const char *dir)
{
	static const struct {
		const char *stack;
		unsigned units;
	} stacks[] = {
		{ "main", 2 }, { "main>A>C", 2 }, { "main>A>C>E", 4 }, { "main>A>C>F", 2 },
		{ "main>A>C>F>G", 2 }, { "main>B", 5 }, { "main>B>C", 3 }, { "main>B>C>E", 6 },
		{ "main>B>C>F", 3 }, { "main>B>C>F>G", 3 },
	};
	struct exp_builder *b = exp_builder_new(dir, "tree.1.er");

	exp_builder_sample(b, "start", 0);
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		exp_builder_profile_cpu(b, i % 2 + 1, i % 2, stacks[i].stack, MS_USER,
					stacks[i].units * UNIT);
	exp_builder_sample(b, "end of run", 320000000);
	exp_builder_close(b);
}

/* Two functions `init`, and states other than user. */
static void sys(const char *dir)
{
	struct exp_builder *b = exp_builder_new_kernel(dir, "sys.1.er"), *sub;

	exp_builder_sample(b, "start", 0);
	exp_builder_profile_cpu(b, 1, 0, "k:entry_SYSCALL_64>k:do_syscall_64>k:vfs_read",
				MS_KERNEL_CPU, 300);
	exp_builder_profile_cpu(b, 2, 1, "k:kthread>k:init", MS_KERNEL_CPU, 150);
	exp_builder_profile_cpu(b, 2, 1, "k:kthread>k:ext4`init", MS_KERNEL_CPU, 50);
	exp_builder_sleep(b, 600000000);
	exp_builder_sample(b, "first", 500000000);
	exp_builder_profile_cpu(b, 3, 1, "...>?", MS_KERNEL_CPU, 10);
	exp_builder_sample(b, "second", 510000000);
	sub = exp_builder_sub(b, "_work_PID_12.1.er", "./work hard", 12);
	exp_builder_profile(sub, 12, "main>work>k:entry_SYSCALL_64>k:do_syscall_64>k:vfs_read",
			    MS_SYSTEM, 40);
	exp_builder_profile(sub, 12, "main>work", MS_USER, 160);
	exp_builder_close(sub);
	exp_builder_close(b);
}

static void recursion(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "rec.1.er");

	exp_builder_profile(b, 1, "main>r>r>r", MS_USER, 1);
	exp_builder_close(b);
}

/* Another `work` than that of sys.1.er. */
static void twin(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "twin.1.er");

	exp_builder_profile(b, 1, "main>boss>work", MS_USER, 7);
	exp_builder_close(b);
}

static void cut(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "cut.1.er");

	exp_builder_profile(b, 1, "main>work", MS_USER, 5);
	exp_builder_abandon(b);
}

static void hostile(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "hostile.1.er");

	exp_builder_profile(b, 1, "main>\033]0;owned\007", MS_USER, 5);
	exp_builder_profile(b, 1, "main>a,\"b\"", MS_USER, 3);
	exp_builder_profile(b, 1, "main>r\xc3\xa9sum\xc3\xa9", MS_USER, 2);
	exp_builder_close(b);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_fixtures DIR\n");
		return 2;
	}
	tree(argv[1]);
	sys(argv[1]);
	recursion(argv[1]);
	twin(argv[1]);
	cut(argv[1]);
	hostile(argv[1]);
	return 0;
}
