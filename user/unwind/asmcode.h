/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind rules of functions that have a symbol and no entry, read from their code. Such functions are
 * written in assembly: big numbers (libgmp), codecs, musl. All paths through a function are followed
 * from its beginning, where the return address is at rsp and rbp is the caller's. A function has rules
 * only if everything in it is understood: each instruction is known, no jump has an unknown target, all
 * paths to an instruction agree, and each return finds the stack as it was. Other functions stay
 * without rules. The code is untrusted; the work is linear in its size.
 */
#ifndef USER_UNWIND_ASMCODE_H
#define USER_UNWIND_ASMCODE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

enum { ASMCODE_BYTES = 8192 }; /* of the largest function that is read */

/* `rule` holds from byte `at` of the function on; they rise strictly. It may be ER_CFA_NO_ENTRY. */
typedef void asmcode_row_fn(void *ctx, uint64_t at, const struct er_unwind_rule *rule);

/* Report the rules of the function with these bytes. False, and no rules: it is not understood. */
bool asmcode_rules(const unsigned char *code, size_t n, asmcode_row_fn *row, void *ctx);

#endif
