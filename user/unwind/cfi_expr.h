/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognizes the DWARF expressions in unwind information of x86-64: a register plus an offset,
 * the memory at that address, and the expression of PLT entries. Others are reported as such;
 * nothing is evaluated.
 */
#ifndef USER_UNWIND_CFI_EXPR_H
#define USER_UNWIND_CFI_EXPR_H

#include <stdbool.h>

#include "user/unwind/cfi.h"

/* Set the CFA of `s` to the value of the expression. If it has another form, set ER_CFA_BAD. */
void cfi_expr_cfa(struct cfi_state *s, const struct ehframe_bytes *expr);
/* Where a register was saved. The expression gives the address. CFI_OTHER: another form. */
struct cfi_place cfi_expr_place(const struct ehframe_bytes *expr);

#endif
