/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of code that sljit has generated. PCRE2 compiles regular expressions with it, for git,
 * grep, nginx and others. This code has no unwind information and keeps no frame pointer. But the
 * layout of its memory says where a function begins, and the function's first instructions say how
 * large its frame is.
 *
 * Memory. A mapping consists of chunks, and a chunk of blocks. A function fills a block. A block
 * begins with two words: its size, and that of the block before it. If the first is 0, the block is
 * free, and the fifth word is its size. If it is 1, the chunk ends behind these two words.
 *
 * Code. A function begins with
 *
 *	push %rbx; push %r15; push %r14; push %r13; push %rbp; mov %rdi,%rbx; sub $N,%rsp
 *
 * and returns with
 *
 *	add $N,%rsp; pop %rbp; pop %r13; pop %r14; pop %r15; pop %rbx; ret
 *
 * In between rsp changes only when the function calls a part of itself. Such a part first pops its
 * return address, and returns with a push and a ret.
 *
 * All of this is checked. Anything else is not sljit's.
 */
#ifndef ER_UNWIND_SLJIT_H
#define ER_UNWIND_SLJIT_H

#include "bpf/unwind_env.h"

enum {
	SLJIT_BLOCKS = 256, /* looked at in one search */
	SLJIT_HEADER = 16,
	SLJIT_FREE_SIZE = 32,
	SLJIT_CHUNK_END = 1,
	SLJIT_SAVED = 5 * 8,         /* bytes of the pushed registers */
	SLJIT_LOCALS_MAX = 1 << 20,
	SLJIT_NOT = 0xff,
};

static long unwind_sljit_block(__u32 i, struct unwind_env **ctx)
{
	struct unwind_sljit *s = &unwind_look(*ctx)->sljit;
	__u64 used, size;

	if (!unwind_read(*ctx, s->at, &used))
		return 1;
	if (used == SLJIT_CHUNK_END) {
		s->at += SLJIT_HEADER;
		return 0;
	}
	size = used;
	if (!used && !unwind_read(*ctx, s->at + SLJIT_FREE_SIZE, &size))
		return 1;
	if (size & 7 || size <= SLJIT_HEADER || size > s->end - s->at)
		return 1;
	if (s->ip - s->at >= size) {
		s->at += size;
		return 0;
	}
	s->entry = used ? s->at + SLJIT_HEADER : 0;
	return 1;
}

/* Whether the code at s->entry is the beginning of a function. Sets s->locals and s->made. */
static inline bool unwind_sljit_begins(struct unwind_env *env, struct unwind_sljit *s)
{
	__u64 pushes, code, rest, move, sub;

	if (!unwind_read(env, s->entry, &pushes) || !unwind_read(env, s->entry + 8, &code) ||
	    !unwind_read(env, s->entry + 16, &rest))
		return false;
	move = code & 0xffffff;
	sub = code >> 24 & 0xffffff;
	if (pushes != 0x5555415641574153 || (move != 0xfb8948 && move != 0xdf8b48))
		return false;
	s->locals = (code >> 48 | rest << 16) & 0xffffffff;
	s->made = 18;
	if (sub == 0xec8348) { /* one byte follows, not four */
		s->locals &= 0xff;
		s->made = 15;
	}
	return (sub == 0xec8348 || sub == 0xec8148) && s->locals < SLJIT_LOCALS_MAX &&
	       !(s->locals & 7);
}

/*
 * How many registers the epilogue has still to pop before it returns, if it has freed the locals.
 * SLJIT_NOT: ip is not there. `before` are the 8 bytes before ip.
 */
static inline __u32 unwind_sljit_pops(__u64 before, __u64 code)
{
	const __u64 pops = 0xc35b5f415e415d41; /* all but pop %rbp */

	if (code == (pops << 8 | 0x5d))
		return 5;
	if (code == pops)
		return 4;
	if ((code & 0xffffffffffff) == pops >> 16)
		return 3;
	if ((code & 0xffffffff) == pops >> 32)
		return 2;
	if ((code & 0xffff) == pops >> 48)
		return 1;
	return (code & 0xff) == 0xc3 && before >> 56 == 0x5b ? 0 : SLJIT_NOT;
}

static inline bool unwind_sljit_is_pop(__u64 code)
{
	if ((code & 0xff) == 0x41)
		code >>= 8;
	return (code & 0xf8) == 0x58 || (code & 0xff) == 0x8f;
}

/* Set s->ra and s->bp for the instruction at ip. */
static inline bool unwind_sljit_at(struct unwind_env *env, struct unwind_sljit *s)
{
	__u64 done = s->ip - s->entry, before, code;
	__u32 saved;

	if (!unwind_read(env, s->ip, &code) || !unwind_read(env, s->ip - 8, &before))
		return false;
	if (done < s->made)
		saved = done < 8 ? (done + 1) / 2 : 5;
	else
		saved = unwind_sljit_pops(before, code);
	if (saved != SLJIT_NOT) {
		s->ra = saved * 8;
		s->bp = saved == 5 ? 0 : SLJIT_NOT;
	} else if (unwind_sljit_is_pop(code)) { /* the beginning of a part that is called */
		s->ra = 0;
		s->bp = SLJIT_NOT;
	} else if ((code & 0xff) == 0xc3) { /* its end: the return address is pushed again */
		s->ra += 8;
		s->bp += 8;
	}
	return true;
}

/* Whether r.ip lies in code of sljit, where the frame is known. */
static inline bool unwind_is_sljit(struct unwind_env *env, const struct unwind_regs *r)
{
	struct unwind_sljit *s = &unwind_look(env)->sljit;

	if (!unwind_generated(env) || r->flags & UNWIND_FP_CHAIN ||
	    !unwind_mapping(env, &s->at, &s->end))
		return false;
	s->ip = unwind_lookup_pc(r);
	s->entry = 0;
	unwind_repeat(SLJIT_BLOCKS, unwind_sljit_block, &env);
	if (!s->entry || !unwind_sljit_begins(env, s))
		return false;
	s->bp = s->locals;
	s->ra = s->locals + SLJIT_SAVED;
	return !(r->flags & UNWIND_EXACT) || unwind_sljit_at(env, s);
}

/* Step out of the frame that unwind_is_sljit() has found. */
static inline enum er_end unwind_by_sljit(struct unwind_env *env, struct unwind_regs *r)
{
	const struct unwind_sljit *s = &unwind_look(env)->sljit;
	__u64 at = r->sp + s->ra, ra, bp = r->bp, code;

	if (!unwind_read(env, at, &ra))
		return ER_END_FAULT;
	if (s->bp != SLJIT_NOT && !unwind_read(env, r->sp + s->bp, &bp))
		return ER_END_FAULT;
	ra = unwind_true_return(env, at, ra);
	if (!ra)
		return ER_END_RA_ZERO;
	if (!unwind_read(env, ra - 8, &code) || !unwind_is_call(code))
		return ER_END_NO_CFI;
	*r = (struct unwind_regs){
		.ip = ra, .sp = at + 8, .bp = bp, .flags = r->flags & UNWIND_USED_FP,
	};
	return ER_END_NOT;
}

#endif
