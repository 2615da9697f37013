/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An instruction is a row of `instructions`: its operands, and its effect on the state. Each
 * instruction that advances the address first reports the state, if it differs from the last
 * reported one. The instructions are defined in DWARF 5, 6.4.2; the differences of .eh_frame are in
 * the System V ABI for x86-64 and the LSB.
 */
#include "user/unwind/cfi.h"

#include <dwarf.h>
#include <limits.h>
#include <string.h>

#include "analysis/base/cursor.h"
#include "user/unwind/cfi_expr.h"

enum {
	REMEMBERED = 32,     /* states that can be remembered at a time; compilers nest two */
	CIE_BYTES_MAX = 256, /* initial instructions are run for many FDEs; real ones have 10 */
	PRIMARY = 0xc0,      /* the opcode's bits of an instruction with its operand inside */
	OFF_MAX = 1 << 30,   /* limit of an offset, so that sums cannot overflow */
	BX_SLOTS = 63,       /* words below the CFA in which a rule can place rbx */
};

struct run {
	const struct ehframe_section *section;
	const struct ehframe_cie *cie;
	bool follow_bx;
	struct cursor c;
	const struct cfi_state *initial; /* NULL: these are the initial instructions */
	struct cfi_state s, remembered[REMEMBERED];
	unsigned nremembered;
	uint64_t pc, pc_end;
	struct er_unwind_rule last;
	bool has_last;
	cfi_row_fn *row;
	void *ctx;
};

enum operand { NONE, LOW6, U8, U16, U32, ULEB, SLEB, POINTER, BLOCK };

struct operands {
	int64_t a, b;
	struct ehframe_bytes block;
};

/* --- from the state to a rule --- */

static bool fits(int64_t v, int64_t most)
{
	return v >= -most && v < most;
}

static void set_cfa(struct er_unwind_rule *r, const struct cfi_state *s)
{
	r->cfa = s->cfa;
	r->cfa_off = s->cfa_off;
	r->cfa_add = s->cfa_add;
	if (s->cfa == ER_CFA_REG || s->cfa == ER_CFA_INDEX)
		r->reg |= s->reg & 15;
	if (!fits(s->cfa_off, OFF_MAX) || !fits(s->cfa_add, SHRT_MAX) ||
	    (s->cfa == ER_CFA_REG && s->reg > 15))
		r->cfa = ER_CFA_BAD;
}

static void set_bp(struct er_unwind_rule *r, const struct cfi_place *p)
{
	static const signed char kinds[] = {
		[CFI_UNSET] = ER_BP_SAME, [CFI_SAME] = ER_BP_SAME, [CFI_UNDEFINED] = ER_BP_LOST,
		[CFI_CFA] = ER_BP_CFA,	  [CFI_SP] = ER_BP_SP,	   [CFI_FP] = ER_BP_FP,
		[CFI_REG] = ER_BP_REG,	  [CFI_VAL_CFA] = -1,	   [CFI_OTHER] = -1,
	};

	r->bp_off = p->kind == CFI_REG ? p->reg : p->off;
	if (kinds[p->kind] < 0 || !fits(p->off, OFF_MAX) || p->reg > 15)
		r->cfa = ER_CFA_BAD;
	else
		r->bp = kinds[p->kind];
}

static void set_ra(struct er_unwind_rule *r, const struct cfi_place *p)
{
	static const signed char kinds[] = {
		[CFI_UNSET] = -1,      [CFI_SAME] = -1,	    [CFI_UNDEFINED] = ER_RA_NONE,
		[CFI_CFA] = ER_RA_CFA, [CFI_SP] = ER_RA_SP, [CFI_FP] = ER_RA_FP,
		[CFI_REG] = ER_RA_REG, [CFI_VAL_CFA] = -1,  [CFI_OTHER] = -1,
	};

	r->ra_off = p->off;
	if (p->kind == CFI_REG)
		r->reg |= (p->reg & 15) << 4;
	if (kinds[p->kind] < 0 || !fits(p->off, SHRT_MAX) || p->reg > 15)
		r->cfa = ER_CFA_BAD;
	else
		r->ra = kinds[p->kind];
}

static void set_bx(struct er_unwind_rule *r, const struct cfi_place *p)
{
	int64_t slot = -p->off / 8;

	if (p->kind == CFI_UNSET || p->kind == CFI_SAME)
		r->flags |= ER_RULE_BX_SAME;
	else if (p->kind == CFI_CFA && p->off % 8 == 0 && slot > 0 && slot <= BX_SLOTS)
		r->flags |= slot << ER_RULE_BX_SHIFT;
}

/* The caller's rsp must be the CFA, because a walk assumes it. */
static bool sp_is_cfa(const struct cfi_state *s)
{
	switch (s->sp.kind) {
	case CFI_UNSET:
		return true;
	case CFI_VAL_CFA:
		return !s->sp.off;
	case CFI_SP:
		return s->cfa == ER_CFA_DEREF_SP && s->sp.off == s->cfa_off && !s->cfa_add;
	default:
		return false;
	}
}

static struct er_unwind_rule rule_of(const struct run *r)
{
	struct er_unwind_rule rule = { 0 };

	if (r->cie->signal_frame)
		rule.flags = ER_RULE_SIGNAL;
	set_cfa(&rule, &r->s);
	set_bp(&rule, &r->s.bp);
	set_ra(&rule, &r->s.ra);
	if (r->s.ra.kind == CFI_UNDEFINED) /* the end of the stack, whatever the other rules say */
		return (struct er_unwind_rule){ .cfa = ER_CFA_SP, .ra = ER_RA_NONE };
	if (rule.cfa == ER_CFA_BAD || rule.cfa == ER_CFA_NO_ENTRY || !sp_is_cfa(&r->s))
		return (struct er_unwind_rule){ .cfa = ER_CFA_BAD };
	if (r->follow_bx)
		set_bx(&rule, &r->s.bx);
	return rule;
}

static void report(struct run *r, const struct er_unwind_rule *rule)
{
	if (r->has_last && !memcmp(rule, &r->last, sizeof(*rule)))
		return;
	r->row(r->ctx, r->pc, rule);
	r->last = *rule;
	r->has_last = true;
}

/* --- effects of instructions; false: not understood --- */

static bool advance_to(struct run *r, uint64_t pc)
{
	struct er_unwind_rule rule;

	if (pc == r->pc)
		return true;
	if (!r->initial || pc < r->pc)
		return false;
	rule = rule_of(r);
	report(r, &rule);
	r->pc = pc < r->pc_end ? pc : r->pc_end;
	return true;
}

static bool do_advance(struct run *r, const struct operands *o)
{
	uint64_t by;

	return !__builtin_mul_overflow((uint64_t)o->a, r->cie->code_align, &by) &&
	       by <= UINT64_MAX - r->pc && advance_to(r, r->pc + by);
}

static bool do_set_loc(struct run *r, const struct operands *o)
{
	return advance_to(r, o->a);
}

static bool do_nothing(struct run *r, const struct operands *o)
{
	return true;
}

/* The state's field for a register; NULL: the register is not followed. */
static struct cfi_place *place_of(struct cfi_state *s, int64_t reg)
{
	switch (reg) {
	case ER_DWARF_RBP:
		return &s->bp;
	case ER_DWARF_RSP:
		return &s->sp;
	case ER_DWARF_RIP:
		return &s->ra;
	case ER_DWARF_RBX:
		return &s->bx;
	default:
		return NULL;
	}
}

static bool put(struct run *r, int64_t reg, struct cfi_place place)
{
	struct cfi_place *p = place_of(&r->s, reg);

	if (p)
		*p = place;
	return true;
}

static bool put_scaled(struct run *r, const struct operands *o, enum cfi_place_kind kind, int sign)
{
	int64_t off;

	if (!place_of(&r->s, o->a))
		return true;
	if (__builtin_mul_overflow(o->b, r->cie->data_align, &off) || !fits(off, OFF_MAX))
		return put(r, o->a, (struct cfi_place){ .kind = CFI_OTHER });
	return put(r, o->a, (struct cfi_place){ .kind = kind, .off = sign * off });
}

static bool do_offset(struct run *r, const struct operands *o)
{
	return put_scaled(r, o, CFI_CFA, 1);
}

static bool do_offset_negative(struct run *r, const struct operands *o)
{
	return put_scaled(r, o, CFI_CFA, -1);
}

static bool do_val_offset(struct run *r, const struct operands *o)
{
	return put_scaled(r, o, CFI_VAL_CFA, 1);
}

static bool do_restore(struct run *r, const struct operands *o)
{
	struct cfi_state initial;

	if (!r->initial)
		return false;
	initial = *r->initial;
	if (place_of(&initial, o->a))
		put(r, o->a, *place_of(&initial, o->a));
	return true;
}

static bool do_undefined(struct run *r, const struct operands *o)
{
	return put(r, o->a, (struct cfi_place){ .kind = CFI_UNDEFINED });
}

static bool do_same(struct run *r, const struct operands *o)
{
	return put(r, o->a, (struct cfi_place){ .kind = CFI_SAME });
}

static bool do_register(struct run *r, const struct operands *o)
{
	unsigned char reg = o->b >= 0 && o->b < ER_DWARF_RIP ? o->b : ER_DWARF_RIP;

	return put(r, o->a, (struct cfi_place){ .kind = CFI_REG, .reg = reg });
}

static bool do_expression(struct run *r, const struct operands *o)
{
	return put(r, o->a, cfi_expr_place(&o->block));
}

static bool do_val_expression(struct run *r, const struct operands *o)
{
	return put(r, o->a, (struct cfi_place){ .kind = CFI_OTHER });
}

static bool do_remember(struct run *r, const struct operands *o)
{
	if (r->nremembered == REMEMBERED)
		return false;
	r->remembered[r->nremembered++] = r->s;
	return true;
}

static bool do_restore_state(struct run *r, const struct operands *o)
{
	if (!r->nremembered)
		return false;
	r->s = r->remembered[--r->nremembered];
	return true;
}

static bool set_cfa_reg(struct run *r, int64_t reg)
{
	r->s.reg = reg >= 0 && reg < ER_DWARF_RIP ? reg : ER_DWARF_RIP;
	r->s.cfa = reg == ER_DWARF_RSP ? ER_CFA_SP : reg == ER_DWARF_RBP ? ER_CFA_FP : ER_CFA_REG;
	r->s.cfa_add = 0;
	return true;
}

static bool do_def_cfa(struct run *r, const struct operands *o)
{
	r->s.cfa_off = o->b;
	return set_cfa_reg(r, o->a);
}

static bool do_def_cfa_sf(struct run *r, const struct operands *o)
{
	if (__builtin_mul_overflow(o->b, r->cie->data_align, &r->s.cfa_off))
		return false;
	return set_cfa_reg(r, o->a);
}

/* These two change one half of "register + offset", so the CFA must have that form. */
static bool cfa_is_sum(const struct run *r)
{
	return r->s.cfa == ER_CFA_SP || r->s.cfa == ER_CFA_FP || r->s.cfa == ER_CFA_REG;
}

static bool do_def_cfa_register(struct run *r, const struct operands *o)
{
	return cfa_is_sum(r) && set_cfa_reg(r, o->a);
}

static bool do_def_cfa_offset(struct run *r, const struct operands *o)
{
	r->s.cfa_off = o->a;
	return cfa_is_sum(r);
}

static bool do_def_cfa_offset_sf(struct run *r, const struct operands *o)
{
	return cfa_is_sum(r) && !__builtin_mul_overflow(o->a, r->cie->data_align, &r->s.cfa_off);
}

static bool do_def_cfa_expression(struct run *r, const struct operands *o)
{
	cfi_expr_cfa(&r->s, &o->block);
	return true;
}

/* --- instructions --- */

struct instruction {
	unsigned char a, b; /* enum operand */
	bool (*act)(struct run *r, const struct operands *o);
};

static const struct instruction primary[] = {
	[DW_CFA_advance_loc >> 6] = { LOW6, NONE, do_advance },
	[DW_CFA_offset >> 6] = { LOW6, ULEB, do_offset },
	[DW_CFA_restore >> 6] = { LOW6, NONE, do_restore },
};

static const struct instruction instructions[64] = {
	[DW_CFA_nop] = { NONE, NONE, do_nothing },
	[DW_CFA_set_loc] = { POINTER, NONE, do_set_loc },
	[DW_CFA_advance_loc1] = { U8, NONE, do_advance },
	[DW_CFA_advance_loc2] = { U16, NONE, do_advance },
	[DW_CFA_advance_loc4] = { U32, NONE, do_advance },
	[DW_CFA_offset_extended] = { ULEB, ULEB, do_offset },
	[DW_CFA_restore_extended] = { ULEB, NONE, do_restore },
	[DW_CFA_undefined] = { ULEB, NONE, do_undefined },
	[DW_CFA_same_value] = { ULEB, NONE, do_same },
	[DW_CFA_register] = { ULEB, ULEB, do_register },
	[DW_CFA_remember_state] = { NONE, NONE, do_remember },
	[DW_CFA_restore_state] = { NONE, NONE, do_restore_state },
	[DW_CFA_def_cfa] = { ULEB, ULEB, do_def_cfa },
	[DW_CFA_def_cfa_register] = { ULEB, NONE, do_def_cfa_register },
	[DW_CFA_def_cfa_offset] = { ULEB, NONE, do_def_cfa_offset },
	[DW_CFA_def_cfa_expression] = { BLOCK, NONE, do_def_cfa_expression },
	[DW_CFA_expression] = { ULEB, BLOCK, do_expression },
	[DW_CFA_offset_extended_sf] = { ULEB, SLEB, do_offset },
	[DW_CFA_def_cfa_sf] = { ULEB, SLEB, do_def_cfa_sf },
	[DW_CFA_def_cfa_offset_sf] = { SLEB, NONE, do_def_cfa_offset_sf },
	[DW_CFA_val_offset] = { ULEB, ULEB, do_val_offset },
	[DW_CFA_val_offset_sf] = { ULEB, SLEB, do_val_offset },
	[DW_CFA_val_expression] = { ULEB, BLOCK, do_val_expression },
	[DW_CFA_GNU_args_size] = { ULEB, NONE, do_nothing },
	[DW_CFA_GNU_negative_offset_extended] = { ULEB, ULEB, do_offset_negative },
};

static int64_t read_pointer(struct run *r)
{
	size_t at = r->c.p - r->section->data;
	uint64_t v = 0;

	if (!ehframe_pointer(r->section, r->cie->pointer, r->cie->addr_size, &at, &v) ||
	    at > (size_t)(r->c.end - r->section->data))
		r->c.bad = true;
	else
		r->c.p = r->section->data + at;
	return v;
}

static int64_t read_operand(struct run *r, unsigned kind, unsigned op, struct operands *o)
{
	switch (kind) {
	case LOW6:
		return op & ~PRIMARY;
	case U8:
		return cursor_u8(&r->c);
	case U16:
		return cursor_u16(&r->c);
	case U32:
		return cursor_u32(&r->c);
	case ULEB:
		return cursor_uleb(&r->c);
	case SLEB:
		return cursor_sleb(&r->c);
	case POINTER:
		return read_pointer(r);
	case BLOCK:
		o->block.size = cursor_uleb(&r->c);
		o->block.p = cursor_bytes(&r->c, o->block.size);
		return 0;
	default:
		return 0;
	}
}

/*
 * Run to the end of the instructions or of the FDE's code. False: an instruction was not
 * understood.
 */
static bool run(struct run *r, const struct ehframe_bytes *code)
{
	r->c = (struct cursor){ .p = code->p, .end = code->p + code->size,
				.swap = r->section->swap };
	while (cursor_left(&r->c) && (!r->initial || r->pc < r->pc_end)) {
		unsigned op = cursor_u8(&r->c);
		const struct instruction *in =
			op & PRIMARY ? &primary[op >> 6] : &instructions[op];
		struct operands o = { 0 };

		if (!in->act)
			return false;
		o.a = read_operand(r, in->a, op, &o);
		o.b = read_operand(r, in->b, op, &o);
		if (r->c.bad || !in->act(r, &o))
			return false;
	}
	return true;
}

static void run_cie(struct cfi *c, struct run *r)
{
	const struct ehframe_cie *cie = r->cie;

	c->has_cie = true;
	c->cie = cie->offset;
	c->cie_bad = true;
	if (cie->return_reg != ER_DWARF_RIP || cie->instructions.size > CIE_BYTES_MAX ||
	    !run(r, &cie->instructions))
		return;
	c->initial = r->s;
	c->cie_bad = false;
}

void cfi_run(struct cfi *c, const struct ehframe_section *section, const struct ehframe_fde *fde,
	     cfi_row_fn *row, void *ctx)
{
	static const struct er_unwind_rule bad = { .cfa = ER_CFA_BAD };
	struct er_unwind_rule rule = bad;
	struct run r;

	r.section = section;
	r.cie = fde->cie;
	r.follow_bx = c->follow_bx;
	r.initial = NULL;
	r.s = (struct cfi_state){ 0 };
	r.nremembered = 0;
	r.pc = fde->pc_begin;
	r.pc_end = fde->pc_end;
	r.has_last = false;
	r.row = row;
	r.ctx = ctx;
	if (!c->has_cie || c->cie != fde->cie->offset)
		run_cie(c, &r);
	r.initial = &c->initial;
	r.s = c->initial;
	r.nremembered = 0;
	if (!c->cie_bad && run(&r, &fde->instructions))
		rule = rule_of(&r);
	if (r.pc < r.pc_end)
		report(&r, &rule);
}
