/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/asmcode.h"

#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "user/unwind/insn.h"
#include "user/unwind/stackop.h"

enum { RETURN_ADDRESS = 8, CFA_MAX = 1 << 20 };

/* What holds at an instruction. All zero: no path leads there yet. */
struct state {
	int32_t cfa; /* CFA - rsp */
	int32_t bp;  /* the caller's rbp is at CFA - bp; 0: it is in rbp */
};

struct paths {
	const unsigned char *code;
	size_t n;
	struct state *at;    /* n of each */
	unsigned char *size; /* of the instructions that paths lead to */
	uint16_t *todo;      /* instructions to follow; each is here once */
	size_t ntodo;
};

static const struct state at_entry = { .cfa = RETURN_ADDRESS };

static bool same(const struct state *a, const struct state *b)
{
	return a->cfa == b->cfa && a->bp == b->bp;
}

/* A path leads to `to`. False: not all paths agree, or it leaves the function with a frame. */
static bool go_to(struct paths *p, uint64_t to, const struct state *st, bool jump)
{
	if (to >= p->n)
		return jump && same(st, &at_entry); /* it calls another function */
	if (p->at[to].cfa)
		return same(&p->at[to], st);
	p->at[to] = *st;
	p->todo[p->ntodo++] = to;
	return true;
}

/* What holds behind the instruction. False: the frame can no longer be told. */
static bool apply(const struct stackop *op, struct state *st)
{
	int32_t cfa = st->cfa;

	if (op->names_bp && !st->bp)
		return false;
	if (op->pop_bp) {
		if (!st->bp)
			return false;
		if (st->bp == cfa)
			st->bp = 0;
	}
	/* Constants are from the code, so they may be any numbers. */
	if (op->grows > CFA_MAX || op->grows < -CFA_MAX)
		return false;
	st->cfa += op->grows;
	if (op->push_bp && !st->bp)
		st->bp = st->cfa;
	return st->cfa >= RETURN_ADDRESS && st->cfa <= CFA_MAX && st->cfa >= st->bp;
}

/* Whether code that the function calls is its own: it has another frame, or reads the pc. */
static bool calls_itself(const struct paths *p, const struct insn *in, const struct stackop *op)
{
	return op->calls && in->target && in->target < p->n;
}

static bool follow(struct paths *p, size_t at)
{
	struct state st = p->at[at];
	struct stackop op;
	struct insn in;

	if (insn_decode(p->code + at, p->n - at, at, &in) || !stackop_of(&in, &op) || calls_itself(p, &in, &op) ||
	    !apply(&op, &st))
		return false;
	p->size[at] = in.length;
	if (op.stops)
		return true;
	if (in.kind == INSN_RETURN)
		return same(&st, &at_entry);
	if ((in.kind == INSN_JUMP || in.kind == INSN_BRANCH) && !go_to(p, in.target, &st, true))
		return false;
	return in.kind == INSN_JUMP || go_to(p, at + in.length, &st, false);
}

static bool follow_all(struct paths *p)
{
	bool ok = go_to(p, 0, &at_entry, false);

	while (ok && p->ntodo)
		ok = follow(p, p->todo[--p->ntodo]);
	return ok;
}

static struct er_unwind_rule rule_of(const struct state *st)
{
	if (!st->cfa)
		return (struct er_unwind_rule){ .cfa = ER_CFA_NO_ENTRY };
	return (struct er_unwind_rule){ .cfa = ER_CFA_SP, .cfa_off = st->cfa, .ra_off = -RETURN_ADDRESS,
					.bp = st->bp ? ER_BP_CFA : ER_BP_SAME, .bp_off = -st->bp };
}

/* Bytes that no path leads to have no rule: they may be another function's. */
static void report(const struct paths *p, asmcode_row_fn *row, void *ctx)
{
	struct state last = { 0 };
	size_t end = 0; /* of the instructions so far */

	for (size_t i = 0; i < p->n; i++) {
		struct er_unwind_rule rule = rule_of(&p->at[i]);

		if (!p->size[i] && i < end)
			continue;
		if (!same(&p->at[i], &last))
			row(ctx, i, &rule);
		last = p->at[i];
		end = p->size[i] ? i + p->size[i] : end;
	}
}

bool asmcode_rules(const unsigned char *code, size_t n, asmcode_row_fn *row, void *ctx)
{
	struct paths p = { .code = code, .n = n };
	bool ok;

	if (!n || n > ASMCODE_BYTES)
		return false;
	p.at = xcalloc(n, sizeof(*p.at));
	p.size = xcalloc(n, sizeof(*p.size));
	p.todo = xcalloc(n, sizeof(*p.todo));
	ok = follow_all(&p);
	if (ok)
		report(&p, row, ctx);
	free(p.at);
	free(p.size);
	free(p.todo);
	return ok;
}
