/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switches: two coroutines on stacks of their own call turn() by turns, from different places. Each call
 * switches to the other coroutine and returns when it is its turn again. Prints, a line each:
 *
 *	first<TAB>returns of turn() to the first coroutine
 *	second<TAB>the same to the second one
 *
 * Two calls never return. `switches FILE` begins when FILE exists.
 */
#include <fcntl.h>
#include <ucontext.h>

#include "tests/synprog/truth.h"

enum { TURNS = 1000, STACK = 1 << 16 };

static ucontext_t at_home, contexts[2];
static char stacks[2][STACK];
static long returned[2];

__attribute__((noinline)) int turn(int i)
{
	swapcontext(&contexts[i], &at_home);
	return i;
}

static void first(void)
{
	for (;;)
		returned[0] += 1 + turn(0);
}

static void second(void)
{
	for (;;) {
		int one = turn(1);

		returned[1] += one;
		returned[1] += turn(1);
	}
}

int main(int argc, char **argv)
{
	while (argc > 1 && access(argv[1], F_OK))
		usleep(1000);
	for (int i = 0; i < 2; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = STACK;
		contexts[i].uc_link = &at_home;
		makecontext(&contexts[i], i ? second : first, 0);
	}
	for (int i = 0; i < TURNS; i++)
		swapcontext(&at_home, &contexts[i % 2]);
	printf("first\t%ld\nsecond\t%ld\n", returned[0], returned[1]);
	return 0;
}
