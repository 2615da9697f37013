/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of a filter expression: filter_parse.c builds it, filter_eval.c evaluates it. */
#ifndef METRICS_FILTER_IMPL_H
#define METRICS_FILTER_IMPL_H

#include <ctype.h>
#include <regex.h>

#include "analysis/base/buf.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/metrics/filter.h"

enum op {
	OP_NONE,
	OP_OR, OP_AND, OP_BIT_OR, OP_BIT_XOR, OP_BIT_AND, OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE,
	OP_IN, OP_SOME_IN, OP_ORDERED_IN, OP_SHL, OP_SHR, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD,
	OP_NOT, OP_INVERT, OP_NEGATE,
};

enum node_kind {
	NODE_CONST,
	NODE_PROPERTY, /* a number: get */
	NODE_FIELD,    /* a number: a field by name */
	NODE_TEXT,     /* a text: property, or field */
	NODE_MATCH,    /* compares the text a with the regular expressions in items */
	NODE_HAS,      /* whether a is known */
	NODE_UNARY, NODE_BINARY, NODE_COND,
	NODE_LIST, NODE_STACK, NODE_FUNCS, NODE_DATA, /* sets */
};

enum known { UNKNOWN, NO, YES };

typedef VEC(unsigned char) byte_vec; /* of enum known */

struct node {
	enum node_kind kind;
	enum op op;
	struct node *a, *b, *c;
	int64_t value;
	struct value (*get)(const struct hit *h);
	const char *(*text)(const struct hit *h);
	const struct enumeration *values; /* names of its values; NULL: none */
	VEC(struct node *) items;       /* LIST, MATCH */
	bool of_span;                   /* FIELD: of the call of a span that contains the packet */
	const char *field;              /* FIELD, TEXT */
	const struct exp_stream *last;  /* the stream that ref was looked up in */
	struct field_ref ref;
	regex_t regex;                  /* FUNCS, DATA, and the items of MATCH */
	bool has_regex, by_object;
	byte_vec funcs;               /* FUNCS: enum known, by function */
	bool stack_only;                /* IN, with a result that depends only on the stack */
	byte_vec stacks;              /* cached results: enum known, by stack */
	struct buf string;              /* TEXT: NUL-terminated copy of a field */
};

struct filter {
	char *text;
	struct node *root;          /* NULL: always true */
	const struct selection *selection;
	VEC(struct node *) nodes; /* all nodes; owned */
	VEC(char *) names;
	bool has_spans;           /* has properties of spans: calls are looked at one by one */
	bool needs_all_functions; /* has sets of functions, so all functions must be known first */
};

/* Shared by parser and names. */
struct parser {
	const char *what; /* "filter" etc., for messages */
	const char *text, *p;
	struct session *session;
	const struct objtypes *types;
	const struct enumeration *values; /* of the left operand; their names are allowed here */
	struct diag *diag;
	struct filter *f;
	int depth;
	bool failed;
};

/*
 * filter_parse.c. Report what is wrong at `at`, only the first time for an expression.
 * Returns NULL.
 */
struct node *parse_fail(struct parser *ps, const char *at, const char *what);
struct node *parse_cond(struct parser *ps);
struct node *node_new(struct parser *ps, enum node_kind kind);
void skip_blanks(struct parser *ps);
bool parse_accept(struct parser *ps, const char *token);
bool parse_expect(struct parser *ps, const char *token, const char *what);

/* filter_names.c. Parse an operand that begins with a letter or a quote. */
struct node *parse_name(struct parser *ps);
struct node *parse_value_in_quotes(struct parser *ps);
/* Parse what a text is compared with: a quoted regular expression, or several in parentheses. */
struct node *parse_match(struct parser *ps, struct node *text, enum op op);
/* Whether this is the leaf's function, which depends only on the stack. */
bool node_is_leaf(const struct node *n);

static inline bool name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static inline bool node_is_set(const struct node *n)
{
	return n->kind == NODE_LIST || n->kind == NODE_STACK || n->kind == NODE_FUNCS ||
	       n->kind == NODE_DATA;
}

#endif
