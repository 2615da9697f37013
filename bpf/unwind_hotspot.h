/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of code that a Java VM (HotSpot) has generated. Compiled methods keep no frame pointer, but
 * the VM knows the size of their frames, because it walks them itself. The walk reads that from the
 * VM's structures (bpf/hotspot.h).
 *
 * A method's frame is made and removed by
 *
 *	[mov %eax,-M(%rsp)]; push %rbp; [mov %rsp,%rbp]; sub $N,%rsp	or  sub $N+8,%rsp; mov %rbp,N(%rsp)
 *	add $N,%rsp; pop %rbp; [cmp x(%r15),%rsp; ja stub]; ret	or  jmp
 *
 * In between rsp does not change where another frame can be called. At the leaf, the code's bytes
 * say whether the frame is made. Code that compares or searches strings keeps numbers on the stack meanwhile, so
 * the return address is higher. Whatever the frame, its return address must follow a call, or lie
 * where the VM continues without one: in the interpreter, or at the beginning of a method's code for
 * leaving it (deoptimization). Otherwise the walk ends.
 *
 * The interpreter has frame pointers. When it calls or is called by compiled code the arguments are
 * moved, so its frames have the caller's true stack pointer in a slot.
 */
#ifndef ER_UNWIND_HOTSPOT_H
#define ER_UNWIND_HOTSPOT_H

#include "bpf/hotspot.h"
#include "bpf/unwind_code.h"
#include "bpf/unwind_env.h"

enum {
	HOTSPOT_HOPS = 64,            /* in a segment map */
	HOTSPOT_FREE = 0xff,
	HOTSPOT_FRAME_MAX = 1 << 16,  /* words */
	HOTSPOT_BACK = 48,            /* bytes before ip that are searched for the end of a prologue */
	HOTSPOT_PUSHES = 512,         /* and for what compares or searches strings */
	HOTSPOT_REACH = 1 << 20,      /* bytes of an interpreter's frame */
};

/* The first 8 bytes of a blob's name say what it is. */
enum unwind_blob_kind {
	UNWIND_BLOB_STUB,        /* or none */
	UNWIND_BLOB_METHOD,
	UNWIND_BLOB_NATIVE,      /* the code that calls a native method: has frame pointers */
	UNWIND_BLOB_INTERPRETER,
	UNWIND_BLOB_JUMP,        /* has no frame, and jumps to another function */
	UNWIND_BLOB_ADAPTER,     /* moves arguments, then jumps */
};

/* Returned in place of enum er_end: the frame pointer decides. */
enum { UNWIND_BY_POINTER = ER_END_COUNT };

static inline bool unwind_number(struct unwind_env *env, __u64 at, __u32 bytes, __u64 *ret)
{
	__u64 word;

	if (!unwind_read(env, at & ~7ULL, &word))
		return false;
	*ret = word >> (at & 7) * 8 & (bytes == 4 ? 0xffffffff : bytes == 2 ? 0xffff : 0xff);
	return true;
}

static long unwind_blob_hop(__u32 i, struct unwind_env **ctx)
{
	struct unwind_blob *b = unwind_blob(*ctx);
	__u64 back;

	if (!unwind_number(*ctx, b->map + b->segment, 1, &back) || back == HOTSPOT_FREE ||
	    back > b->segment)
		return 1;
	b->found = !back;
	b->segment -= back;
	return !back;
}

/* The heap that the address belongs to; NULL: none. */
static inline const struct er_hotspot_heap *unwind_heap_find(const struct er_hotspot *v, __u64 pc)
{
	const struct er_hotspot_heap *h = &v->heaps[0];

	if (pc - h->low >= h->high - h->low)
		h = &v->heaps[1];
	if (pc - h->low >= h->high - h->low)
		h = &v->heaps[2];
	return pc - h->low < h->high - h->low ? h : NULL;
}

/* The block with the address, in one of the heaps. False: none. */
static inline bool unwind_block_find(struct unwind_env *env, const struct er_hotspot *v, __u64 pc,
				     __u64 *ret)
{
	struct unwind_blob *b = unwind_blob(env);
	const struct er_hotspot_heap *h = unwind_heap_find(v, pc);

	if (!h)
		return false;
	b->map = h->map;
	b->segment = (pc - h->low) >> (h->log2 & 31);
	b->found = 0;
	unwind_repeat(HOTSPOT_HOPS, unwind_blob_hop, &env);
	*ret = h->low + (b->segment << (h->log2 & 31));
	return b->found;
}

static inline __u64 unwind_blob_kind(__u64 name)
{
	switch (name) {
	case 0x00646f6874656d6e: /* nmethod */
		return UNWIND_BLOB_METHOD;
	case 0x6e2065766974616e: /* native nmethod */
		return UNWIND_BLOB_NATIVE;
	case 0x6572707265746e49: /* Interpreter */
		return UNWIND_BLOB_INTERPRETER;
	case 0x6320656c62617476: /* vtable chunks */
		return UNWIND_BLOB_JUMP;
	case 0x204932432f433249: /* I2C/C2I adapters */
		return UNWIND_BLOB_ADAPTER;
	default:
		return UNWIND_BLOB_STUB;
	}
}

static inline bool unwind_blob_code(struct unwind_env *env, const struct er_hotspot *v, __u64 at)
{
	struct unwind_blob *b = unwind_blob(env);

	if (!v->begin_off)
		return unwind_read(env, at + v->begin, &b->begin) &&
		       unwind_read(env, at + v->end, &b->end);
	if (!unwind_number(env, at + v->begin_off, 4, &b->begin) ||
	    !unwind_number(env, at + v->end_off, 4, &b->end))
		return false;
	b->begin += at;
	b->end += at;
	return true;
}

/*
 * Find the VM's code with the address and describe it in *unwind_blob(env). False: there is none, or
 * the process runs no VM that is known.
 */
UNWIND_PART int unwind_blob_find(struct unwind_env *env, __u64 pc)
{
	const struct er_hotspot *v;
	struct unwind_blob *b;
	__u64 at, name;

	if (!env || !unwind_has_hotspot(env))
		return false;
	v = unwind_hotspot(env);
	b = unwind_blob(env);
	if (pc - b->begin < b->end - b->begin)
		return true;
	if (!unwind_block_find(env, v, pc, &at))
		goto none;
	at += v->blob;
	if (!unwind_blob_code(env, v, at) || pc - b->begin >= b->end - b->begin ||
	    !unwind_read(env, at + v->name, &name) || !unwind_read(env, name, &name) ||
	    !unwind_number(env, at + v->frame_size, 4, &b->size) ||
	    !unwind_number(env, at + v->frame_complete, v->complete_bytes, &b->complete))
		goto none;
	b->kind = unwind_blob_kind(name);
	b->size = b->size < HOTSPOT_FRAME_MAX ? b->size * 8 : 0;
	if (b->complete >> (v->complete_bytes * 8 - 1)) /* negative */
		b->complete = 0;
	return true;
none:
	b->begin = b->end = b->kind = 0;
	return false;
}

/* --- a method's frame at the leaf --- */

/*
 * The instruction that adds n to rsp, or with HOTSPOT_SUB subtracts it, as a number. It has 4 bytes
 * if n is small, otherwise 7. No 4 bytes are equal to HOTSPOT_NO_CODE.
 */
enum { HOTSPOT_ADD = 0xc40000, HOTSPOT_SUB = 0xec0000 };

#define HOTSPOT_NO_CODE (1ULL << 32)

static inline __u64 unwind_moves_4(__u64 op, __u64 n)
{
	return n < 0x80 ? n << 24 | op | 0x8348 : HOTSPOT_NO_CODE;
}

static inline __u64 unwind_moves_7(__u64 op, __u64 n)
{
	return n << 24 | op | 0x8148;
}

/* Whether the 8 bytes end with the instruction. */
static inline __u64 unwind_moved(__u64 w, __u64 op, __u64 n)
{
	return unwind_is_zero(w >> 32 ^ unwind_moves_4(op, n)) |
	       unwind_is_zero(w >> 8 ^ unwind_moves_7(op, n));
}

static inline bool unwind_moves(__u64 w, __u64 op, __u64 n)
{
	return (w & 0xffffffff) == unwind_moves_4(op, n) ||
	       w << 8 >> 8 == unwind_moves_7(op, n);
}

/* Look for the instruction that makes the frame in the 8 bytes at `at`. What precedes the code does not count. */
UNWIND_PART int unwind_blob_scan_word(struct unwind_blob *b, __u64 word, __u64 at)
{
	__u64 window, made, small, large, larger;

	if (!b)
		return 0;
	window = b->window;
	made = b->made;
	small = unwind_moves_4(HOTSPOT_SUB, b->size - 16);
	large = unwind_moves_7(HOTSPOT_SUB, b->size - 16);
	larger = unwind_moves_7(HOTSPOT_SUB, b->size - 8);
	for (__u32 k = 0; k < 8; k++) {
		__u64 counts = 1 ^ (at + k - b->begin) >> 63;

		window = (window >> 8 | unwind_byte(word, k) << 56) * counts;
		made |= unwind_is_zero(window >> 32 ^ small) | unwind_is_zero(window >> 8 ^ large) |
			unwind_is_zero(window >> 8 ^ larger);
	}
	b->window = window;
	b->made = made;
	return 0;
}

static long unwind_blob_scan(__u32 i, struct unwind_env **ctx)
{
	struct unwind_blob *b = unwind_blob(*ctx);
	__u64 word, at = b->ip - HOTSPOT_BACK + i * 8;

	if (!unwind_read(*ctx, at, &word)) {
		b->unread = 1;
		return 1;
	}
	unwind_blob_scan_word(b, word, at);
	return 0;
}

/* mov %rsp,%rbp, which methods have if the VM was told to keep frame pointers. */
static inline bool unwind_is_frame_move(__u64 code)
{
	return (code & 0xffffff) == 0xe58948 || (code & 0xffffff) == 0xec8b48;
}

/* In the prologue: rbp is the caller's and may also be saved. */
static inline enum unwind_leaf_code unwind_blob_begins(struct unwind_env *env, __u64 before,
							__u64 code)
{
	struct unwind_blob *b = unwind_blob(env);

	b->window = b->made = b->unread = 0;
	unwind_repeat(HOTSPOT_BACK / 8, unwind_blob_scan, &env);
	if (b->unread)
		return UNWIND_FRAME_UNSURE;
	if (b->made) /* rbp may be saved by the next instruction: mov %rbp,N(%rsp) */
		return (code & 0xffffff) == 0x6c8948 || (code & 0xffffff) == 0xac8948 ?
			       UNWIND_FRAME_UNSAVED : UNWIND_FRAME_MADE;
	if ((code & 0xff) == 0x55)
		return UNWIND_FRAME_NOT_YET;
	if (before >> 56 == 0x55 && (unwind_is_frame_move(code) || b->size == 16))
		return UNWIND_FRAME_PUSHED;
	if (unwind_is_frame_move(before >> 40))
		before <<= 24;
	if (before >> 56 == 0x55 && unwind_moves(code, HOTSPOT_SUB, b->size - 16))
		return UNWIND_FRAME_PUSHED;
	return b->size == 16 ? UNWIND_FRAME_UNSURE : UNWIND_FRAME_NOT_YET;
}

/* Whether these 8 bytes end with the removal of the frame: add $N,%rsp; pop %rbp. */
static inline bool unwind_blob_removed(__u64 w, __u64 n)
{
	return w >> 56 == 0x5d && (unwind_moved(w << 8, HOTSPOT_ADD, n) || !n);
}

/*
 * In the epilogue. Between `pop' and `ret' the VM may ask the thread to stop: it compares rsp with a
 * member of the thread (4 or 7 bytes), and jumps if that is the case.
 */
static inline enum unwind_leaf_code unwind_blob_ends(const struct unwind_blob *b, __u64 further,
						     __u64 before, __u64 code)
{
	__u64 n = b->size - 16;

	if ((code & 0xff) == 0xc3 || (code & 0xff) == 0xc2)
		return UNWIND_FRAME_NOT_YET;
	if ((code & 0xff) == 0x5d)
		return unwind_moved(before, HOTSPOT_ADD, n) || !n ? UNWIND_FRAME_PUSHED :
								    UNWIND_FRAME_UNSURE;
	if (unwind_blob_removed(before, n))
		return UNWIND_FRAME_NOT_YET;
	if ((before >> 32 & 0xffffff) == 0x673b49 && unwind_blob_removed(before << 32 | further >> 32, n))
		return UNWIND_FRAME_NOT_YET;
	if ((before >> 8 & 0xffffff) == 0xa73b49 && unwind_blob_removed(before << 56 | further >> 8, n))
		return UNWIND_FRAME_NOT_YET;
	return UNWIND_FRAME_MADE;
}

static inline enum unwind_leaf_code unwind_blob_leaf(struct unwind_env *env, __u64 ip)
{
	struct unwind_blob *b = unwind_blob(env);
	__u64 code, before, further;

	if (!b->complete || !unwind_read(env, ip, &code) || !unwind_read(env, ip - 8, &before) ||
	    !unwind_read(env, ip - 16, &further))
		return UNWIND_FRAME_UNSURE;
	b->ip = ip;
	return ip - b->begin < b->complete ? unwind_blob_begins(env, before, code) :
					     unwind_blob_ends(b, further, before, code);
}

/* --- a step --- */

/*
 * Whether code continues at `ra`. After a call, in the interpreter, or where a method is left for the
 * interpreter: a call of the next instruction, or mov $x,%r10. May describe another blob.
 */
static inline bool unwind_blob_returns(struct unwind_env *env, __u64 ra, bool *called)
{
	__u64 code;

	*called = unwind_read(env, ra - 8, &code) && unwind_is_call(code);
	if (*called)
		return true;
	if (!unwind_blob_find(env, ra) || !unwind_read(env, ra, &code))
		return false;
	if (unwind_blob(env)->kind == UNWIND_BLOB_METHOD)
		return (code & 0xffffffffff) == 0xe8 || (code & 0xffff) == 0xba49;
	return unwind_blob(env)->kind == UNWIND_BLOB_INTERPRETER;
}

/*
 * Whether the word is an address of the stack, such as a saved rbp, and not of code. A stack may lie directly below
 * the VM's code: new mappings go below older ones.
 */
static inline bool unwind_is_in_stack(struct unwind_env *env, const struct unwind_regs *r, __u64 word)
{
	return word - r->sp < HOTSPOT_REACH && !unwind_heap_find(unwind_hotspot(env), word);
}

/* To the caller, whose return address is the word below `cfa`, and whose stack pointer is `sp`. Returns enum er_end. */
UNWIND_PART int unwind_blob_out(struct unwind_env *env, struct unwind_regs *r, __u64 cfa, __u64 sp, __u64 bp)
{
	__u64 ra;
	bool called;

	if (!env || !r || !unwind_read(env, cfa - 8, &ra))
		return ER_END_FAULT;
	ra = unwind_true_return(env, cfa - 8, ra);
	if (!ra)
		return ER_END_RA_ZERO;
	if (unwind_is_in_stack(env, r, ra) || !unwind_blob_returns(env, ra, &called))
		return ER_END_NO_CFI;
	*r = (struct unwind_regs){ .ip = ra, .sp = sp, .bp = bp,
				   .flags = (r->flags & UNWIND_USED_FP) | (called ? 0 : UNWIND_UNCALLED) };
	return ER_END_NOT;
}

/*
 * Look for the code that pushes, in the next 8 bytes. The registers are always these, and the first push is
 * before ip; the other 3 bytes may not be.
 *
 *	push %rcx; cmovle %eax,%edx				a comparison: the difference of the lengths
 *	push %rax; push %rsi; push %rdi; push %rcx	a search: the last one is rsp before it began
 */
UNWIND_PART int unwind_push_scan_word(struct unwind_blob *b, __u64 word)
{
	__u64 window, compares, searches;

	if (!b)
		return 0;
	window = b->window;
	compares = b->compares;
	searches = b->searches;
	for (__u32 k = 0; k < 8; k++) {
		window = window >> 8 | unwind_byte(word, k) << 56;
		compares |= unwind_is_zero(window >> 32 ^ 0xd04e0f51);
		searches |= unwind_is_zero(window >> 32 ^ 0x51575650);
	}
	b->window = window;
	b->compares = compares;
	b->searches = searches;
	return 0;
}

static long unwind_push_scan(__u32 i, struct unwind_env **ctx)
{
	struct unwind_blob *b = unwind_blob(*ctx);
	__u64 word, at = b->ip + 3 - HOTSPOT_PUSHES + i * 8;

	if (!unwind_read(*ctx, at, &word))
		word = 0;
	unwind_push_scan_word(b, word);
	return 0;
}

static inline void unwind_scan_pushes(struct unwind_env *env, const struct unwind_regs *r)
{
	struct unwind_blob *b = unwind_blob(env);

	b->ip = r->ip;
	b->window = b->compares = b->searches = 0;
	unwind_repeat(HOTSPOT_PUSHES / 8, unwind_push_scan, &env);
}

/*
 * rsp as it was before the method began to search a string, if it is doing that; else as it is. The search may
 * also have copied one string or both, 16 bytes each.
 */
static inline __u64 unwind_before_search(struct unwind_env *env, const struct unwind_regs *r)
{
	__u64 sp;

	if (!unwind_read(env, r->sp, &sp) || (sp - r->sp != 32 && sp - r->sp != 48 && sp - r->sp != 64))
		return r->sp;
	unwind_scan_pushes(env, r);
	return unwind_blob(env)->searches ? sp : r->sp;
}

/*
 * To the caller of a method that is comparing strings; its frame ends at `cfa`. Only if the word at the return
 * address's usual place is none. The word there must follow a call.
 */
static inline enum er_end unwind_out_of_comparison(struct unwind_env *env, struct unwind_regs *r, __u64 cfa)
{
	__u64 ra, bp, code;

	if (!unwind_read(env, cfa - 16, &bp) || !unwind_read(env, cfa - 8, &ra))
		return ER_END_FAULT;
	ra = unwind_true_return(env, cfa - 8, ra);
	if (!unwind_read(env, ra - 8, &code) || !unwind_is_call(code))
		return ER_END_NO_CFI;
	unwind_scan_pushes(env, r);
	if (!unwind_blob(env)->compares)
		return ER_END_NO_CFI;
	*r = (struct unwind_regs){ .ip = ra, .sp = cfa, .bp = bp, .flags = r->flags & UNWIND_USED_FP };
	return ER_END_NOT;
}

/* By the size of the frame. Its saved rbp is below the return address. */
static inline enum er_end unwind_blob_by_size(struct unwind_env *env, struct unwind_regs *r,
					      enum unwind_leaf_code kind)
{
	__u64 size = unwind_blob(env)->size, cfa, bp = r->bp;
	bool made = kind == UNWIND_FRAME_MADE, leaf = r->flags & UNWIND_EXACT;
	enum er_end end;

	if (kind == UNWIND_FRAME_UNSURE || size < 16)
		return ER_END_NO_CFI;
	cfa = (made && leaf ? unwind_before_search(env, r) : r->sp) + size;
	if (kind == UNWIND_FRAME_NOT_YET)
		cfa = r->sp + 8;
	else if (kind == UNWIND_FRAME_PUSHED)
		cfa = r->sp + 16;
	if ((made || kind == UNWIND_FRAME_PUSHED) && !unwind_read(env, cfa - 16, &bp))
		return ER_END_FAULT;
	end = unwind_blob_out(env, r, cfa, cfa, bp);
	if ((end == ER_END_NO_CFI || end == ER_END_RA_ZERO) && made && leaf)
		end = unwind_out_of_comparison(env, r, cfa + 8);
	return end;
}

/*
 * The caller's rsp, which the interpreter's frame has below its rbp; 0: it is none. A method handle that
 * calls another method (linkToStatic and its like) takes its last argument off the stack, and moves the
 * return address there: rsp of before lies a word too low.
 */
static inline __u64 unwind_blob_sender(struct unwind_env *env, const struct unwind_regs *r)
{
	__u64 sp;

	if (r->bp & 7 || !unwind_read(env, r->bp - 8, &sp))
		return 0;
	if (sp == r->bp + 8)
		return r->bp + 16;
	return sp & 7 || sp - r->bp < 16 || sp - r->bp > HOTSPOT_REACH ? 0 : sp;
}

/* By the frame pointer, which is below the return address. */
static inline enum er_end unwind_blob_by_pointer(struct unwind_env *env, struct unwind_regs *r,
						 __u64 sp)
{
	__u64 bp;

	if (!sp || r->bp & 7 || r->bp - r->sp > HOTSPOT_REACH)
		return ER_END_NO_CFI;
	if (!unwind_read(env, r->bp, &bp))
		return ER_END_FAULT;
	return unwind_blob_out(env, r, r->bp + 16, sp, bp);
}

/*
 * Step out of the VM's code. UNWIND_BY_POINTER: it is none, or its frame pointer decides. Then call
 * unwind_blob_stepped() after that step.
 */
static inline int unwind_by_blob(struct unwind_env *env, struct unwind_regs *r)
{
	struct unwind_blob *b = unwind_blob(env);
	bool leaf = r->flags & UNWIND_EXACT;
	enum unwind_leaf_code kind = UNWIND_FRAME_MADE;

	if (!b) /* UNWIND_NO_HOTSPOT */
		return UNWIND_BY_POINTER;
	b->frame = 0;
	if (!unwind_blob_find(env, unwind_lookup_pc(r)))
		return UNWIND_BY_POINTER;
	switch (b->kind) {
	case UNWIND_BLOB_METHOD:
		kind = leaf ? unwind_blob_leaf(env, r->ip) : UNWIND_FRAME_MADE;
		break;
	case UNWIND_BLOB_JUMP:
		return unwind_blob_out(env, r, r->sp + 8, r->sp + 8, r->bp);
	case UNWIND_BLOB_NATIVE:
		return leaf ? UNWIND_BY_POINTER : unwind_blob_by_pointer(env, r, r->bp + 16);
	case UNWIND_BLOB_INTERPRETER:
		b->frame = r->bp;
		b->sender = unwind_blob_sender(env, r);
		return leaf ? UNWIND_BY_POINTER : unwind_blob_by_pointer(env, r, b->sender);
	case UNWIND_BLOB_ADAPTER:
		return ER_END_NO_CFI;
	default:
		if (leaf || b->size < 16)
			return UNWIND_BY_POINTER;
	}
	return unwind_blob_by_size(env, r, kind); /* once: a function of its own would be a call too deep */
}

/* A step by the frame pointer has succeeded. Out of the interpreter, rsp is not what it seems. */
static inline enum er_end unwind_blob_stepped(struct unwind_env *env, struct unwind_regs *r)
{
	struct unwind_blob *b = unwind_blob(env);

	if (!unwind_has_hotspot(env) || b->kind != UNWIND_BLOB_INTERPRETER)
		return ER_END_NOT;
	if (!(r->flags & UNWIND_FP_CHAIN)) {
		b->frame = 0;
		return ER_END_NOT;
	}
	if (!b->sender)
		return ER_END_NO_CFI;
	r->sp = b->sender;
	return ER_END_NOT;
}

#endif
