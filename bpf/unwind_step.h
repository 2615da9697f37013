/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One step of a stack walk: from the registers of a frame to those of its caller.
 * The same source runs in BPF and in user space: unwind_env.h says what a walker defines.
 *
 * Three registers are carried from frame to frame: ip, sp and rbp. All others are
 * known at the leaf only, and again in a frame that a signal interrupted, where
 * the kernel stored them on the stack.
 *
 * A step either yields the caller's registers or says why the walk ends, and changes
 * nothing then. A step never yields a frame from memory that could not be read.
 */
#ifndef ER_UNWIND_STEP_H
#define ER_UNWIND_STEP_H

#include "bpf/search.h"
#include "bpf/unwind.h"
#include "bpf/unwind_code.h"
#include "bpf/unwind_env.h"
#include "bpf/unwind_go.h"
#include "bpf/unwind_sljit.h"
#include "bpf/unwind_hotspot.h"

enum {
	UNWIND_SIGNAL_R8 = 40,     /* struct sigcontext, from sp when a handler has returned */
	UNWIND_SIGNAL_RIP = 168,   /* and its rip */
	UNWIND_FP_REACH = 1 << 20, /* the largest frame that a step by frame pointer accepts */
};

/*
 * Find the rule for file offset `off`, by a binary search over the rows of one block. Returns
 * ER_END_NOT if there is one; it may be a rule that says ER_CFA_NO_ENTRY.
 */
static inline enum er_end unwind_find(struct unwind_env *env, const struct er_unwind_file *f,
				      __u64 off, struct er_unwind_rule *rule)
{
	__u64 block = (off - f->first) / ER_BLOCK_BYTES;
	struct search s;
	__u32 row = 0, n;

	rule->cfa = ER_CFA_NO_ENTRY;
	if (off < f->first || block >= f->blocks)
		return ER_END_NOT;
	if (!unwind_word(env, f->index + block, &s.lo) || !unwind_word(env, f->index + block + 1, &s.hi) ||
	    s.hi > f->nrows || s.hi < s.lo || s.hi - s.lo > ER_BLOCK_ROWS)
		return ER_END_BAD_RULE;
	for (int i = 0; i < ER_BLOCK_STEPS && s.lo < s.hi; i++) {
		if (!unwind_word(env, f->rows + search_middle(&s), &row))
			return ER_END_BAD_RULE;
		search_step(&s, row & 0xffff, off & 0xffff);
	}
	if (!s.lo)
		return ER_END_NOT;
	if (!unwind_word(env, f->rows + s.lo - 1, &row))
		return ER_END_BAD_RULE;
	n = row >> 16;
	if (n == ER_RULE_NO_ENTRY)
		return ER_END_NOT;
	if (n >= f->nrules || !unwind_rule(env, f->rules + n * ER_RULE_WORDS, rule))
		return ER_END_BAD_RULE;
	return ER_END_NOT;
}

/*
 * Where the kernel stores a register in a signal frame, in bytes from r8 (struct
 * sigcontext): r8 .. r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip. By DWARF's number.
 */
static inline __u32 unwind_saved_at(__u32 reg)
{
	switch (reg) {
	case 0: /* rax */
		return 104;
	case 1: /* rdx */
		return 96;
	case 2: /* rcx */
		return 112;
	case 3: /* rbx */
		return 88;
	case 4: /* rsi */
		return 72;
	case 5: /* rdi */
		return 64;
	default:
		return (reg & 15) * 8 - 64; /* r8 .. r15 */
	}
}

/* A register other than rbp and rsp, in a frame where it is known. */
static inline enum er_end unwind_reg(struct unwind_env *env, const struct unwind_regs *r,
				     __u32 reg, __u64 *value)
{
	if (reg == ER_DWARF_RBP || reg == ER_DWARF_RSP) {
		*value = reg == ER_DWARF_RBP ? r->bp : r->sp;
		return ER_END_NOT;
	}
	if (reg == ER_DWARF_RBX && r->flags & UNWIND_BX) {
		*value = r->bx;
		return ER_END_NOT;
	}
	if (r->saved)
		return unwind_read(env, r->saved + unwind_saved_at(reg), value) ? ER_END_NOT :
										  ER_END_FAULT;
	if (!(r->flags & UNWIND_LEAF) || !unwind_leaf_reg(env, reg, value))
		return ER_END_REGISTER;
	return ER_END_NOT;
}

static inline enum er_end unwind_cfa(struct unwind_env *env, const struct unwind_regs *r,
				     const struct er_unwind_rule *rule, __u64 *cfa)
{
	enum er_end end;
	__u64 base;

	switch (rule->cfa) {
	case ER_CFA_SP:
		*cfa = r->sp + rule->cfa_off;
		return ER_END_NOT;
	case ER_CFA_FP:
		*cfa = r->bp + rule->cfa_off;
		return ER_END_NOT;
	case ER_CFA_DEREF_SP:
	case ER_CFA_DEREF_FP:
		base = rule->cfa == ER_CFA_DEREF_SP ? r->sp : r->bp;
		if (!unwind_read(env, base + rule->cfa_off, cfa))
			return ER_END_FAULT;
		*cfa += rule->cfa_add;
		return ER_END_NOT;
	case ER_CFA_PLT:
		*cfa = r->sp + rule->cfa_off + ((r->ip & 15) >= (__u64)rule->cfa_add ? 8 : 0);
		return ER_END_NOT;
	case ER_CFA_REG:
		end = unwind_reg(env, r, rule->reg & 15, cfa);
		*cfa += rule->cfa_off;
		return end;
	case ER_CFA_INDEX:
		end = unwind_reg(env, r, rule->reg & 15, &base);
		if (end)
			return end;
		if (!unwind_read(env, r->sp + rule->cfa_off + 8 * base, cfa))
			return ER_END_FAULT;
		*cfa += rule->cfa_add;
		return ER_END_NOT;
	default:
		return ER_END_BAD_RULE;
	}
}

static inline enum er_end unwind_ra(struct unwind_env *env, const struct unwind_regs *r,
				    const struct er_unwind_rule *rule, __u64 cfa, __u64 *ra)
{
	__u64 at = cfa;

	if (rule->ra == ER_RA_REG)
		return unwind_reg(env, r, rule->reg >> 4, ra);
	if (rule->ra == ER_RA_SP)
		at = r->sp;
	else if (rule->ra == ER_RA_FP)
		at = r->bp;
	if (!unwind_read(env, at + rule->ra_off, ra))
		return ER_END_FAULT;
	*ra = unwind_true_return(env, at + rule->ra_off, *ra);
	return ER_END_NOT;
}

static inline enum er_end unwind_bp(struct unwind_env *env, const struct unwind_regs *r,
				    const struct er_unwind_rule *rule, __u64 cfa, __u64 *bp)
{
	__u64 at = cfa;

	if (rule->bp == ER_BP_SAME || rule->bp == ER_BP_LOST) {
		*bp = rule->bp == ER_BP_SAME ? r->bp : 0;
		return ER_END_NOT;
	}
	if (rule->bp == ER_BP_REG)
		return unwind_reg(env, r, rule->bp_off & 15, bp);
	if (rule->bp == ER_BP_FP) {
		at = r->bp;
		/*
		 * gcc gives this rule for the whole epilogue of a realigned function. But once rbp
		 * is restored it no longer points into the frame.
		 */
		if (at + rule->bp_off - r->sp >= cfa - r->sp) {
			*bp = at;
			return ER_END_NOT;
		}
	} else if (rule->bp == ER_BP_SP) {
		at = r->sp;
	}
	return unwind_read(env, at + rule->bp_off, bp) ? ER_END_NOT : ER_END_FAULT;
}

/* The caller's rbx, if the rule says where it is. False: it is not known. */
static inline bool unwind_bx(struct unwind_env *env, const struct unwind_regs *r,
			     const struct er_unwind_rule *rule, __u64 cfa, __u64 *bx)
{
	__u64 slot = rule->flags >> ER_RULE_BX_SHIFT;

	if (slot)
		return unwind_read(env, cfa - slot * 8, bx);
	return rule->flags & ER_RULE_BX_SAME && !unwind_reg(env, r, ER_DWARF_RBX, bx);
}

/*
 * A caller's frame lies above its callee's. There are two exceptions: a signal handler may run on
 * another stack, and a frame may be empty where ip is exact.
 */
static inline bool unwind_rises(const struct unwind_regs *r, __u64 cfa)
{
	return r->flags & UNWIND_EXACT ? cfa >= r->sp : cfa > r->sp;
}

/* Step by a rule. The rule is not ER_CFA_NO_ENTRY or ER_CFA_GO. */
static inline enum er_end unwind_by_rule(struct unwind_env *env, struct unwind_regs *r,
					 const struct er_unwind_rule *rule)
{
	bool signal = rule->flags & ER_RULE_SIGNAL;
	__u64 cfa = 0, ra = 0, bp = 0, bx = 0, saved = 0;
	bool has_bx;
	enum er_end end;

	if (rule->ra == ER_RA_NONE)
		return ER_END_PROVEN;
	end = unwind_cfa(env, r, rule, &cfa);
	if (end)
		return end;
	if (!signal && !unwind_rises(r, cfa))
		return ER_END_NOT_RISING;
	end = unwind_ra(env, r, rule, cfa, &ra);
	if (end)
		return end;
	if (!ra)
		return ER_END_RA_ZERO;
	end = unwind_bp(env, r, rule, cfa, &bp);
	if (end)
		return end;
	if (signal && rule->ra == ER_RA_SP && rule->ra_off == UNWIND_SIGNAL_RIP)
		saved = r->sp + UNWIND_SIGNAL_R8;
	has_bx = unwind_bx(env, r, rule, cfa, &bx);
	*r = (struct unwind_regs){
		.ip = ra, .sp = cfa, .bp = bp, .bx = bx, .saved = saved,
		.flags = (r->flags & UNWIND_USED_FP) | (signal ? UNWIND_EXACT : 0) |
			 (has_bx ? UNWIND_BX : 0),
	};
	return ER_END_NOT;
}

UNWIND_PART int unwind_look_clear(struct unwind_look *l, __u64 at)
{
	if (l)
		*l = (struct unwind_look){ .at = at };
	return 0;
}

static inline struct unwind_look *unwind_look_begin(struct unwind_env *env, __u64 at)
{
	struct unwind_look *l = unwind_look(env);

	unwind_look_clear(l, at);
	return l;
}

static inline bool unwind_look_word(struct unwind_env *env, __u32 i, __u64 *word)
{
	struct unwind_look *l = unwind_look(env);

	l->unread = !unwind_read(env, l->at + i * 8, word);
	return !l->unread;
}

static long unwind_look_back_word(__u32 i, struct unwind_env **ctx)
{
	struct unwind_look *l = unwind_look(*ctx);
	__u64 word;

	if (!unwind_look_word(*ctx, i, &word))
		return 1;
	unwind_scan_back(&l->scan, word, l->at, i * 8, l->skip);
	return 0;
}

/*
 * Whether the prologue is among the `n` bytes before ip (n is at most UNWIND_BACK): _MADE if it is,
 * _NOT_YET if it is not, _UNSURE if it may have been undone.
 */
static inline enum unwind_leaf_code unwind_look_back(struct unwind_env *env, __u64 ip, __u64 n)
{
	struct unwind_look *l = unwind_look_begin(env, ip - UNWIND_BACK);

	l->skip = UNWIND_BACK - n;
	unwind_repeat(UNWIND_BACK / 8, unwind_look_back_word, &env);
	if (l->unread || l->scan.other)
		return UNWIND_FRAME_UNSURE;
	return l->scan.found ? UNWIND_FRAME_MADE : UNWIND_FRAME_NOT_YET;
}

static long unwind_look_ahead_word(__u32 i, struct unwind_env **ctx)
{
	__u64 word;

	if (!unwind_look_word(*ctx, i, &word))
		return 1;
	unwind_scan_ahead(&unwind_look(*ctx)->scan, word);
	return 0;
}

/* The frame is made, unless the prologue still lies ahead. */
static inline enum unwind_leaf_code unwind_look_ahead(struct unwind_env *env, __u64 ip)
{
	struct unwind_look *l = unwind_look_begin(env, ip);

	unwind_repeat(UNWIND_AHEAD / 8, unwind_look_ahead_word, &env);
	return l->scan.found ? UNWIND_FRAME_UNSURE : UNWIND_FRAME_MADE;
}

static long unwind_look_far_word(__u32 i, struct unwind_env **ctx)
{
	struct unwind_look *l = unwind_look(*ctx);
	__u64 word;

	if (!unwind_look_word(*ctx, i, &word))
		return 1;
	unwind_scan_far(&l->far, word, l->at + i * 8);
	return 0;
}

/* What a scan of n words from `at` on meets last: enum unwind_met. A word that cannot be read may be a return. */
static inline __u64 unwind_look_far_from(struct unwind_env *env, __u64 at, __u32 n)
{
	struct unwind_look *l = unwind_look_begin(env, at);

	l->far.returns = !unwind_generated(env);
	unwind_repeat(n, unwind_look_far_word, &env);
	return l->unread ? UNWIND_MET_RETURN : l->far.met;
}

/*
 * The same if the function may begin far before ip. A return between the prologue and ip may be the
 * end of the function. In generated code it is not: functions there are padded.
 */
static inline enum unwind_leaf_code unwind_look_far(struct unwind_env *env, __u64 ip)
{
	__u64 met = unwind_look_far_from(env, ip - UNWIND_FAR, UNWIND_FAR / 8);

	/* A pattern may begin in one turn and end in the one before it. */
	for (__u32 i = 2; i <= UNWIND_FAR_TURNS && met == UNWIND_MET_NONE; i++)
		met = unwind_look_far_from(env, ip - i * UNWIND_FAR, UNWIND_FAR / 8 + 1);
	if (met == UNWIND_MET_PROLOGUE)
		return UNWIND_FRAME_MADE;
	return met == UNWIND_MET_BORDER ? UNWIND_FRAME_NOT_YET : UNWIND_FRAME_UNSURE;
}

/*
 * Whether the leaf's frame is made. Called if the code at ip does not show it. The word at sp and
 * the code decide. The code is read from the function's beginning if that is known, else from
 * shortly before ip. The word is:
 *
 *	rbp	it has just been pushed, and the prologue goes on; or the word is a remnant of an
 *		earlier call, which has a return address above it, too
 *	after a call	the return address, because the frame is not made yet, is no longer
 *		there, or is never made; or a remnant. An address in generated code that
 *		cannot be read is taken for one
 *	other	the frame is made, unless the prologue still lies ahead
 */
static inline enum unwind_leaf_code unwind_leaf_frame(struct unwind_env *env,
						      const struct unwind_regs *r)
{
	__u64 word, code = 0, n;
	enum unwind_leaf_code kind;
	bool pushed, called;

	if (!unwind_read(env, r->sp, &word))
		return UNWIND_FRAME_UNSURE;
	pushed = word == r->bp && r->sp != r->bp;
	called = !pushed && (unwind_read(env, word - 8, &code) ? unwind_is_call(code) :
								  unwind_uncopied(env, word));
	if (!pushed && !called)
		return unwind_look_ahead(env, r->ip);
	n = called ? r->ip - unwind_call_target(word, code) : ~0ULL;
	kind = unwind_look_back(env, r->ip, n <= UNWIND_BACK ? n : UNWIND_BACK);
	if (kind != UNWIND_FRAME_NOT_YET || n <= UNWIND_BACK)
		return kind;
	/* A prologue far before ip may be another function's, so the one ahead counts first. */
	if (pushed && unwind_look_ahead(env, r->ip) != UNWIND_FRAME_MADE)
		return UNWIND_FRAME_PUSHED;
	kind = unwind_look_far(env, r->ip);
	return pushed && kind != UNWIND_FRAME_MADE ? UNWIND_FRAME_UNSURE : kind;
}

/*
 * Step by the frame pointer: code without an entry. The frame must lie above sp and
 * near it, and the return address of the first such frame must follow a call: in code
 * that does not keep frame pointers, rbp holds anything. Java's interpreter makes frames
 * that return to generated code without a call: the walker checks that (UNWIND_UNCALLED).
 */
static inline enum er_end unwind_by_fp(struct unwind_env *env, struct unwind_regs *r)
{
	__u64 at = r->bp, code = 0, before = 0, ra = 0, bp = r->bp;
	enum unwind_leaf_code kind = UNWIND_FRAME_MADE;
	__u32 uncalled = 0;

	if (r->flags & UNWIND_EXACT) {
		if (!unwind_read(env, r->ip, &code) || !unwind_read(env, r->ip - 8, &before))
			return ER_END_FAULT;
		kind = unwind_leaf_code(before, code);
		if (kind == UNWIND_FRAME_MADE)
			kind = unwind_leaf_frame(env, r);
	}
	if (kind == UNWIND_FRAME_NOT_YET)
		at = r->sp - 8;
	else if (kind == UNWIND_FRAME_PUSHED)
		at = r->sp;
	else if (kind == UNWIND_FRAME_UNSURE)
		return ER_END_NO_CFI;
	else if (!at)
		return ER_END_FP_ZERO;
	else if (at & 7 || at - r->sp > UNWIND_FP_REACH) /* nor below sp */
		return ER_END_NO_CFI;
	if (kind != UNWIND_FRAME_NOT_YET && !unwind_read(env, at, &bp))
		return ER_END_FAULT;
	if (!unwind_read(env, at + 8, &ra))
		return ER_END_FAULT;
	ra = unwind_true_return(env, at + 8, ra);
	if (!ra)
		return ER_END_RA_ZERO;
	if (!(r->flags & UNWIND_FP_CHAIN)) {
		if (unwind_read(env, ra - 8, &code)) {
			uncalled = unwind_is_call(code) ? 0 : UNWIND_UNCALLED;
			if (uncalled && !unwind_generated(env))
				return ER_END_NO_CFI;
		} else if (!unwind_uncopied(env, ra)) {
			return ER_END_FAULT;
		}
	}
	*r = (struct unwind_regs){
		.ip = ra, .sp = at + 16, .bp = bp,
		.flags = UNWIND_USED_FP | uncalled |
			 (kind == UNWIND_FRAME_MADE ? UNWIND_FP_CHAIN : 0),
	};
	return ER_END_NOT;
}

/* From the frame in `r`, whose code has `rule`, to its caller. Not for code of a Java VM. */
static inline enum er_end unwind_step_simple(struct unwind_env *env, struct unwind_regs *r,
				      const struct er_unwind_rule *rule)
{
	if (rule->cfa == ER_CFA_GO)
		return unwind_by_go(env, r, rule);
	if (rule->cfa != ER_CFA_NO_ENTRY)
		return unwind_by_rule(env, r, rule);
	if (unwind_is_sljit(env, r))
		return unwind_by_sljit(env, r);
	return unwind_by_fp(env, r);
}

/* The same for all code. BPF has its own, because the parts must be verified one by one. */
static inline enum er_end unwind_step(struct unwind_env *env, struct unwind_regs *r,
				      const struct er_unwind_rule *rule)
{
	bool generated = unwind_generated(env);
	int by_blob = generated ? unwind_by_blob(env, r) : UNWIND_BY_POINTER;
	enum er_end end = by_blob;

	if (by_blob != UNWIND_BY_POINTER)
		return end;
	end = unwind_step_simple(env, r, rule);
	if (end || !generated)
		return end;
	return unwind_blob_stepped(env, r);
}

#endif
