/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree that the parser of filter expressions makes and the evaluator walks. */
#ifndef METRICS_FILTER_IMPL_H
#define METRICS_FILTER_IMPL_H

#include <ctype.h>
#include <regex.h>

#include "analysis/base/buf.h"
#include "analysis/base/vec.h"
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
	NODE_FIELD,    /* a field by name */
	NODE_TEXT,     /* a text: text, or a field */
	NODE_MATCH,    /* the text a, against each of the regular expressions items */
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
	const struct enumeration *values; /* names of what it may be; NULL none */
	VEC(struct node *) items;       /* LIST, MATCH */
	const char *field;              /* FIELD, TEXT */
	const struct exp_stream *last;  /* the stream that ref is about */
	struct field_ref ref;
	regex_t regex;                  /* FUNCS, DATA, and items of MATCH */
	bool has_regex, by_object;
	byte_vec funcs;               /* FUNCS: enum known, by function */
	bool stack_only;                /* IN of sets that only the stack decides */
	byte_vec stacks;              /* then: enum known, by stack */
	struct buf string;              /* TEXT: of a field, which has no NUL at its end */
};

struct filter {
	char *text;
	struct node *root;          /* NULL: true */
	const struct selection *selection;
	VEC(struct node *) nodes; /* all of them, each owned */
	VEC(char *) names;
	bool needs_all_functions; /* asks for functions as a set, so all must be known first */
};

/* What parser and names share. */
struct parser {
	const char *what; /* "filter", for messages */
	const char *text, *p;
	const struct session *session;
	const struct objtypes *types;
	const struct enumeration *values; /* of the left operand: its names may stand here */
	struct diag *diag;
	struct filter *f;
	int depth;
	bool failed;
};

/* filter_parse.c. NULL after reporting, once for an expression, what is wrong at `at`. */
struct node *parse_fail(struct parser *ps, const char *at, const char *what);
struct node *parse_cond(struct parser *ps);
struct node *node_new(struct parser *ps, enum node_kind kind);
void skip_blanks(struct parser *ps);
bool parse_accept(struct parser *ps, const char *token);
bool parse_expect(struct parser *ps, const char *token, const char *what);

/* filter_names.c. An operand that begins with a letter, or with a quote. */
struct node *parse_name(struct parser *ps);
struct node *parse_value_in_quotes(struct parser *ps);
/* A regular expression in quotes, or several in parentheses, that the text is compared with. */
struct node *parse_match(struct parser *ps, struct node *text, enum op op);
/* The leaf's function, which only the stack decides. */
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
