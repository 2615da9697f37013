/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blind seconds
 *
 * Burns CPU time in code that has neither unwind information nor a frame pointer, so that the
 * stack cannot be walked beyond it. Its symbol has no size, so its code is not read either.
 */
#include "tests/synprog/truth.h"

enum { ROUNDS = 100000 };

void blind(uint64_t rounds);

__asm__(".text\n"
	".globl blind\n"
	".type blind, @function\n"
	"blind:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	mov $1, %ebp\n"
	"1:	dec %rdi\n"
	"	jnz 1b\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n");

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, began = truth_thread_cpu();

	while (truth_thread_cpu() - began < seconds)
		blind(ROUNDS);
	return 0;
}
