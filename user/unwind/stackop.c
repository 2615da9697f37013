/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/stackop.h"

enum { RSP = 4, RBP = 5, SLOT = 8 };

/* Opcodes with one of these instead of a register in ModRM.reg. */
static bool reg_is_digit(const struct insn_parts *p)
{
	if (p->vector)
		return false; /* some are, and count as registers */
	if (p->map == 1)
		return p->op == 0xae || p->op == 0xba || p->op == 0xc7 || (p->op >= 0x18 && p->op <= 0x1f) ||
		       p->op == 0x0d || (p->op >= 0x90 && p->op <= 0x9f) || p->op == 0x00 || p->op == 0x01;
	if (p->map)
		return false;
	return (p->op >= 0x80 && p->op <= 0x83) || p->op == 0xc0 || p->op == 0xc1 || p->op == 0xc6 || p->op == 0xc7 ||
	       (p->op >= 0xd0 && p->op <= 0xd3) || p->op == 0xf6 || p->op == 0xf7 || p->op >= 0xfe;
}

/*
 * Whether an opcode behind 0f has only vectors, masks or registers of MMX. Instructions that move such a
 * register to a general one do not count.
 */
static bool is_vector_0f(const struct insn_parts *p)
{
	uint8_t op = p->op;

	if (op == 0x2c || op == 0x2d || op == 0x50 || op == 0x7e || op == 0xc5 || op == 0xd7)
		return false;
	if (p->vector)
		return op < 0x41 || (op > 0x4b && op < 0x90) || op > 0x99;
	return (op >= 0x10 && op <= 0x17) || (op >= 0x28 && op <= 0x2f) || (op >= 0x51 && op <= 0x7f) || op == 0xc2 ||
	       op == 0xc6 || (op >= 0xd0 && op <= 0xfe);
}

/* Whether its registers are no general ones. */
static bool is_vector(const struct insn_parts *p)
{
	switch (p->map) {
	case 0:
		return p->op >= 0xd8 && p->op <= 0xdf; /* x87 */
	case 1:
		return is_vector_0f(p);
	case 2:
		return p->op < 0xf0 || p->op > 0xf7;
	case 3:
		return p->op != 0xf0 && (p->op < 0x14 || p->op > 0x17);
	default:
		return true;
	}
}

/* Whether the register is an operand; in memory operands it is only read. */
static bool names(const struct insn_parts *p, uint8_t reg)
{
	if (is_vector(p) || (!p->has_modrm && p->third != reg))
		return false;
	return p->third == reg || (p->reg == reg && !reg_is_digit(p)) || (p->rm == reg && p->mod == 3);
}

/* push and pop of a register in the opcode. */
static bool push_or_pop(const struct insn_parts *p, struct stackop *ret)
{
	bool pop = p->op >= 0x58;

	ret->grows = pop ? -SLOT : SLOT;
	ret->push_bp = !pop && p->rm == RBP;
	ret->pop_bp = pop && p->rm == RBP;
	return !p->operand16 && !(pop && p->rm == RSP);
}

/* mov of a constant, xchg with rax, bswap: the register is in the opcode. */
static bool register_in_opcode(const struct insn_parts *p, struct stackop *ret)
{
	ret->names_bp = p->rm == RBP;
	return p->rm != RSP;
}

/* add or sub of a constant and rsp */
static bool moves_sp(const struct insn_parts *p, struct stackop *ret)
{
	bool is = !p->map && !p->vector && (p->op == 0x81 || p->op == 0x83) && p->mod == 3 && p->rm == RSP && p->wide &&
		  (p->digit == 0 || p->digit == 5);

	if (is)
		ret->grows = p->digit ? p->immediate : -p->immediate;
	return is;
}

/* inc, dec, call, jmp or push by the digit; insn.kind tells a jump. */
static bool group_ff(const struct insn_parts *p, struct stackop *ret)
{
	ret->grows = p->digit == 6 ? SLOT : 0;
	return p->digit < 3 || (p->digit == 6 && !p->operand16);
}

/* Opcodes of one byte that do something to rsp beyond their operands. False: refused. */
static bool one_byte(const struct insn_parts *p, struct stackop *ret)
{
	switch (p->op) {
	case 0x50 ... 0x5f:
		return push_or_pop(p, ret);
	case 0x68: case 0x6a:
		ret->grows = SLOT;
		return !p->operand16;
	case 0x90:
		return true; /* nop; or xchg with r8 */
	case 0x91 ... 0x97: case 0xb0 ... 0xbf:
		return register_in_opcode(p, ret);
	case 0x9c: case 0x9d:
		ret->grows = p->op == 0x9c ? SLOT : -SLOT;
		return !p->operand16;
	case 0xc6: case 0xc7: /* other digits: transactions */
		return p->digit == 0;
	case 0xcc: case 0xf4:
		ret->stops = true;
		return true;
	case 0xe8:
		ret->calls = true;
		return true;
	case 0xff:
		return group_ff(p, ret);
	/* pop to memory, ret with a number, enter, leave, int */
	case 0x8f: case 0xc2: case 0xc8: case 0xc9: case 0xcd: case 0xf1:
		return false;
	}
	return true;
}

bool stackop_of(const struct insn *in, struct stackop *ret)
{
	const struct insn_parts *p = &in->parts;

	*ret = (struct stackop){ 0 };
	if (in->kind == INSN_INDIRECT || in->kind == INSN_TABLE)
		return false;
	if (!p->vector && !p->map && !one_byte(p, ret))
		return false;
	if (!p->vector && p->map == 1) {
		ret->stops = p->op == 0x0b;
		if (p->op >= 0xc8 && p->op <= 0xcf && !register_in_opcode(p, ret))
			return false;
	}
	ret->names_bp |= names(p, RBP);
	return !names(p, RSP) || moves_sp(p, ret);
}
