/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes x86-64 instructions as far as it takes to know where a function ends, and what happens to
 * its stack: their lengths, where they jump, and their parts. The code belongs to whoever wrote the
 * file: nothing is read outside the bytes that are given.
 */
#ifndef USER_UNWIND_INSN_H
#define USER_UNWIND_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/place.h"

enum insn_kind {
	INSN_OTHER,    /* calls, too */
	INSN_RETURN,
	INSN_JUMP,     /* to `target`, always */
	INSN_BRANCH,   /* to `target`, or on */
	INSN_INDIRECT, /* a jump to what is in `place` */
	INSN_TABLE,    /* an indirect jump that the compiler marked as within the function (notrack) */
};

enum { INSN_NO_REGISTER = 16 };

/* The parts, as the manual names them. Registers have the processor's numbers. */
struct insn_parts {
	uint8_t map;       /* of the opcode: 0 (one byte), 1 (0f), 2 (0f 38), 3 (0f 3a), ... */
	uint8_t op;
	bool vector;       /* with a VEX or EVEX prefix */
	bool wide;         /* REX.W */
	bool operand16;    /* prefix 66 */
	bool has_modrm;
	uint8_t mod, digit; /* of ModRM; digit: its reg, without the prefix's bit */
	uint8_t reg, rm;   /* rm with mod 3 is a register; without ModRM, rm is the one in the opcode */
	uint8_t third;     /* of VEX.vvvv, or INSN_NO_REGISTER */
	int64_t immediate; /* 0: none */
};

struct insn {
	enum insn_kind kind;
	unsigned length;       /* in bytes */
	uint64_t target;       /* of a call to a fixed address, too */
	struct er_place place; /* ER_PLACE_NONE: at a fixed address */
	struct insn_parts parts;
};

/*
 * Decode the instruction at the address `at`, of which n bytes are at `code`. Returns 0, or -1 if
 * the bytes are none that compilers make, or are cut.
 */
int insn_decode(const uint8_t *code, size_t n, uint64_t at, struct insn *ret);

#endif
