/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/insn.h"

#include <stdbool.h>
#include <string.h>

enum { LENGTH_MAX = 15 };

/* What follows an opcode. */
enum {
	M = 1,        /* a ModRM byte */
	I1 = 2,       /* an immediate of 1 byte */
	I2 = 4,       /* of 2 */
	IZ = 8,       /* of 4, or 2 with the prefix 66 */
	I8 = 16,      /* of 8 with REX.W, else as IZ */
	NO = 32,      /* no such instruction, or one that compilers do not make */
	OFFS = 64,    /* an address of 8 bytes */
};

/* Opcodes of one byte. Prefixes and escapes are taken before. */
static uint8_t one_byte(uint8_t op)
{
	static const uint8_t low[8] = { M, M, M, M, I1, IZ, NO, NO }; /* 00 to 3f, by eights */

	if (op < 0x40)
		return low[op & 7];
	switch (op) {
	case 0x50 ... 0x5f: return 0;
	case 0x63: return M;
	case 0x68: return IZ;
	case 0x69: return M | IZ;
	case 0x6a: return I1;
	case 0x6b: return M | I1;
	case 0x6c ... 0x6f: return 0;
	case 0x70 ... 0x7f: return I1;
	case 0x80: case 0x83: return M | I1;
	case 0x81: return M | IZ;
	case 0x84 ... 0x8f: return M;
	case 0x90 ... 0x99: return 0;
	case 0x9b ... 0x9f: return 0;
	case 0xa0 ... 0xa3: return OFFS;
	case 0xa4 ... 0xa7: return 0;
	case 0xa8: return I1;
	case 0xa9: return IZ;
	case 0xaa ... 0xaf: return 0;
	case 0xb0 ... 0xb7: return I1;
	case 0xb8 ... 0xbf: return I8;
	case 0xc0: case 0xc1: return M | I1;
	case 0xc2: return I2;
	case 0xc3: return 0;
	case 0xc6: return M | I1;
	case 0xc7: return M | IZ;
	case 0xc8: return I2 | I1;
	case 0xc9: return 0;
	case 0xcc: return 0;
	case 0xcd: return I1;
	case 0xd0 ... 0xd3: return M;
	case 0xd8 ... 0xdf: return M;
	case 0xe0 ... 0xe7: return I1;
	case 0xe8: case 0xe9: return IZ;
	case 0xeb: return I1;
	case 0xf1: case 0xf4: case 0xf5: return 0;
	case 0xf6: case 0xf7: return M; /* an immediate with some */
	case 0xf8 ... 0xfd: return 0;
	case 0xfe: case 0xff: return M;
	}
	return NO;
}

/* Opcodes behind 0f. */
static uint8_t two_bytes(uint8_t op)
{
	switch (op) {
	case 0x05: case 0x0b: return 0;
	case 0x00: case 0x01: case 0x0d: return M;
	case 0x10 ... 0x1f: return M;
	case 0x28 ... 0x2f: return M;
	case 0x31: case 0x77: case 0xa2: return 0;
	case 0x40 ... 0x6f: return M;
	case 0x70 ... 0x73: return M | I1;
	case 0x74 ... 0x76: return M;
	case 0x78 ... 0x7f: return M;
	case 0x80 ... 0x8f: return IZ;
	case 0x90 ... 0x9f: return M;
	case 0xa3: case 0xa5: case 0xab: case 0xad: case 0xae: case 0xaf: return M;
	case 0xa4: case 0xac: case 0xba: return M | I1;
	case 0xb0 ... 0xb9: return M;
	case 0xbb ... 0xc1: return M;
	case 0xc2: case 0xc4: case 0xc5: case 0xc6: return M | I1;
	case 0xc3: case 0xc7: return M;
	case 0xc8 ... 0xcf: return 0;
	case 0xd0 ... 0xff: return M;
	}
	return NO;
}

/* The instruction being decoded. */
struct cursor {
	const uint8_t *code;
	size_t n, i;
	bool wide, operand16, address32, notrack; /* prefixes */
	uint8_t rex, map, op, modrm; /* VEX and EVEX have the bits of REX, too */
	uint8_t third;
	bool vex;
	struct er_place place;
};

static bool more(const struct cursor *c, size_t n)
{
	return c->n - c->i >= n;
}

static void take_prefixes(struct cursor *c)
{
	for (; more(c, 1); c->i++) {
		switch (c->code[c->i]) {
		case 0x66:
			c->operand16 = true;
			break;
		case 0x67:
			c->address32 = true;
			break;
		case 0x3e:
			c->notrack = true;
			break;
		case 0x26: case 0x2e: case 0x36: case 0x64: case 0x65: case 0xf0: case 0xf2: case 0xf3:
			break;
		default:
			return;
		}
	}
}

/* C4, C5 and 62: the instructions of vectors. All have a ModRM byte, but vzeroupper. Fields are inverted. */
static bool take_vector(struct cursor *c)
{
	uint8_t first = c->code[c->i];
	size_t n = first == 0xc5 ? 2 : first == 0xc4 ? 3 : 4;

	if (!more(c, n + 1))
		return false;
	c->map = n == 2 ? 1 : c->code[c->i + 1] & (n == 3 ? 0x1f : 0x07);
	c->rex = (c->code[c->i + 1] & 0x80 ? 0 : 4) | (n == 2 || c->code[c->i + 1] & 0x20 ? 0 : 1);
	c->third = ~c->code[c->i + (n == 2 ? 1 : 2)] >> 3 & 15;
	c->op = c->code[c->i + n];
	c->i += n + 1;
	c->vex = true;
	return c->map == 1 || c->map == 2 || c->map == 3 || (n == 4 && (c->map == 5 || c->map == 6));
}

static bool take_opcode(struct cursor *c)
{
	take_prefixes(c);
	if (more(c, 1) && (c->code[c->i] & 0xf0) == 0x40)
		c->rex = c->code[c->i++];
	c->wide = c->rex & 8;
	if (!more(c, 1))
		return false;
	if (!c->rex && (c->code[c->i] == 0xc4 || c->code[c->i] == 0xc5 || c->code[c->i] == 0x62))
		return take_vector(c);
	c->op = c->code[c->i++];
	if (c->op != 0x0f)
		return true;
	c->map = 1;
	if (!more(c, 1))
		return false;
	c->op = c->code[c->i++];
	if (c->op != 0x38 && c->op != 0x3a)
		return true;
	c->map = c->op == 0x38 ? 2 : 3;
	if (!more(c, 1))
		return false;
	c->op = c->code[c->i++];
	return true;
}

static uint8_t follows(const struct cursor *c)
{
	if (c->map == 1 && c->vex)
		return c->op == 0x77 ? 0 : two_bytes(c->op) | M;
	switch (c->map) {
	case 0: return one_byte(c->op);
	case 1: return two_bytes(c->op);
	case 3: return M | I1;
	}
	return M;
}

/* Words of struct pt_regs, by the number of a register in an instruction. */
static const uint8_t words[16] = { 10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0 };

static int64_t number_at(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	return (int64_t)(v << (64 - 8 * n)) >> (64 - 8 * n);
}

/* The ModRM byte, and what belongs to it: the operand's place. */
static bool take_modrm(struct cursor *c)
{
	uint8_t mod, rm, sib = 0, base;
	size_t offset;

	if (!more(c, 1))
		return false;
	c->modrm = c->code[c->i++];
	mod = c->modrm >> 6;
	rm = c->modrm & 7;
	c->place = (struct er_place){ .kind = ER_PLACE_REGISTER, .size = 8, .index = ER_REGISTER_NONE,
				      .scale = 1, .base = words[rm | (c->rex & 1) << 3] };
	if (mod == 3)
		return true;
	c->place.kind = mod == 0 && rm == 5 ? ER_PLACE_NONE : ER_PLACE_MEMORY;
	base = rm;
	if (rm == 4) {
		if (!more(c, 1))
			return false;
		sib = c->code[c->i++];
		base = sib & 7;
		c->place.base = words[base | (c->rex & 1) << 3];
		if ((sib >> 3 & 7) != 4 || c->rex & 2)
			c->place.index = words[(sib >> 3 & 7) | (c->rex & 2) << 2];
		c->place.scale = 1 << (sib >> 6);
		if (mod == 0 && base == 5)
			c->place.base = ER_REGISTER_NONE;
	}
	offset = mod == 1 ? 1 : mod == 2 || (mod == 0 && base == 5) ? 4 : 0;
	if (!more(c, offset))
		return false;
	c->place.value = offset ? number_at(c->code + c->i, offset) : 0;
	c->i += offset;
	return true;
}

static size_t immediate_size(const struct cursor *c, uint8_t what)
{
	size_t z = c->operand16 && !c->wide ? 2 : 4;

	/* test has an immediate, its group's others have none */
	if (c->map == 0 && (c->op == 0xf6 || c->op == 0xf7) && !(c->modrm & 0x30))
		return c->op == 0xf6 ? 1 : z;
	return (what & I1 ? 1 : 0) + (what & I2 ? 2 : 0) + (what & IZ ? z : 0) +
	       (what & I8 ? c->wide ? 8 : z : 0) + (what & OFFS ? 8 : 0);
}

static void find_kind(const struct cursor *c, uint64_t at, int64_t immediate, struct insn *ret)
{
	bool group5 = c->map == 0 && c->op == 0xff && (c->modrm >> 3 & 7) == 4;

	ret->target = at + ret->length + immediate;
	if (c->vex || c->map > 1)
		ret->kind = INSN_OTHER;
	else if (c->map == 1)
		ret->kind = (c->op & 0xf0) == 0x80 ? INSN_BRANCH : INSN_OTHER;
	else if (c->op == 0xc2 || c->op == 0xc3)
		ret->kind = INSN_RETURN;
	else if (c->op == 0xe9 || c->op == 0xeb)
		ret->kind = INSN_JUMP;
	else if ((c->op & 0xf0) == 0x70 || (c->op >= 0xe0 && c->op <= 0xe3))
		ret->kind = INSN_BRANCH;
	else if (group5)
		ret->kind = c->notrack ? INSN_TABLE : INSN_INDIRECT;
	if (group5)
		ret->place = c->place;
}

static struct insn_parts parts_of(const struct cursor *c, uint8_t what, int64_t immediate)
{
	uint8_t low = what & M ? c->modrm & 7 : c->op & 7;

	return (struct insn_parts){
		.map = c->map, .op = c->op, .vector = c->vex, .wide = c->wide, .operand16 = c->operand16,
		.has_modrm = what & M, .mod = c->modrm >> 6, .digit = c->modrm >> 3 & 7,
		.reg = (c->modrm >> 3 & 7) | (c->rex & 4) << 1, .rm = low | (c->rex & 1) << 3, .third = c->third,
		.immediate = immediate,
	};
}

int insn_decode(const uint8_t *code, size_t n, uint64_t at, struct insn *ret)
{
	struct cursor c = { .code = code, .n = n < LENGTH_MAX ? n : LENGTH_MAX, .third = INSN_NO_REGISTER };
	int64_t immediate;
	size_t size;
	uint8_t what;

	*ret = (struct insn){ .kind = INSN_OTHER };
	if (!take_opcode(&c))
		return -1;
	what = follows(&c);
	if (what & NO || (what & M && !take_modrm(&c)))
		return -1;
	/* XOP, jumps to another segment, and sizes of addresses that compilers do not make */
	if (c.map == 0 && !c.vex && ((c.op == 0x8f && c.modrm & 0x38) ||
				     (c.op == 0xff && ((c.modrm >> 3 & 7) == 3 || (c.modrm >> 3 & 7) > 6 ||
						       (c.modrm >> 3 & 7) == 5)) || what & OFFS))
		return -1;
	size = immediate_size(&c, what);
	if (!more(&c, size))
		return -1;
	ret->length = c.i + size;
	if (c.operand16 && !c.wide && what & IZ && (c.map == 1 || c.op == 0xe8 || c.op == 0xe9))
		return -1; /* processors disagree about its length */
	immediate = size && size <= 8 ? number_at(code + c.i, size) : 0;
	ret->parts = parts_of(&c, what, immediate);
	find_kind(&c, at, immediate, ret);
	return ret->kind == INSN_INDIRECT && c.address32 ? -1 : 0;
}
