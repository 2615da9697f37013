/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/goplaces.h"

#include <string.h>

#include "user/unwind/elftext.h"
#include "user/unwind/goframes.h"
#include "user/unwind/padding.h"

enum { DISTANCE_MAX = 1 << 14, WORD = 8 };

/* --- code --- */

enum { LOAD = 0x8b, STORE = 0x89, COMPARE = 0x39, STACK = 4 };

/* An instruction with a register and memory at a distance from another register. */
struct access {
	uint8_t opcode, reg, base;
	int32_t distance;
	size_t size; /* of the instruction; 0: it is another kind of instruction */
};

static struct access access_at(const unsigned char *p, size_t n)
{
	struct access a = { 0 };
	unsigned mode, base;

	if (n < 8 || (p[0] & 0xf8) != 0x48) /* a prefix for 8 bytes */
		return a;
	mode = p[2] >> 6;
	base = p[2] & 7;
	a = (struct access){ .opcode = p[1], .reg = (p[2] >> 3 & 7) | (p[0] & 4) << 1, .base = base | (p[0] & 1) << 3 };
	/* A byte more follows for the stack pointer, which alone is used with it. */
	if (base == STACK && p[3] != 0x24)
		return a;
	p += 3 + (base == STACK);
	if (mode == 1) {
		a.distance = (int8_t)p[0];
		a.size = 4 + (base == STACK);
	} else if (mode == 2 && base != STACK) {
		memcpy(&a.distance, p, sizeof(a.distance));
		a.size = 7;
	}
	return a;
}

/* The first place from `at` on that is no padding. */
static size_t behind_padding(const unsigned char *p, size_t n, size_t at)
{
	size_t length;

	while (at < n && (length = padding_length(p + at, n - at)))
		at += length;
	return at;
}

static bool is_access(const struct access *a, uint8_t opcode)
{
	return a->size && a->opcode == opcode;
}

/*
 * A processor (P) has a cache of numbers, from `next` to `last`, which are neighbours. At p: is the cache empty?
 * Returns the place where the code goes on if it is not, where `next` is loaded again; n: this is other code.
 */
static size_t behind_check(const unsigned char *p, size_t n, struct access *next)
{
	struct access last;
	size_t at;

	*next = access_at(p, n);
	if (!is_access(next, LOAD) || next->base == STACK)
		return n;
	at = behind_padding(p, n, next->size);
	last = access_at(p + at, n - at);
	if (!is_access(&last, COMPARE) || last.reg != next->reg || last.base != next->base ||
	    last.distance != next->distance + WORD)
		return n;
	at = behind_padding(p, n, at + last.size);
	if (n - at < 2 || p[at] != 0x75 || p[at + 1] > 0x7f) /* jne, forwards */
		return n;
	return at + 2 + p[at + 1] < n ? at + 2 + p[at + 1] : n;
}

/* Load `next` at p, perhaps the goroutine's address from the stack, and store the number there. 0: other code. */
static int32_t stored_at(const unsigned char *p, size_t n, const struct access *next)
{
	struct access load = access_at(p, n), store, g;
	size_t at = behind_padding(p, n, load.size);

	if (!is_access(&load, LOAD) || load.base != next->base || load.distance != next->distance)
		return 0;
	store = access_at(p + at, n - at);
	if (is_access(&store, LOAD) && store.base == STACK && store.reg != load.reg) {
		g = store;
		at = behind_padding(p, n, at + g.size);
		store = access_at(p + at, n - at);
		if (store.base != g.reg)
			return 0;
	}
	return is_access(&store, STORE) && store.reg == load.reg && store.base != STACK ? store.distance : 0;
}

uint16_t goplaces_number(const unsigned char *p, size_t n)
{
	int32_t found = 0;

	for (size_t i = 0; i < n; i++) {
		struct access next;
		size_t at = behind_check(p + i, n - i, &next);
		int32_t distance = at < n - i ? stored_at(p + i + at, n - i - at, &next) : 0;

		if (!distance)
			continue;
		if (found || distance < 0 || distance >= DISTANCE_MAX || distance % WORD)
			return 0;
		found = distance;
	}
	return found;
}

/* --- a program --- */

/* From Go 1.18 on: a header of 32 bytes, and the version as a string with its length before it. */
static uint16_t maker_of(const unsigned char *p, size_t n)
{
	enum { HEADER = 32 };
	unsigned version[2] = { 0 };
	size_t at = HEADER + 1, end;

	if (n <= HEADER || !(p[15] & 2) || p[HEADER] > n - at || p[HEADER] < 2 || memcmp(p + at, "go", 2))
		return GO_UNKNOWN_MAKER;
	end = at + p[HEADER];
	at += 2;
	for (int i = 0; i < 2; i++) {
		for (; at < end && p[at] >= '0' && p[at] <= '9' && version[i] < 100; at++)
			version[i] = version[i] * 10 + (p[at] - '0');
		at += at < end && p[at] == '.';
	}
	if (!version[0] || version[0] > 0xff || version[1] > 0xff)
		return GO_UNKNOWN_MAKER;
	return version[0] << 8 | version[1];
}

/* The program's functions are open. */
static void find_places(struct goframes *g, struct er_go_places *ret)
{
	const struct goswitch *s = &g->stacks;
	struct go_function f;
	uint64_t at;

	while (s->g && goframes_next(g, &f)) {
		if (strcmp(f.name, "runtime.newproc1") || !elftext_offset(g->elf, f.start, &at))
			continue;
		ret->goid = goplaces_number(g->elf->data + at, f.end - f.start);
		break;
	}
	if (!ret->goid)
		return;
	ret->g = s->g;
	ret->m = s->m;
	ret->curg = s->curg;
}

void goplaces_find(const void *elf, size_t size, struct er_go_places *ret)
{
	struct elftext e;
	struct goframes g;
	uint64_t at, n;

	*ret = (struct er_go_places){ 0 };
	if (elftext_open(&e, elf, size))
		return;
	if (elftext_section(&e, ".go.buildinfo", &at, &n))
		ret->maker = maker_of(e.data + at, n);
	if (!goframes_open(&g, &e))
		return;
	if (!ret->maker)
		ret->maker = GO_UNKNOWN_MAKER;
	find_places(&g, ret);
	goframes_close(&g);
}
