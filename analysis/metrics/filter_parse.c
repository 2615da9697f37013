/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses operands by recursive descent, and binary operators, which are rows of a
 * table, by precedence climbing. Depth and size are bounded because the evaluator is
 * recursive. Operands that begin with a letter are in filter_names.c.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/diag.h"
#include "analysis/metrics/filter_impl.h"

enum { DEPTH_MAX = 100, NODES_MAX = 5000, COND_PRECEDENCE = 0 };

struct binary {
	const char *token;
	enum op op;
	int precedence;
	bool word; /* must not be followed by a name character */
};

/* Tokens must come before their prefixes. */
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

/* The number of columns that a terminal needs for these bytes. */
static int columns(const char *text, size_t n)
{
	__cleanup(freep) char *copy = xstrndup(text, n);
	struct buf b = { 0 };
	int ret = 0;

	buf_put_printable(&b, copy);
	for (size_t i = 0; i < b.len; i++)
		ret += (b.data[i] & 0xc0) != 0x80;
	buf_free(&b);
	return ret;
}

struct node *parse_fail(struct parser *ps, const char *at, const char *what)
{
	size_t n = at - ps->text;

	if (!ps->failed) {
		diag_error(ps->diag, "%s: column %zu: %s", ps->what, n + 1, what);
		diag_note(ps->diag, "  %s", ps->text);
		diag_note(ps->diag, "  %*s^", columns(ps->text, n), "");
	}
	ps->failed = true;
	return NULL;
}

struct node *node_new(struct parser *ps, enum node_kind kind)
{
	struct node *n;

	if (ps->f->nodes.len == NODES_MAX)
		return parse_fail(ps, ps->p, "the expression is too long");
	n = xcalloc(1, sizeof(*n));
	n->kind = kind;
	vec_push(&ps->f->nodes, n);
	return n;
}

void skip_blanks(struct parser *ps)
{
	ps->p += strspn(ps->p, " \t\n");
}

bool parse_accept(struct parser *ps, const char *token)
{
	skip_blanks(ps);
	if (strncmp(ps->p, token, strlen(token)))
		return false;
	ps->p += strlen(token);
	return true;
}

bool parse_expect(struct parser *ps, const char *token, const char *what)
{
	if (parse_accept(ps, token))
		return true;
	parse_fail(ps, ps->p, what);
	return false;
}

/* Times are in nanoseconds; a unit and a fraction may be given. */
static const struct {
	const char *name;
	int64_t ns;
} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };

enum { SCALE_MAX = 1000000000 }; /* nine digits of a fraction are nanoseconds of a second */

/* Parse a unit at *p. Returns its nanoseconds; 0: there is none. */
static int64_t unit_at(const char **p)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t n = strlen(units[i].name);

		if (strncmp(*p, units[i].name, n) || name_char((*p)[n]))
			continue;
		*p += n;
		return units[i].ns;
	}
	return 0;
}

/* Parse "3s" or "1.5ms". False: not a time, or too large. */
static bool time_at(const char **p, int64_t *ret)
{
	const char *s = *p, *digits = s;
	int64_t whole = 0, part = 0, scale = 1, ns;

	for (; isdigit((unsigned char)*s); s++) {
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, *s - '0', &whole))
			return false;
	}
	if (*s == '.') {
		for (digits = ++s; isdigit((unsigned char)*s); s++) {
			part = scale < SCALE_MAX ? part * 10 + (*s - '0') : part;
			scale *= scale < SCALE_MAX ? 10 : 1;
		}
	}
	ns = s > digits ? unit_at(&s) : 0;
	if (!ns || __builtin_mul_overflow(whole, ns, &whole))
		return false;
	*p = s;
	return !__builtin_add_overflow(whole, part * ns / scale, ret);
}

bool filter_time(const char *text, int64_t *ret)
{
	return time_at(&text, ret) && !*text;
}

static struct node *parse_number(struct parser *ps)
{
	const char *start = ps->p;
	struct node *n = node_new(ps, NODE_CONST);
	char *end;

	if (!n || time_at(&ps->p, &n->value))
		return n;
	errno = 0;
	n->value = (int64_t)strtoull(start, &end, 0);
	if (errno || name_char(*end) || *end == '.')
		return parse_fail(ps, start, "not a number that can be represented; a time may "
					     "have the unit s, ms, us or ns");
	ps->p = end;
	return n;
}

/* (expression), or a set (a, b, …). */
static struct node *parse_parens(struct parser *ps)
{
	struct node *first = parse_cond(ps), *list;

	if (!first || parse_accept(ps, ")"))
		return first;
	list = node_new(ps, NODE_LIST);
	if (!list)
		return NULL;
	vec_push(&list->items, first);
	while (parse_accept(ps, ",")) {
		struct node *item = parse_cond(ps);

		if (!item)
			return NULL;
		vec_push(&list->items, item);
	}
	return parse_expect(ps, ")", "')' is missing") ? list : NULL;
}

static bool is_number(struct parser *ps, const struct node *n, const char *at)
{
	if (node_is_set(n))
		parse_fail(ps, at, "a number is expected here, not a set; only IN takes sets");
	else if (n->kind == NODE_TEXT)
		parse_fail(ps, at, "a number is expected here, not text; text is compared by ==, "
				   "!= or IN");
	return !ps->failed;
}

static struct node *parse_unary(struct parser *ps);

static struct node *parse_unary_op(struct parser *ps, enum op op)
{
	const char *at = ps->p;
	struct node *a = parse_unary(ps), *n;

	if (!a)
		return NULL;
	if (!is_number(ps, a, at))
		return NULL;
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
	if (parse_accept(ps, "!"))
		return parse_unary_op(ps, OP_NOT);
	if (parse_accept(ps, "~"))
		return parse_unary_op(ps, OP_INVERT);
	if (parse_accept(ps, "-"))
		return parse_unary_op(ps, OP_NEGATE);
	if (parse_accept(ps, "+"))
		return parse_unary(ps);
	if (parse_accept(ps, "("))
		return parse_parens(ps);
	if (isdigit((unsigned char)*ps->p))
		return parse_number(ps);
	if (name_char(*ps->p))
		return parse_name(ps);
	if (*ps->p == '"' || *ps->p == '\'')
		return parse_value_in_quotes(ps);
	return parse_fail(ps, ps->p, *ps->p ? "an operand is expected here" :
					"the expression ends where an operand is expected");
}

static struct node *parse_unary(struct parser *ps)
{
	struct node *n;

	if (++ps->depth > DEPTH_MAX)
		return parse_fail(ps, ps->p, "too deeply nested");
	n = parse_operand(ps);
	ps->depth--;
	return n;
}

/* Accept the operator at the current position if its precedence is high enough. */
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
			parse_fail(ps, ps->p, "IN is expected here");
			return NULL;
		}
		ps->p += 2;
		return b;
	}
	return NULL;
}

static bool only_stack(const struct node *n)
{
	return n->kind == NODE_STACK || n->kind == NODE_FUNCS || node_is_leaf(n);
}

static bool is_in(enum op op)
{
	return op == OP_IN || op == OP_SOME_IN || op == OP_ORDERED_IN;
}

/* Two operands and where they are: a begins at `left`, b ends before `right`. */
struct pair {
	enum op op;
	struct node *a, *b;
	const char *left, *right;
};

static struct node *binary_new(struct parser *ps, const struct pair *p)
{
	bool in = is_in(p->op);
	struct node *n;

	if (in ? p->b->kind == NODE_TEXT :
		 !is_number(ps, p->a, p->left) || !is_number(ps, p->b, p->right))
		return in ? parse_fail(ps, p->right, "text cannot be in a set of numbers") : NULL;
	n = node_new(ps, NODE_BINARY);
	if (!n)
		return NULL;
	n->op = p->op;
	n->a = p->a;
	n->b = p->b;
	n->stack_only = in && only_stack(p->a) && only_stack(p->b);
	if (in && p->op != OP_SOME_IN && p->a->kind != NODE_STACK && node_is_set(p->a))
		ps->f->needs_all_functions = true;
	return n;
}

static struct node *parse_binary(struct parser *ps, int precedence);

/* Parse the right operand; names of the left operand's values are allowed. */
static struct node *parse_right(struct parser *ps, const struct binary *op, const struct node *a)
{
	const struct enumeration *outer = ps->values;
	struct node *b;

	ps->values = op->op >= OP_EQ && op->op <= OP_ORDERED_IN ? a->values : NULL;
	b = parse_binary(ps, op->precedence);
	ps->values = outer;
	return b;
}

static bool compares_text(const struct node *a, enum op op)
{
	return a->kind == NODE_TEXT && (op == OP_EQ || op == OP_NE || op == OP_IN);
}

static struct node *parse_binary(struct parser *ps, int precedence)
{
	struct pair p = { 0 };

	skip_blanks(ps);
	p.left = ps->p;
	p.a = parse_unary(ps);
	while (p.a && !ps->failed) {
		const struct binary *op = accept_binary(ps, precedence);

		if (!op)
			break;
		p.op = op->op;
		skip_blanks(ps);
		p.right = ps->p;
		if (compares_text(p.a, p.op)) {
			p.a = parse_match(ps, p.a, p.op);
			continue;
		}
		if (p.a->kind == NODE_TEXT && !is_number(ps, p.a, p.left))
			break;
		p.b = parse_right(ps, op, p.a);
		p.a = p.b ? binary_new(ps, &p) : NULL;
	}
	return ps->failed ? NULL : p.a;
}

/* Parse the branches of a ? b : c; the condition begins at `at`. */
static struct node *parse_branches(struct parser *ps, struct node *a, const char *at)
{
	struct node *n = node_new(ps, NODE_COND);
	const char *b_at, *c_at;

	if (!n || !is_number(ps, a, at))
		return NULL;
	n->a = a;
	b_at = ps->p;
	n->b = parse_cond(ps);
	if (!n->b || !is_number(ps, n->b, b_at) || !parse_expect(ps, ":", "':' is missing"))
		return NULL;
	c_at = ps->p;
	n->c = parse_cond(ps);
	return n->c && is_number(ps, n->c, c_at) ? n : NULL;
}

struct node *parse_cond(struct parser *ps)
{
	const char *at = ps->p + strspn(ps->p, " \t\n");
	struct node *a;

	if (++ps->depth > DEPTH_MAX)
		return parse_fail(ps, ps->p, "too deeply nested");
	a = parse_binary(ps, COND_PRECEDENCE);
	ps->depth--;
	return a && parse_accept(ps, "?") ? parse_branches(ps, a, at) : a;
}

/* What to write instead of the text behind a whole expression. */
static const char *unexpected(const char *p)
{
	size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz");

	if (*p == '=')
		return "an operator is expected here: == compares";
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].name) == n && !memcmp(units[i].name, p, n))
			return "an operator is expected here; a unit follows its number without a blank, as in 10ms";
	return "an operator is expected here";
}

static struct filter *parse_all(struct parser *ps, bool text_too)
{
	struct filter *f = ps->f;

	f->text = xstrdup(ps->text);
	ps->text = ps->p = f->text;
	skip_blanks(ps);
	if (!text_too && !*ps->p)
		return f;
	f->root = parse_cond(ps);
	skip_blanks(ps);
	if (f->root && *ps->p)
		parse_fail(ps, ps->p, unexpected(ps->p));
	else if (f->root && node_is_set(f->root))
		parse_fail(ps, ps->text, text_too ? "the expression is a set, not a number" :
			   "a set is not a condition; write e.g. FNAME('read') SOME IN STACK, or LEAF IN FNAME('read')");
	else if (f->root && !text_too && f->root->kind == NODE_TEXT)
		parse_fail(ps, ps->p, "the text is not compared with anything");
	if (!ps->failed)
		return f;
	filter_free(f);
	return NULL;
}

struct filter *filter_parse(struct session *s, const struct objtypes *types,
			    const char *text, struct diag *d)
{
	struct parser ps = { .what = "filter", .text = text, .session = s, .types = types,
			     .diag = d, .f = filter_new() };

	return parse_all(&ps, false);
}

struct filter *filter_parse_index(struct session *s, const struct objtypes *types,
				  const char *text, struct diag *d)
{
	struct parser ps = { .what = "index expression", .text = text, .session = s,
			     .types = types, .diag = d, .f = filter_new() };

	return parse_all(&ps, true);
}

struct filter *filter_new(void)
{
	return xcalloc(1, sizeof(struct filter));
}

void filter_select(struct filter *f, const struct selection *sel)
{
	f->selection = sel;
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
		buf_free(&n->string);
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
