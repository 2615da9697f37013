/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deep distinct|same depth seconds
 *
 * Burns CPU time at the bottom of a call chain: of up to 600 distinct functions d000 … d599, or
 * of one recursive function. With more than 512 the stack is deeper than the recorder keeps, so
 * the recorder must report that the frames nearest the root are missing.
 */
#include "tests/synprog/truth.h"

TRUTH_BURNER(bottom)

static double burnt, wanted;

typedef void (*link_fn)(int left);
static void next_link(int index, int left);

#define LINK(n)                                                       \
	static __attribute__((noinline)) void d##n(int left)          \
	{                                                             \
		next_link(1##n - 1000 + 1, left - 1);                 \
		__asm__ volatile("" ::: "memory");                    \
	}
#define TEN(X, p) X(p##0) X(p##1) X(p##2) X(p##3) X(p##4) X(p##5) X(p##6) X(p##7) X(p##8) X(p##9)
#define HUNDRED(X, p)                                                                   \
	TEN(X, p##0) TEN(X, p##1) TEN(X, p##2) TEN(X, p##3) TEN(X, p##4) TEN(X, p##5)   \
	TEN(X, p##6) TEN(X, p##7) TEN(X, p##8) TEN(X, p##9)
#define ALL(X)                                               \
	HUNDRED(X, 0) HUNDRED(X, 1) HUNDRED(X, 2)            \
	HUNDRED(X, 3) HUNDRED(X, 4) HUNDRED(X, 5)
#define NAME(n) d##n,

ALL(LINK)

static const link_fn chain[] = { ALL(NAME) };
enum { NCHAIN = sizeof(chain) / sizeof(chain[0]) };

static __attribute__((always_inline)) inline void next_link(int index, int left)
{
	if (left > 0 && index < NCHAIN)
		chain[index](left);
	else
		bottom(&burnt, wanted);
}

static __attribute__((noinline)) void same(int left)
{
	if (left > 1)
		same(left - 1);
	else
		bottom(&burnt, wanted);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	wanted = atof(argv[3]);
	if (!strcmp(argv[1], "same"))
		same(atoi(argv[2]));
	else
		chain[0](atoi(argv[2]));
	truth_say("bottom", burnt);
	truth_say_usage("", RUSAGE_SELF);
	return 0;
}
