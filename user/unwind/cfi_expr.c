/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/cfi_expr.h"

#include <dwarf.h>
#include <string.h>

#include "analysis/base/cursor.h"

/* register + off. If deref: the memory there, + add. */
struct chain {
	unsigned reg;
	bool deref;
	int64_t off, add;
};

static bool read_start(struct cursor *c, struct chain *ret)
{
	unsigned op = cursor_u8(c);

	*ret = (struct chain){ 0 };
	if (op >= DW_OP_breg0 && op <= DW_OP_breg15)
		ret->reg = op - DW_OP_breg0;
	else
		return false;
	ret->off = cursor_sleb(c);
	return !c->bad;
}

static bool read_chain(const struct ehframe_bytes *expr, struct chain *ret)
{
	struct cursor c = { .p = expr->p, .end = expr->p + expr->size };

	if (!read_start(&c, ret))
		return false;
	while (cursor_left(&c)) {
		int64_t *sum = ret->deref ? &ret->add : &ret->off;

		switch (cursor_u8(&c)) {
		case DW_OP_deref:
			if (ret->deref)
				return false;
			ret->deref = true;
			break;
		case DW_OP_plus_uconst:
			if (__builtin_add_overflow(*sum, (int64_t)cursor_uleb(&c), sum))
				return false;
			break;
		default:
			return false;
		}
	}
	return !c.bad;
}

/*
 * In a PLT entry the stack has one more word after the push:
 * rsp + 8 + ((rip & 15) >= threshold) * 8.
 */
static bool is_plt(const struct ehframe_bytes *expr, unsigned *threshold)
{
	static const unsigned char begin[] = { DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
					       DW_OP_and };
	static const unsigned char end[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	unsigned char lit;

	if (expr->size != sizeof(begin) + 1 + sizeof(end) ||
	    memcmp(expr->p, begin, sizeof(begin)) ||
	    memcmp(expr->p + sizeof(begin) + 1, end, sizeof(end)))
		return false;
	lit = expr->p[sizeof(begin)];
	*threshold = lit - DW_OP_lit0;
	return lit >= DW_OP_lit0 && *threshold <= 15;
}

/*
 * In assembly that saves its caller's stack pointer after an array: *(rsp + off + 8 * register) +
 * add.
 */
static bool is_index(const struct ehframe_bytes *expr, struct cfi_state *s)
{
	static const unsigned char middle[] = { 0, DW_OP_lit8, DW_OP_mul, DW_OP_plus, DW_OP_deref };
	struct cursor c = { .p = expr->p, .end = expr->p + expr->size };
	const unsigned char *p;
	struct chain ch;
	unsigned op;

	if (!read_start(&c, &ch) || ch.reg != ER_DWARF_RSP)
		return false;
	op = cursor_u8(&c);
	p = cursor_bytes(&c, sizeof(middle));
	if (!p || memcmp(p, middle, sizeof(middle)) || op < DW_OP_breg0 || op > DW_OP_breg15)
		return false;
	if (cursor_left(&c) && cursor_u8(&c) != DW_OP_plus_uconst)
		return false;
	s->cfa = ER_CFA_INDEX;
	s->reg = op - DW_OP_breg0;
	s->cfa_off = ch.off;
	s->cfa_add = cursor_left(&c) ? (int64_t)cursor_uleb(&c) : 0;
	return !c.bad && !cursor_left(&c);
}

void cfi_expr_cfa(struct cfi_state *s, const struct ehframe_bytes *expr)
{
	struct chain ch;
	unsigned threshold;

	if (is_index(expr, s))
		return;
	s->cfa = ER_CFA_BAD;
	if (is_plt(expr, &threshold)) {
		s->cfa = ER_CFA_PLT;
		s->cfa_off = 8;
		s->cfa_add = threshold;
		return;
	}
	if (!read_chain(expr, &ch))
		return;
	s->reg = ch.reg;
	s->cfa_off = ch.off;
	s->cfa_add = ch.add;
	if (!ch.deref)
		s->cfa = ch.reg == ER_DWARF_RSP ? ER_CFA_SP :
			 ch.reg == ER_DWARF_RBP ? ER_CFA_FP : ER_CFA_REG;
	else if (ch.reg == ER_DWARF_RSP)
		s->cfa = ER_CFA_DEREF_SP;
	else if (ch.reg == ER_DWARF_RBP)
		s->cfa = ER_CFA_DEREF_FP;
}

struct cfi_place cfi_expr_place(const struct ehframe_bytes *expr)
{
	struct chain ch;

	if (!read_chain(expr, &ch) || ch.deref)
		return (struct cfi_place){ .kind = CFI_OTHER };
	if (ch.reg == ER_DWARF_RSP)
		return (struct cfi_place){ .kind = CFI_SP, .off = ch.off };
	if (ch.reg == ER_DWARF_RBP)
		return (struct cfi_place){ .kind = CFI_FP, .off = ch.off };
	return (struct cfi_place){ .kind = CFI_OTHER };
}
