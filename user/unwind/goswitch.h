/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where Go's runtime runs functions on the thread's own stack, and where it then keeps the
 * goroutine's stack pointer (bpf/unwind_go.h). Both are read from the code of the runtime's few
 * functions that do so, which is assembly: the distances in its records differ between versions of
 * Go. Only an exact match counts; a program whose runtime looks different has no such rules. The
 * bytes are untrusted. Source of the code: Go's runtime/asm_amd64.s and sys_linux_amd64.s.
 */
#ifndef USER_UNWIND_GOSWITCH_H
#define USER_UNWIND_GOSWITCH_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* Distances in the runtime's records. Zero: not known. */
struct goswitch {
	int32_t g;           /* from the thread block */
	uint16_t m, curg;    /* in g, in m */
	uint8_t sp;          /* in g */
};

/* Read the distances from the code of runtime.systemstack. */
void goswitch_learn(struct goswitch *s, const unsigned char *p, size_t n);

/* The part of a function's code in which the goroutine's stack pointer is kept. */
struct goswitch_part {
	size_t from, to; /* distances from the function's beginning */
	bool returns;    /* the function's own rules hold before and behind it, up to the return */
	struct er_unwind_rule rule;
};

/* False: the function does not change stacks in a known way. */
bool goswitch_find(const struct goswitch *s, const char *name, const unsigned char *p, size_t n,
		   struct goswitch_part *ret);

#endif
