/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes x86-64 instructions as far as it takes to know where a function ends: their lengths, and
 * where they jump. The code belongs to whoever wrote the file: nothing is read outside the bytes
 * that are given.
 */
#ifndef USER_UNWIND_INSN_H
#define USER_UNWIND_INSN_H

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

struct insn {
	enum insn_kind kind;
	unsigned length;       /* in bytes */
	uint64_t target;
	struct er_place place; /* ER_PLACE_NONE: at a fixed address */
};

/*
 * Decode the instruction at the address `at`, of which n bytes are at `code`. Returns 0, or -1 if
 * the bytes are none that compilers make, or are cut.
 */
int insn_decode(const uint8_t *code, size_t n, uint64_t at, struct insn *ret);

#endif
