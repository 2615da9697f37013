/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recursive descent for operands, precedence climbing for binary operators,
 * which are rows of a table. Depth and size are bounded, for the evaluator
 * recurses along the tree.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/diag.h"
#include "analysis/metrics/filter_impl.h"
#include "analysis/model/session.h"

enum { DEPTH_MAX = 100, NODES_MAX = 5000, COND_PRECEDENCE = 0 };

struct parser {
	const char *text, *p;
	const struct session *session;
	struct diag *diag;
	struct filter *f;
	int depth;
	bool failed;
};

struct binary {
	const char *token;
	enum op op;
	int precedence;
	bool word; /* not followed by a name character */
};

/* Longer tokens before their prefixes. */
static const struct binary binaries[] = {
	{ "||", OP_OR, 1, false },	{ "&&", OP_AND, 2, false },
	{ "==", OP_EQ, 6, false },	{ "!=", OP_NE, 6, false },
	{ "<<", OP_SHL, 8, false },	{ ">>", OP_SHR, 8, false },
	{ "<=", OP_LE, 7, false },	{ ">=", OP_GE, 7, false },
	{ "<", OP_LT, 7, false },	{ ">", OP_GT, 7, false },
	{ "|", OP_BIT_OR, 3, false },	{ "^", OP_BIT_XOR, 4, false },
	{ "&", OP_BIT_AND, 5, false },	{ "+", OP_ADD, 9, false },
	{ "-", OP_SUB, 9, false },	{ "*", OP_MUL, 10, false },
	{ "/", OP_DIV, 10, false },	{ "%", OP_MOD, 10, false },
	{ "SOME", OP_SOME_IN, 7, true }, { "ORDERED", OP_ORDERED_IN, 7, true },
	{ "IN", OP_IN, 7, true },
};

static int64_t get_thread(const struct hit *h)
{
	return hit_thread(h);
}

static int64_t get_lwp(const struct hit *h)
{
	return hit_lwp(h);
}

static int64_t get_cpu(const struct hit *h)
{
	return hit_cpu(h);
}

static int64_t get_time(const struct hit *h)
{
	return hit_time(h);
}

static int64_t get_expid(const struct hit *h)
{
	return h->e->id;
}

static int64_t get_leaf(const struct hit *h)
{
	const struct session *s = h->session;
	const struct stack *st = &s->stacks.data[h->stack];

	return s->frames.data[s->stack_frames.data[st->first]].func->id;
}

static const struct variable {
	const char *name;
	int64_t (*get)(const struct hit *h);
} variables[] = {
	{ "THRID", get_thread }, { "LWPID", get_lwp },	  { "CPUID", get_cpu },
	{ "TSTAMP", get_time },	 { "EXPID", get_expid },  { "PID", hit_pid },
	{ "SAMPLE", hit_sample }, { "LEAF", get_leaf },
};

static struct node *parse_cond(struct parser *ps);

static struct node *fail(struct parser *ps, const char *at, const char *what)
{
	if (!ps->failed)
		diag_error(ps->diag, "filter '%s': column %zu: %s", ps->text,
			   (size_t)(at - ps->text) + 1, what);
	ps->failed = true;
	return NULL;
}

static struct node *node_new(struct parser *ps, enum node_kind kind)
{
	struct node *n;

	if (ps->f->nodes.len == NODES_MAX)
		return fail(ps, ps->p, "the expression is too long");
	n = xcalloc(1, sizeof(*n));
	n->kind = kind;
	vec_push(&ps->f->nodes, n);
	return n;
}

static void skip_blanks(struct parser *ps)
{
	ps->p += strspn(ps->p, " \t\n");
}

static bool name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool accept(struct parser *ps, const char *token)
{
	skip_blanks(ps);
	if (strncmp(ps->p, token, strlen(token)))
		return false;
	ps->p += strlen(token);
	return true;
}

static bool expect(struct parser *ps, const char *token, const char *what)
{
	if (accept(ps, token))
		return true;
	fail(ps, ps->p, what);
	return false;
}

static struct node *parse_number(struct parser *ps)
{
	const char *start = ps->p;
	struct node *n = node_new(ps, NODE_CONST);
	char *end;

	errno = 0;
	if (n)
		n->value = (int64_t)strtoull(start, &end, 0);
	if (!n || errno || name_char(*end))
		return fail(ps, start, "not a number that can be represented");
	ps->p = end;
	return n;
}

/* "…" or '…', a backslash before a quote taking it literally. */
static char *parse_string(struct parser *ps)
{
	char quote, *s, *to;

	skip_blanks(ps);
	quote = *ps->p;
	if (quote != '"' && quote != '\'') {
		fail(ps, ps->p, "a regular expression in quotes is missing");
		return NULL;
	}
	to = s = xmalloc(strlen(ps->p));
	for (ps->p++; *ps->p && *ps->p != quote; ps->p++) {
		if (ps->p[0] == '\\' && ps->p[1] == quote)
			ps->p++;
		*to++ = *ps->p;
	}
	*to = '\0';
	if (accept(ps, quote == '"' ? "\"" : "'"))
		return s;
	fail(ps, ps->p, "the closing quote is missing");
	free(s);
	return NULL;
}

static struct node *parse_funcs(struct parser *ps, bool by_object)
{
	__cleanup(freep) char *text = NULL;
	__cleanup(freep) char *whole = NULL;
	const char *at;
	struct node *n;

	if (!expect(ps, "(", "'(' is missing"))
		return NULL;
	skip_blanks(ps);
	at = ps->p;
	text = parse_string(ps);
	if (!text || !expect(ps, ")", "')' is missing"))
		return NULL;
	n = node_new(ps, NODE_FUNCS);
	if (!n)
		return NULL;
	whole = xasprintf("^(%s)$", text);
	if (regcomp(&n->regex, whole, REG_EXTENDED | REG_NOSUB))
		return fail(ps, at, "not a regular expression");
	n->has_regex = true;
	n->by_object = by_object;
	return n;
}

static bool is_field(const struct session *s, const char *name)
{
	for (size_t i = 0; i < npacket_descs; i++) {
		for (size_t j = 0; j < packet_descs[i].nfields; j++) {
			if (!strcmp(packet_descs[i].fields[j].name, name))
				return true;
		}
	}
	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams) {
			if (stream_field(st, name).offset)
				return true;
		}
	}
	return false;
}

static struct node *parse_name(struct parser *ps)
{
	const char *start = ps->p;
	struct node *n;
	char *name;

	while (name_char(*ps->p))
		ps->p++;
	name = xstrndup(start, ps->p - start);
	vec_push(&ps->f->names, name);
	for (char *c = name; *c; c++)
		*c = toupper((unsigned char)*c);
	if (!strcmp(name, "STACK"))
		return node_new(ps, NODE_STACK);
	if (!strcmp(name, "FNAME") || !strcmp(name, "LNAME"))
		return parse_funcs(ps, *name == 'L');
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		if (strcmp(variables[i].name, name))
			continue;
		n = node_new(ps, NODE_VAR);
		if (n)
			n->get = variables[i].get;
		return n;
	}
	if (!is_field(ps->session, name))
		return fail(ps, start, "no packet has a field of this name");
	n = node_new(ps, NODE_FIELD);
	if (n)
		n->field = name;
	return n;
}

/* (expression), or (a, b, …), a set. */
static struct node *parse_parens(struct parser *ps)
{
	struct node *first = parse_cond(ps), *list;

	if (!first || accept(ps, ")"))
		return first;
	list = node_new(ps, NODE_LIST);
	if (!list)
		return NULL;
	vec_push(&list->items, first);
	while (accept(ps, ",")) {
		struct node *item = parse_cond(ps);

		if (!item)
			return NULL;
		vec_push(&list->items, item);
	}
	return expect(ps, ")", "')' is missing") ? list : NULL;
}

static struct node *parse_unary(struct parser *ps);

static struct node *parse_unary_op(struct parser *ps, enum op op)
{
	const char *at = ps->p;
	struct node *a = parse_unary(ps), *n;

	if (!a)
		return NULL;
	if (node_is_set(a))
		return fail(ps, at, "a set stands where a number should");
	n = node_new(ps, NODE_UNARY);
	if (!n)
		return NULL;
	n->op = op;
	n->a = a;
	return n;
}

static struct node *parse_operand(struct parser *ps)
{
	skip_blanks(ps);
	if (accept(ps, "!"))
		return parse_unary_op(ps, OP_NOT);
	if (accept(ps, "~"))
		return parse_unary_op(ps, OP_INVERT);
	if (accept(ps, "-"))
		return parse_unary_op(ps, OP_NEGATE);
	if (accept(ps, "+"))
		return parse_unary(ps);
	if (accept(ps, "("))
		return parse_parens(ps);
	if (isdigit((unsigned char)*ps->p))
		return parse_number(ps);
	if (name_char(*ps->p))
		return parse_name(ps);
	return fail(ps, ps->p, *ps->p ? "an operand should stand here" :
					"the expression ends where an operand should stand");
}

static struct node *parse_unary(struct parser *ps)
{
	struct node *n;

	if (++ps->depth > DEPTH_MAX)
		return fail(ps, ps->p, "too deeply nested");
	n = parse_operand(ps);
	ps->depth--;
	return n;
}

/* The operator at the current place, stepped over when it binds tightly enough. */
static const struct binary *accept_binary(struct parser *ps, int precedence)
{
	const char *start;

	skip_blanks(ps);
	start = ps->p;
	for (size_t i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++) {
		const struct binary *b = &binaries[i];
		size_t n = strlen(b->token);

		if (strncasecmp(start, b->token, n) || (b->word && name_char(start[n])))
			continue;
		if (b->precedence <= precedence)
			return NULL;
		ps->p += n;
		if (b->op != OP_SOME_IN && b->op != OP_ORDERED_IN)
			return b;
		skip_blanks(ps);
		if (strncasecmp(ps->p, "IN", 2) || name_char(ps->p[2])) {
			fail(ps, ps->p, "IN should stand here");
			return NULL;
		}
		ps->p += 2;
		return b;
	}
	return NULL;
}

static bool only_stack(const struct node *n)
{
	return n->kind == NODE_STACK || n->kind == NODE_FUNCS || (n->kind == NODE_VAR && n->get == get_leaf);
}

static struct node *binary_new(struct parser *ps, const struct binary *op, struct node *a,
			       struct node *b, const char *at)
{
	bool in = op->op == OP_IN || op->op == OP_SOME_IN || op->op == OP_ORDERED_IN;
	struct node *n;

	if (!in && (node_is_set(a) || node_is_set(b)))
		return fail(ps, at, "a set stands where a number should");
	n = node_new(ps, NODE_BINARY);
	if (!n)
		return NULL;
	n->op = op->op;
	n->a = a;
	n->b = b;
	n->stack_only = in && only_stack(a) && only_stack(b);
	if (in && op->op != OP_SOME_IN && a->kind != NODE_STACK && node_is_set(a))
		ps->f->needs_all_functions = true;
	return n;
}

static struct node *parse_binary(struct parser *ps, int precedence)
{
	struct node *a = parse_unary(ps);

	while (a && !ps->failed) {
		const struct binary *op;
		const char *at;
		struct node *b;

		skip_blanks(ps);
		at = ps->p;
		op = accept_binary(ps, precedence);
		if (!op)
			break;
		b = parse_binary(ps, op->precedence);
		a = b ? binary_new(ps, op, a, b, at) : NULL;
	}
	return ps->failed ? NULL : a;
}

static struct node *parse_cond(struct parser *ps)
{
	struct node *a, *n;

	if (++ps->depth > DEPTH_MAX)
		return fail(ps, ps->p, "too deeply nested");
	a = parse_binary(ps, COND_PRECEDENCE);
	ps->depth--;
	if (!a || !accept(ps, "?"))
		return a;
	n = node_new(ps, NODE_COND);
	if (!n)
		return NULL;
	n->a = a;
	n->b = parse_cond(ps);
	if (!n->b || !expect(ps, ":", "':' is missing"))
		return NULL;
	n->c = parse_cond(ps);
	if (n->c && (node_is_set(n->a) || node_is_set(n->b) || node_is_set(n->c)))
		return fail(ps, ps->p, "a set stands where a number should");
	return n->c ? n : NULL;
}

struct filter *filter_parse(const struct session *s, const char *text, struct diag *d)
{
	struct filter *f = xcalloc(1, sizeof(*f));
	struct parser ps = { .session = s, .diag = d, .f = f };

	f->text = xstrdup(text);
	ps.text = ps.p = f->text;
	f->root = parse_cond(&ps);
	skip_blanks(&ps);
	if (f->root && node_is_set(f->root))
		fail(&ps, ps.text, "the expression is a set, not true or false");
	else if (f->root && *ps.p)
		fail(&ps, ps.p, "an operator should stand here");
	if (!ps.failed)
		return f;
	filter_free(f);
	return NULL;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	vec_for_each(p, &f->nodes) {
		struct node *n = *p;

		if (n->has_regex)
			regfree(&n->regex);
		vec_free(&n->items);
		vec_free(&n->funcs);
		vec_free(&n->stacks);
		free(n);
	}
	vec_for_each(name, &f->names)
		free(*name);
	vec_free(&f->nodes);
	vec_free(&f->names);
	free(f->text);
	free(f);
}

const char *filter_text(const struct filter *f)
{
	return f->text;
}
