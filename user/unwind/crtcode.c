/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/crtcode.h"

#include <stdbool.h>
#include <string.h>

/*
 * The code of a function up to its last jump or return, two digits a byte; "..": any byte, such as
 * those of a distance. [ stands behind `push %rbp`, ] behind `pop %rbp`. > stands before the
 * distance of a short jump: it leads to the function's last return, and padding may lie between.
 */
static const char *const deregister[] = {
	"488d3d........ 488d05........ 4839f8 74>.. 488b05........ 4885c0 74.. ffe0",
	"b8........ 483d........ 74>.. b8........ 4885c0 74.. bf........ ffe0",
};
static const char *const registers[] = {
	"488d3d........ 488d35........ 4829fe 4889f0 48c1ee3f 48c1f803 4801c6 48d1fe 74>.. "
	"488b05........ 4885c0 "
	"74.. ffe0",
	"be........ 4881ee........ 4889f0 48c1ee3f 48c1f803 4801c6 48d1fe 74>.. b8........ 4885c0 "
	"74.. bf........ "
	"ffe0",
};
static const char *const destructors[] = {
	"803d........00 75>.. 55[ 48833d........00 4889e5 74.. 488b3d........ e8........ "
	"e8........ c605........01 "
	"5d] c3",
	"803d........00 75>.. 55[ 4889e5 e8........ c605........01 5d] c3",
};

enum {
	FORMS = 2,
	ANY = -1,
	DUMMY_ALIGN = 16,
	JUMP = 0xe9,
	SHORT_JUMP = 0xeb,
	RETURN = 0xc3,
};

static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* Where a function is, in file offsets. */
struct place {
	uint64_t begin, end;
	uint64_t pushed,
		popped; /* rbp is on the stack from `pushed` up to `popped`; both 0: never */
};

static int digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* The next byte of the form, or ANY. Moves *form behind it. */
static int form_byte(const char **form)
{
	const char *f = *form;

	*form += 2;
	return *f == '.' ? ANY : digit(f[0]) << 4 | digit(f[1]);
}

/* The offset that the short jump's distance at `at` leads to, if the code there returns. Else 0. */
static uint64_t last_return(const struct elftext *e, uint64_t at, uint64_t end)
{
	uint64_t to = at + 1 + (int64_t)(int8_t)e->data[at];

	return to > at && to < end && e->data[to] == RETURN ? to : 0;
}

/* Whether the code at `at` has this form. */
static bool matches(const struct elftext *e, const char *form, uint64_t at, uint64_t end,
		    struct place *ret)
{
	uint64_t last = 0;

	*ret = (struct place){ .begin = at };
	while (*form) {
		int byte;

		switch (*form) {
		case ' ':
			form++;
			continue;
		case '[':
			ret->pushed = at;
			form++;
			continue;
		case ']':
			ret->popped = at;
			form++;
			continue;
		case '>':
			last = at < end ? last_return(e, at, end) : 0;
			form++;
			continue;
		}
		byte = form_byte(&form);
		if (at >= end || (byte != ANY && e->data[at] != byte))
			return false;
		at++;
	}
	ret->end = last + 1;
	return last >= at;
}

/* The first function in the code that has one of the forms. */
static bool find(const struct elftext *e, const char *const forms[FORMS], uint64_t begin,
		 uint64_t end, struct place *ret)
{
	for (int i = 0; i < FORMS; i++) {
		const char *form = forms[i];
		unsigned char first = form_byte(&form);

		for (uint64_t at = begin; at < end; at++) {
			const unsigned char *p = memchr(e->data + at, first, end - at);

			if (!p)
				break;
			at = p - e->data;
			if (matches(e, forms[i], at, end, ret))
				return true;
		}
	}
	return false;
}

static void report(const struct place *p, knowncode_fn *found, void *ctx)
{
	static const struct er_unwind_rule plain = { .cfa = ER_CFA_SP, .cfa_off = 8, .ra_off = -8 };
	static const struct er_unwind_rule saved = {
		.cfa = ER_CFA_SP, .cfa_off = 16, .ra_off = -8, .bp = ER_BP_CFA, .bp_off = -16
	};

	if (!p->pushed) {
		found(ctx, p->begin, p->end, &plain);
		return;
	}
	found(ctx, p->begin, p->pushed, &plain);
	found(ctx, p->pushed, p->popped, &saved);
	found(ctx, p->popped, p->end, &plain);
}

/* frame_dummy is a jump to register_tm_clones. It follows __do_global_dtors_aux. */
static void find_dummy(const struct elftext *e, uint64_t after, uint64_t end, uint64_t target,
		       knowncode_fn *found, void *ctx)
{
	struct place p = { .begin = (after + DUMMY_ALIGN - 1) / DUMMY_ALIGN * DUMMY_ALIGN };
	uint64_t at = p.begin;
	int32_t by = 0;

	if (end < at + sizeof(endbr) + 5)
		return;
	if (!memcmp(e->data + at, endbr, sizeof(endbr)))
		at += sizeof(endbr);
	if (e->data[at] == JUMP) {
		memcpy(&by, e->data + at + 1, sizeof(by));
		p.end = at + 5;
	} else if (e->data[at] == SHORT_JUMP) {
		by = (int8_t)e->data[at + 1];
		p.end = at + 2;
	}
	if (p.end && p.end + by == target)
		report(&p, found, ctx);
}

/* The linker keeps the order of crtbegin.o's functions. */
void crtcode_in(const struct elftext *e, uint64_t begin, uint64_t end, knowncode_fn *found,
		void *ctx)
{
	struct place p, second;

	if (!find(e, deregister, begin, end, &p))
		return;
	report(&p, found, ctx);
	if (!find(e, registers, p.end, end, &second))
		return;
	report(&second, found, ctx);
	if (!find(e, destructors, second.end, end, &p))
		return;
	if (p.begin >= second.end + sizeof(endbr) &&
	    !memcmp(e->data + p.begin - sizeof(endbr), endbr, sizeof(endbr)))
		p.begin -= sizeof(endbr);
	report(&p, found, ctx);
	find_dummy(e, p.end, end, second.begin, found, ctx);
}
