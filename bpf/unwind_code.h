/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a few bytes of x86-64 code say about a frame. Used for code that keeps frame pointers and
 * has no unwind information. Code is read in words of 8 bytes, the first byte lowest. Nothing is
 * disassembled, so a byte may be in the middle of another instruction. Where that could give a
 * wrong answer, the answer is UNWIND_FRAME_UNSURE. The scans use arithmetic without branches,
 * because the verifier would follow each branch in each round of a loop.
 */
#ifndef ER_UNWIND_CODE_H
#define ER_UNWIND_CODE_H

/*
 * A function that the verifier checks once, and not again for each path that leads to a call. It returns a number, and
 * checks its pointers. A walker in BPF defines this as __noinline.
 */
#ifndef UNWIND_PART
#define UNWIND_PART static inline
#endif

enum {
	UNWIND_BACK = 64,  /* bytes of code before ip that are searched for a prologue */
	UNWIND_AHEAD = 32, /* and from ip on */
	UNWIND_FAR = 512,  /* bytes before ip that are searched for the function's beginning, */
	UNWIND_FAR_TURNS = 4, /* and how often as many before those, if they do not show it */
};

/* How much of its frame the function has set up. */
enum unwind_leaf_code {
	UNWIND_FRAME_MADE,    /* rbp is the frame's */
	UNWIND_FRAME_PUSHED,  /* rbp is the caller's and is saved at sp */
	UNWIND_FRAME_NOT_YET, /* nor any longer: rbp is the caller's, the return address at sp */
	UNWIND_FRAME_UNSURE,
	UNWIND_FRAME_UNSAVED, /* only where the frame's size is known: it is made, and rbp still the caller's */
};

static inline __u64 unwind_byte(__u64 word, __u32 i)
{
	return word >> 8 * i & 0xff;
}

/* 1 if v is 0, else 0. v is below 2^63. */
static inline __u64 unwind_is_zero(__u64 v)
{
	asm volatile("" : "+r"(v)); /* otherwise the compiler makes a branch of it */
	return (v - 1) >> 63;
}

/*
 * Whether a call instruction ends at the end of `code`, 8 bytes: call rel32, or FF /2 with its 2,
 * 3, 4, 6 or 7 bytes.
 */
static inline bool unwind_is_call(__u64 code)
{
	__u64 call = unwind_is_zero(unwind_byte(code, 3) ^ 0xe8);

	call |= unwind_is_zero((code >> 48 & 0x38ff) ^ 0x10ff);
	call |= unwind_is_zero((code >> 40 & 0x38ff) ^ 0x10ff);
	call |= unwind_is_zero((code >> 32 & 0x38ff) ^ 0x10ff);
	call |= unwind_is_zero((code >> 16 & 0x38ff) ^ 0x10ff);
	call |= unwind_is_zero((code >> 8 & 0x38ff) ^ 0x10ff);
	return call;
}

/*
 * The target of the direct call that ends at `ra`, from the 8 bytes before `ra`; 0: there is no
 * such call.
 */
static inline __u64 unwind_call_target(__u64 ra, __u64 code)
{
	return unwind_byte(code, 3) == 0xe8 ? ra + (__s64)(__s32)(code >> 32) : 0;
}

/*
 * Whether the code restored rbp (pop %rbp or leave) directly before a jump. Such a jump calls
 * another function.
 */
static inline bool unwind_is_tail_jump(__u64 before, __u64 code)
{
	__u8 last = unwind_byte(before, 7), jump = code;

	if (last == 0x5d && (unwind_byte(before, 6) & 0xf1) == 0x41) /* pop %r13 */
		return false;
	return (last == 0x5d || last == 0xc9) &&
	       (jump == 0xe9 || jump == 0xeb || (code & 0x38ff) == 0x20ff);
}

/*
 * Whether the code leaves a realigned frame by `leave; lea -N(%reg),%rsp`. Then rbp is the
 * caller's.
 */
static inline bool unwind_is_realigned_end(__u64 before, __u64 code)
{
	return (code & 0xf8ffff) == 0x608d49 || (before >> 32 & 0xf8ffff) == 0x608d49;
}

/*
 * Decides by the 8 bytes before ip and the 8 bytes at ip. UNWIND_FRAME_MADE is then only the
 * likeliest answer.
 */
static inline enum unwind_leaf_code unwind_leaf_code(__u64 before, __u64 code)
{
	__u8 first = code;

	if (first == 0x55 || (code & 0xffffffff) == 0xfa1e0ff3) /* push %rbp; endbr64 */
		return UNWIND_FRAME_NOT_YET;
	if ((code & 0xffff) == 0x25ff || (code & 0xffffff) == 0x25fff2) /* jmp *mem: a PLT entry */
		return UNWIND_FRAME_NOT_YET;
	if (first == 0xc3 || first == 0xc2 || (code & 0xffff) == 0xc3f3) /* ret; rep ret */
		return UNWIND_FRAME_NOT_YET;
	if ((code & 0xffffff) == 0xe58948 || (code & 0xffffff) == 0xec8b48) /* mov %rsp,%rbp */
		return UNWIND_FRAME_PUSHED;
	if (unwind_is_realigned_end(before, code))
		return UNWIND_FRAME_UNSURE;
	if (unwind_is_tail_jump(before, code))
		return UNWIND_FRAME_NOT_YET;
	return UNWIND_FRAME_MADE;
}

/*
 * 1 if another function may begin at `next`, before which the code ends with the bytes `w`, the last
 * one lowest; else 0. Compilers align functions to 16 bytes. Before them there is padding (int3 or hlt
 * twice), a jump to another function (pop %rbp; jmp rel32), or a call that does not return (call rel32;
 * int3). 0xcccccccd is what compilers multiply by instead of dividing by 5.
 */
static inline __u64 unwind_is_border(__u64 w, __u64 next)
{
	__u64 padding = unwind_is_zero((w & 0xffff) ^ 0xcccc) | unwind_is_zero((w & 0xffff) ^ 0xf4f4);
	__u64 number = unwind_is_zero((w & 0xffffffff) ^ 0xcdcccccc);
	__u64 jump = unwind_is_zero((w >> 32 & 0xffff) ^ 0x5de9);
	__u64 call = unwind_is_zero((w >> 40 & 0xff) ^ 0xe8) & unwind_is_zero((w & 0xff) ^ 0xcc);

	return unwind_is_zero(next & 15) & ((padding & (1 ^ number)) | jump | call);
}

/* A scan for `mov %rsp,%rbp`, which completes a prologue. All zero: nothing has been scanned. */
struct unwind_scan {
	__u64 window; /* the last 8 bytes, the last one lowest */
	__u64 found;  /* 1: it is there */
	__u64 other;  /* 1: code that may restore rbp follows it; ahead of ip: code ends before it */
};

static inline __u64 unwind_scan_byte(struct unwind_scan *s, __u64 byte)
{
	__u64 three;

	s->window = s->window << 8 | byte;
	three = s->window & 0xffffff;
	return unwind_is_zero(three ^ 0x4889e5) | unwind_is_zero(three ^ 0x488bec);
}

/*
 * Scan the next 8 bytes before ip, after `at` earlier ones. The first `skip` bytes before ip do not
 * count, nor does what precedes the beginning of a function. `from` is the address of the first byte.
 */
UNWIND_PART int unwind_scan_back(struct unwind_scan *s, __u64 word, __u64 from, __u64 at, __u64 skip)
{
	if (!s)
		return 0;
	for (__u32 i = 0; i < 8; i++) {
		__u64 byte = unwind_byte(word, i), counts = 1 ^ (at + i - skip) >> 63;
		__u64 made, undone, same;

		s->window *= counts;
		made = counts & unwind_scan_byte(s, byte * counts);
		undone = unwind_is_zero(byte ^ 0x5d) | unwind_is_zero(byte ^ 0xc9);
		same = 1 ^ unwind_is_border(s->window, from + at + i + 1);
		s->other = (s->other | (s->found & undone)) & (1 ^ made) & same;
		s->found = (s->found | made) & same;
	}
	return 0;
}

/* What a scan met last: a prologue, the border of a function, or a return after an epilogue. */
enum unwind_met { UNWIND_MET_NONE, UNWIND_MET_PROLOGUE, UNWIND_MET_BORDER, UNWIND_MET_RETURN };

struct unwind_far {
	__u64 window; /* the last 8 bytes, the last one lowest */
	__u64 met;    /* enum unwind_met */
	__u64 returns; /* 0: returns do not count */
};

/*
 * Scan the next 8 bytes, which are at `at`. Patterns: push %rbp; mov %rsp,%rbp in its two encodings; a
 * border; pop %rbp or leave, then ret.
 */
UNWIND_PART int unwind_scan_far(struct unwind_far *s, __u64 word, __u64 at)
{
	if (!s)
		return 0;
	for (__u32 i = 0; i < 8; i++) {
		__u64 w = s->window = s->window << 8 | unwind_byte(word, i);
		__u64 two = w & 0xffff, four = w & 0xffffffff, met;

		met = unwind_is_zero(four ^ 0x554889e5) | unwind_is_zero(four ^ 0x55488bec);
		met += 2 * unwind_is_border(w, at + i + 1);
		met += 3 * s->returns * (unwind_is_zero(two ^ 0x5dc3) | unwind_is_zero(two ^ 0x5dc2) |
					 unwind_is_zero(two ^ 0xc9c3));
		s->met = s->met * unwind_is_zero(met) + met;
	}
	return 0;
}

/* Scan the next 8 bytes from ip on, up to a return, int3, a jump (direct, or to a register) or ud2. */
UNWIND_PART int unwind_scan_ahead(struct unwind_scan *s, __u64 word)
{
	if (!s)
		return 0;
	for (__u32 i = 0; i < 8; i++) {
		__u64 byte = unwind_byte(word, i);

		s->found |= unwind_scan_byte(s, byte) & (1 ^ s->other);
		s->other |= unwind_is_zero(byte ^ 0xc3) | unwind_is_zero(byte ^ 0xcc) |
			    unwind_is_zero(byte ^ 0xe9) | unwind_is_zero((s->window & 0xffff) ^ 0x0f0b) |
			    unwind_is_zero((s->window & 0xfff8) ^ 0xffe0);
	}
	return 0;
}

#endif
