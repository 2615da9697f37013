/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/goframes.h"

#include <string.h>

#include "user/unwind/knowncode.h"

enum {
	WORD = 8,
	DEPTH_MAX = 1 << 30,
	RESTORER_MAX = 64, /* bytes of the return from a signal handler */
};

static const struct er_unwind_rule unknown_stack = { .cfa = ER_CFA_BAD };

/* --- the table --- */

static bool named(const struct go_function *f, const char *name)
{
	return !strcmp(f->name, name);
}

/* The code of a function. NULL: the file has not all of it. */
static const unsigned char *code_of(const struct goframes *g, const struct go_function *f)
{
	uint64_t first, last;

	if (!elftext_offset(g->elf, f->start, &first) || !elftext_offset(g->elf, f->end - 1, &last) ||
	    last - first != f->end - 1 - f->start)
		return NULL;
	return g->elf->data + first;
}

static bool is_goexit(const struct goframes *g, const struct go_function *f, const unsigned char *p)
{
	uint64_t at = p - g->elf->data;

	return f->end - f->start >= KNOWNCODE_GOEXIT &&
	       knowncode_is_goexit(g->elf, at, at + KNOWNCODE_GOEXIT);
}

/*
 * Find the functions of the runtime whose code is needed first. False: goexit, whose bytes are known,
 * is not where the table says. Then nothing else is.
 */
static bool find_runtime(struct goframes *g)
{
	bool in_place = false;
	struct go_function f;

	for (uint64_t i = 0; i < g->table.n; i++) {
		const unsigned char *p = gotable_function(&g->table, i, &f) ? code_of(g, &f) : NULL;

		if (p && named(&f, "runtime.goexit"))
			in_place = is_goexit(g, &f, p);
		else if (p && named(&f, "runtime.systemstack"))
			goswitch_learn(&g->stacks, p, f.end - f.start);
	}
	return in_place;
}

/* The address of .text; 0: there is none. */
static uint64_t text_of(const struct elftext *e)
{
	uint64_t at, size;

	if (!elftext_section(e, ".text", &at, &size))
		return 0;
	for (unsigned i = 0; i < e->nsegments; i++)
		if (at - e->segments[i].offset < e->segments[i].size)
			return e->segments[i].addr + (at - e->segments[i].offset);
	return 0;
}

/* The table is open. */
static bool begin(struct goframes *g)
{
	if (!g->table.reads_calls)
		return false;
	if (!g->table.text)
		g->table.text = text_of(g->elf);
	return find_runtime(g);
}

bool goframes_open(struct goframes *g, const struct elftext *e)
{
	uint64_t at, size;
	size_t skipped;

	*g = (struct goframes){ .elf = e };
	if (elftext_section(e, ".gopclntab", &at, &size) ||
	    elftext_section(e, ".data.rel.ro.gopclntab", &at, &size))
		return gotable_open(e->data + at, size, &g->table) == GO_FOUND && begin(g);
	return elftext_section(e, ".data.rel.ro", &at, &size) &&
	       gotable_search(e->data + at, size, &skipped, &g->table) && begin(g);
}

void goframes_close(struct goframes *g)
{
	vec_free(&g->depths);
}

bool goframes_next(struct goframes *g, struct go_function *ret)
{
	while (g->next < g->table.n)
		if (gotable_function(&g->table, g->next++, ret) && code_of(g, ret))
			return true;
	return false;
}

/* --- a function --- */

/*
 * A function that starts a stack. Handlers of signals, too, are marked so; but their caller, the
 * interrupted function, is known.
 */
static bool is_top(const struct go_function *f)
{
	return f->flags & GO_TOP && !strstr(f->name, ".sig") && !strstr(f->name, ".cgoSig");
}

/*
 * A goroutine that has to give up its thread in runtime.morestack stops here, and the scheduler runs.
 * It goes on elsewhere, so the stack is complete.
 */
static bool never_returns(const struct go_function *f)
{
	return named(f, "runtime.goschedImpl") || named(f, "runtime.preemptPark");
}

/* The call through a register in runtime.mcall; 0: there is none. *size is that of the instruction. */
static uint64_t call_in_mcall(const unsigned char *p, size_t n, size_t *size)
{
	enum { PREFIX = 0x41, CALL = 0xff, REGISTER = 0xd0 };

	for (size_t i = 1; i + 1 < n; i++) {
		if (p[i] != CALL || (p[i + 1] & 0xf8) != REGISTER)
			continue;
		*size = p[i - 1] == PREFIX ? 3 : 2;
		return i + 2 - *size;
	}
	return 0;
}

/*
 * mcall changes to the thread's own stack, for a function that does not return: the caller's
 * goroutine stops, and the scheduler runs. So the stack is complete there.
 */
static void rules_of_mcall(const struct goframes *g, const struct go_function *f, goframes_fn *found,
			   void *ctx)
{
	size_t size;
	uint64_t at = call_in_mcall(code_of(g, f), f->end - f->start, &size);

	found(ctx, f->start, &unknown_stack);
	if (!at)
		return;
	found(ctx, f->start + at, &knowncode_outermost);
	found(ctx, f->start + at + size, &unknown_stack);
}

/* rbp: a function with a frame has its own. No other Go function needs it. */
static struct er_unwind_rule rule_of(int32_t bytes)
{
	if (bytes < 0 || bytes > DEPTH_MAX)
		return unknown_stack;
	return (struct er_unwind_rule){ .cfa = ER_CFA_SP, .cfa_off = bytes + WORD, .ra_off = -WORD,
					.bp = bytes ? ER_BP_LOST : ER_BP_SAME };
}

/* The rules of the depths that begin from `begin` on and before `end`. */
static void rules_of_depths(const struct goframes *g, uint64_t begin, uint64_t end, goframes_fn *found,
			    void *ctx)
{
	vec_for_each(d, &g->depths) {
		struct er_unwind_rule rule = rule_of(d->bytes);

		if (d->start >= begin && d->start < end)
			found(ctx, d->start, &rule);
	}
}

/* The function calls others on the thread's own stack, and knows then where the goroutine's is. */
static void rules_of_switch(const struct go_function *f, const struct goswitch_part *part,
			    goframes_fn *found, void *ctx)
{
	found(ctx, f->start, &unknown_stack);
	found(ctx, f->start + part->from, &part->rule);
	found(ctx, f->start + part->to, &unknown_stack);
}

static int32_t depth_at(const struct goframes *g, uint64_t pc)
{
	int32_t bytes = -1;

	vec_for_each(d, &g->depths) {
		if (d->start <= pc)
			bytes = d->bytes;
	}
	return bytes;
}

/* Behind the first return after pc, where there is no frame. f->end: no code follows it. */
static uint64_t behind_return(const struct goframes *g, const struct go_function *f, uint64_t pc)
{
	bool returns = false;

	vec_for_each(d, &g->depths) {
		if (returns)
			return d->start;
		returns = d->start > pc && !d->bytes;
	}
	return f->end;
}

/*
 * A function that reads a clock changes back to its own frame at part->to, and returns. Behind the
 * return is the code for machines without a vdso, which runs on the thread's stack again.
 */
static void rules_of_clock(const struct goframes *g, const struct go_function *f,
			   const struct goswitch_part *part, goframes_fn *found, void *ctx)
{
	uint64_t from = f->start + part->from, to = f->start + part->to;
	struct er_unwind_rule own = rule_of(depth_at(g, to));
	uint64_t behind = behind_return(g, f, to);

	rules_of_depths(g, f->start, from, found, ctx);
	found(ctx, from, &part->rule);
	found(ctx, to, &own);
	rules_of_depths(g, to + 1, behind, found, ctx);
	if (behind < f->end)
		found(ctx, behind, &part->rule);
}

static void rules_of_part(const struct goframes *g, const struct go_function *f,
			  const struct goswitch_part *part, goframes_fn *found, void *ctx)
{
	if (part->returns)
		rules_of_clock(g, f, part, found, ctx);
	else
		rules_of_switch(f, part, found, ctx);
}

/* Read the function's depths. Returns the end of its code: the depths of padding are not known. */
static uint64_t read_depths(struct goframes *g, const struct go_function *f)
{
	const struct go_depth *last;

	g->depths.len = 0;
	gotable_depths(&g->table, f, &g->depths);
	last = &g->depths.data[g->depths.len - 1];
	if (g->depths.len < 2 || last->bytes >= 0)
		return f->end;
	g->depths.len--;
	return last->start;
}

uint64_t goframes_rules(struct goframes *g, const struct go_function *f, goframes_fn *found, void *ctx)
{
	const unsigned char *p = code_of(g, f);
	uint64_t end = read_depths(g, f);
	struct goswitch_part part;

	if (knowncode_is_restorer(p, f->end - f->start < RESTORER_MAX ? f->end - f->start : RESTORER_MAX))
		return f->start;
	if (named(f, "runtime.mcall"))
		rules_of_mcall(g, f, found, ctx);
	else if (is_top(f) || never_returns(f))
		found(ctx, f->start, &knowncode_outermost);
	else if (goswitch_find(&g->stacks, f->name, p, f->end - f->start, &part))
		rules_of_part(g, f, &part, found, ctx);
	else if (f->flags & GO_SWITCHES)
		found(ctx, f->start, &unknown_stack);
	else
		rules_of_depths(g, f->start, f->end, found, ctx);
	return end;
}
