/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/knowncode.h"

#include <stdbool.h>
#include <string.h>

#include "user/unwind/crtcode.h"

enum {
	START_MAX = 128, /* bytes of a program's start that are examined */
	CALL = 0xe8,
	CALL_BYTES = 5,
	SEARCH_MAX = 1 << 20, /* a larger gap is code of a language without entries */
};

struct bytes {
	const char *p;
	size_t n;
};

#define BYTES(text) { text, sizeof(text) - 1 }

static const struct bytes endbr = BYTES("\xf3\x0f\x1e\xfa");

const struct er_unwind_rule knowncode_outermost = { .cfa = ER_CFA_SP, .ra = ER_RA_NONE };

/* The kernel's signal frame: struct sigcontext behind 40 bytes of struct ucontext. */
static const struct er_unwind_rule signal_frame = {
	.cfa = ER_CFA_DEREF_SP, .cfa_off = 160, .bp = ER_BP_SP, .bp_off = 120,
	.ra = ER_RA_SP, .ra_off = 168, .flags = ER_RULE_SIGNAL,
};

static bool begins(const unsigned char *p, const unsigned char *end, const struct bytes *with)
{
	return (size_t)(end - p) >= with->n && !memcmp(p, with->p, with->n);
}

/* The end of the first call in [p, end) to code in this file. NULL: there is none. */
static const unsigned char *after_call(const struct elftext *e, const unsigned char *p,
				       const unsigned char *end)
{
	for (; end - p >= CALL_BYTES; p++) {
		int32_t by;
		uint64_t to;

		memcpy(&by, p + 1, sizeof(by));
		to = p + CALL_BYTES - e->data + (int64_t)by;
		if (*p == CALL && to < e->size)
			return p + CALL_BYTES;
	}
	return NULL;
}

/*
 * The code at which the kernel starts the program; it has no caller. A C library's start clears rbp
 * and then calls. glibc's dynamic loader calls, and jumps to the program by r12.
 */
static void find_entry(const struct knowncode *k, uint64_t begin, uint64_t end, knowncode_fn *found,
		       void *ctx)
{
	static const struct bytes clears[] = { BYTES("\x31\xed"), BYTES("\x48\x31\xed") };
	static const struct bytes loader = BYTES("\x48\x89\xe7\xe8"), leave = BYTES("\x41\xff\xe4");
	const struct elftext *e = k->elf;
	const unsigned char *p, *last, *stop = NULL;
	uint64_t entry = k->entry;

	if (!entry || entry < begin || entry >= end)
		return;
	p = e->data + entry;
	last = end - entry < START_MAX ? e->data + end : p + START_MAX;
	if (begins(p, last, &loader)) {
		stop = memmem(p, last - p, leave.p, leave.n);
		stop = stop ? stop + leave.n : NULL;
	} else {
		const unsigned char *code = begins(p, last, &endbr) ? p + endbr.n : p;

		for (size_t i = 0; i < sizeof(clears) / sizeof(clears[0]) && !stop; i++)
			if (begins(code, last, &clears[i]))
				stop = after_call(e, code, last);
	}
	if (stop)
		found(ctx, entry, stop - e->data, &knowncode_outermost);
}

/* .init and .fini: calls between a subtraction from rsp and its addition. */
static void find_section(const struct elftext *e, uint64_t at, uint64_t n, uint64_t begin,
			 uint64_t end, knowncode_fn *found, void *ctx)
{
	static const struct bytes grow = BYTES("\x48\x83\xec\x08");
	static const struct bytes shrink = BYTES("\x48\x83\xc4\x08\xc3");
	struct er_unwind_rule rule = { .cfa = ER_CFA_SP, .cfa_off = 8, .ra_off = -8 };
	const unsigned char *p, *stop;
	uint64_t body;

	if (at < begin || at >= end || n > end - at || n < grow.n + shrink.n)
		return;
	p = e->data + at;
	stop = p + n - shrink.n;
	body = at + grow.n + (begins(p, stop, &endbr) ? endbr.n : 0);
	if (!begins(e->data + body - grow.n, stop, &grow) || !begins(stop, p + n, &shrink))
		return;
	found(ctx, at, body, &rule);
	found(ctx, at + n - 1, at + n, &rule);
	rule.cfa_off = 16;
	found(ctx, body, at + n - 1, &rule);
}

/*
 * Find each occurrence of the bytes. A return address is looked up one byte before it. Code that is
 * only returned to therefore has its rule from that byte on.
 */
static void find_bytes(const struct elftext *e, const struct bytes *b, uint64_t begin, uint64_t end,
		       unsigned before, const struct er_unwind_rule *rule, knowncode_fn *found,
		       void *ctx)
{
	const unsigned char *p = e->data + begin, *last = e->data + end;

	while ((p = memmem(p, last - p, b->p, b->n))) {
		uint64_t at = p - e->data;

		if (at >= begin + before)
			found(ctx, at - before, at + b->n, rule);
		p += b->n;
	}
}

void knowncode_init(struct knowncode *k, const struct elftext *e)
{
	*k = (struct knowncode){ .elf = e };
	if (!e->entry || !elftext_offset(e, e->entry, &k->entry))
		k->entry = 0;
	if (!elftext_section(e, ".init", &k->sections[0].at, &k->sections[0].size))
		k->sections[0].size = 0;
	if (!elftext_section(e, ".fini", &k->sections[1].at, &k->sections[1].size))
		k->sections[1].size = 0;
}

/* mov $SYS_rt_sigreturn,%rax; syscall */
static const struct bytes restorer = BYTES("\x48\xc7\xc0\x0f\0\0\0\x0f\x05");

bool knowncode_is_restorer(const unsigned char *p, size_t n)
{
	return memmem(p, n, restorer.p, restorer.n);
}

void knowncode_in(const struct knowncode *k, uint64_t begin, uint64_t end, knowncode_fn *found,
		  void *ctx)
{
	const struct elftext *e = k->elf;
	/* call *%r9; mov %eax,%edi; xor %eax,%eax; mov $SYS_exit,%al; syscall */
	static const struct bytes clone = BYTES("\x41\xff\xd1\x89\xc7\x31\xc0\xb0\x3c\x0f\x05");

	find_entry(k, begin, end, found, ctx);
	for (int i = 0; i < 2; i++)
		find_section(e, k->sections[i].at, k->sections[i].size, begin, end, found, ctx);
	if (end - begin > SEARCH_MAX)
		return;
	find_bytes(e, &restorer, begin, end, 1, &signal_frame, found, ctx);
	find_bytes(e, &clone, begin, end, 0, &knowncode_outermost, found, ctx);
	crtcode_in(e, begin, end, found, ctx);
}

/* nop; call goexit1, which does not return; nop */
bool knowncode_is_goexit(const struct elftext *e, uint64_t begin, uint64_t end)
{
	enum { NOP = 0x90 };
	const unsigned char *p = e->data + begin;

	return end - begin == KNOWNCODE_GOEXIT && p[0] == NOP && p[1] == CALL &&
	       p[KNOWNCODE_GOEXIT - 1] == NOP;
}
