/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an instruction does to rsp and rbp. Made for assembly without unwind information (asmcode.h):
 * an instruction is refused if what it does to rsp cannot be told from its bytes. An instruction that
 * names rbp counts as one that changes it. Source: Intel 64 and IA-32 Architectures Software
 * Developer's Manual, volume 2.
 */
#ifndef USER_UNWIND_STACKOP_H
#define USER_UNWIND_STACKOP_H

#include <stdbool.h>
#include <stdint.h>

#include "user/unwind/insn.h"

struct stackop {
	int64_t grows;          /* bytes that it adds to the stack; below 0: that it removes */
	bool push_bp, pop_bp;   /* it is push %rbp or pop %rbp */
	bool names_bp;          /* another one, which may change rbp */
	bool stops;             /* it traps */
	bool calls;             /* a call to insn.target */
};

/* False: refused. */
bool stackop_of(const struct insn *in, struct stackop *ret);

#endif
