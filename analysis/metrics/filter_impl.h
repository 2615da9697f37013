/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree that the parser of filter expressions makes and the evaluator walks. */
#ifndef METRICS_FILTER_IMPL_H
#define METRICS_FILTER_IMPL_H

#include <regex.h>

#include "analysis/base/vec.h"
#include "analysis/metrics/filter.h"
#include "analysis/metrics/pass.h"

enum op {
	OP_NONE,
	OP_OR, OP_AND, OP_BIT_OR, OP_BIT_XOR, OP_BIT_AND, OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE,
	OP_IN, OP_SOME_IN, OP_ORDERED_IN, OP_SHL, OP_SHR, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD,
	OP_NOT, OP_INVERT, OP_NEGATE,
};

enum node_kind {
	NODE_CONST,
	NODE_VAR,    /* a number of every packet: get */
	NODE_FIELD,  /* a field by name */
	NODE_UNARY, NODE_BINARY, NODE_COND,
	NODE_LIST, NODE_STACK, NODE_FUNCS, /* sets */
};

enum known { UNKNOWN, NO, YES };

typedef VEC(unsigned char) byte_vec; /* of enum known */

struct node {
	enum node_kind kind;
	enum op op;
	struct node *a, *b, *c;
	int64_t value;
	int64_t (*get)(const struct hit *h);
	VEC(struct node *) items;       /* LIST */
	const char *field;              /* FIELD */
	const struct exp_stream *last;  /* FIELD: the stream that ref is about */
	struct field_ref ref;
	regex_t regex;                  /* FUNCS */
	bool has_regex, by_object;
	byte_vec funcs;               /* FUNCS: enum known, by function */
	bool stack_only;                /* IN of sets that only the stack decides */
	byte_vec stacks;              /* then: enum known, by stack */
};

struct filter {
	char *text;
	struct node *root;
	VEC(struct node *) nodes; /* all of them, each owned */
	VEC(char *) names;
	bool needs_all_functions; /* asks for functions as a set, so all must be known first */
};

static inline bool node_is_set(const struct node *n)
{
	return n->kind == NODE_LIST || n->kind == NODE_STACK || n->kind == NODE_FUNCS;
}

#endif
