/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the call frame instructions of an FDE, to find which unwind rule holds from which address
 * on. Only the CFA, rbp, rsp and the return address of x86-64 code are followed. A form that no
 * er_unwind_rule can express becomes a rule with ER_CFA_BAD, never an approximation. The
 * instructions are untrusted bytes. The work is linear in their number. Nothing is allocated.
 */
#ifndef USER_UNWIND_CFI_H
#define USER_UNWIND_CFI_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/symbols/ehframe.h"
#include "bpf/unwind.h"

/* Where a register of the caller is. */
enum cfi_place_kind {
	CFI_UNSET, /* no instruction named it */
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_CFA,     /* *(CFA + off) */
	CFI_SP,      /* *(rsp + off) */
	CFI_FP,      /* *(rbp + off) */
	CFI_REG,     /* in register `reg` */
	CFI_VAL_CFA, /* it is CFA + off */
	CFI_OTHER
};

struct cfi_place {
	unsigned char kind; /* enum cfi_place_kind */
	unsigned char reg;
	int64_t off;
};

/* The rules in effect at one address, as the instructions give them. */
struct cfi_state {
	unsigned char cfa; /* enum er_cfa */
	unsigned char reg; /* DWARF number, for kinds that have a register */
	int64_t cfa_off, cfa_add;
	struct cfi_place bp, sp, ra, bx;
};

/* All zero except follow_bx, which the caller sets. */
struct cfi {
	bool follow_bx; /* rules say where rbx is */
	/* The initial rules of the CIE that was used last. */
	bool has_cie, cie_bad;
	size_t cie;
	struct cfi_state initial;
};

/* `rule` holds from address `pc` of the code on; pcs rise strictly within an FDE. */
typedef void cfi_row_fn(void *ctx, uint64_t pc, const struct er_unwind_rule *rule);

/*
 * Report the rows of the FDE in order; the first one is at its pc_begin. If an instruction cannot
 * be understood, the rest of the FDE is reported as ER_CFA_BAD. `section` is the FDE's section.
 */
void cfi_run(struct cfi *c, const struct ehframe_section *section, const struct ehframe_fde *fde,
	     cfi_row_fn *row, void *ctx);

#endif
