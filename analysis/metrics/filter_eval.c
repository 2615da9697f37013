/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "analysis/metrics/filter_impl.h"
#include "analysis/metrics/metric.h"
#include "analysis/model/session.h"

static int64_t eval(struct node *n, const struct hit *h);

static unsigned char *known_slot(byte_vec *v, size_t index)
{
	if (index >= v->len) {
		vec_reserve(v, index + 1);
		memset(v->data + v->len, UNKNOWN, v->cap - v->len);
		v->len = v->cap;
	}
	return &v->data[index];
}

static bool matches(const struct node *n, const char *name)
{
	return regexec(&n->regex, name, 0, NULL, 0) == 0;
}

/* A load object is known by its path, its last component, and that in brackets. */
static bool matches_object(const struct node *n, const struct loadobj *o)
{
	const char *base = strrchr(o->path, '/');

	return matches(n, o->name) || matches(n, o->path) || matches(n, base ? base + 1 : o->path);
}

static bool func_in(struct node *n, const struct func *f)
{
	unsigned char *k = known_slot(&n->funcs, f->id);

	if (*k == UNKNOWN) {
		bool yes = n->by_object ? matches_object(n, f->obj) :
					  matches(n, f->name) || matches(n, f->long_name);

		*k = yes ? YES : NO;
	}
	return *k == YES;
}

static const struct func *stack_func(const struct hit *h, uint32_t i)
{
	const struct session *s = h->session;
	const struct stack *st = &s->stacks.data[h->stack];

	return s->frames.data[s->stack_frames.data[st->first + i]].func;
}

static uint32_t stack_len(const struct hit *h)
{
	return h->session->stacks.data[h->stack].n;
}

/* Whether the value is in the set; a number is the set of itself. */
static bool contains(struct node *set, const struct hit *h, int64_t value)
{
	switch (set->kind) {
	case NODE_LIST:
		vec_for_each(item, &set->items) {
			if (contains(*item, h, value))
				return true;
		}
		return false;
	case NODE_STACK:
		for (uint32_t i = 0; i < stack_len(h); i++) {
			if (stack_func(h, i)->id == value)
				return true;
		}
		return false;
	case NODE_FUNCS:
		return value >= 0 && (uint64_t)value < h->session->funcs.len &&
		       func_in(set, h->session->funcs.data[value]);
	default:
		return eval(set, h) == value;
	}
}

/* How many elements of a set are in another one, and how many are not. */
struct count {
	size_t in, out;
};

static void count_in(struct node *a, struct node *b, const struct hit *h, struct count *c)
{
	switch (a->kind) {
	case NODE_LIST:
		vec_for_each(item, &a->items)
			count_in(*item, b, h, c);
		break;
	case NODE_STACK:
		for (uint32_t i = 0; i < stack_len(h); i++)
			*(contains(b, h, stack_func(h, i)->id) ? &c->in : &c->out) += 1;
		break;
	case NODE_FUNCS:
		vec_for_each(f, &h->session->funcs) {
			if (func_in(a, *f))
				*(contains(b, h, (*f)->id) ? &c->in : &c->out) += 1;
		}
		break;
	default:
		*(contains(b, h, eval(a, h)) ? &c->in : &c->out) += 1;
	}
}

/* SOME IN the other way round: a stack is short, the functions of a name may be many. */
static bool some_in(struct node *a, struct node *b, const struct hit *h)
{
	struct count c = { 0 };

	if (a->kind == NODE_FUNCS && b->kind == NODE_STACK)
		count_in(b, a, h, &c);
	else
		count_in(a, b, h, &c);
	return c.in > 0;
}

static bool all_in(struct node *a, struct node *b, const struct hit *h)
{
	struct count c = { 0 };

	count_in(a, b, h, &c);
	return c.in > 0 && c.out == 0;
}

/* The elements of a list, met one after the other on the way through the other set. */
static bool ordered_in(struct node *a, struct node *b, const struct hit *h)
{
	size_t at = 0, n;

	if (a->kind != NODE_LIST || (b->kind != NODE_STACK && b->kind != NODE_LIST))
		return all_in(a, b, h);
	n = b->kind == NODE_STACK ? stack_len(h) : b->items.len;
	for (size_t i = 0; i < n && at < a->items.len; i++) {
		int64_t v = b->kind == NODE_STACK ? stack_func(h, i)->id :
			    node_is_set(b->items.data[i]) ? -1 : eval(b->items.data[i], h);

		at += contains(a->items.data[at], h, v);
	}
	return at == a->items.len;
}

static bool eval_in(struct node *n, const struct hit *h)
{
	if (n->op == OP_SOME_IN)
		return some_in(n->a, n->b, h);
	if (n->op == OP_ORDERED_IN)
		return ordered_in(n->a, n->b, h);
	return all_in(n->a, n->b, h);
}

static bool eval_in_cached(struct node *n, const struct hit *h)
{
	unsigned char *k = known_slot(&n->stacks, h->stack);

	if (*k == UNKNOWN)
		*k = eval_in(n, h) ? YES : NO;
	return *k == YES;
}

/* Arithmetic wraps; a division by zero is 0, for a filter has no way to fail. */
static int64_t arithmetic(enum op op, int64_t a, int64_t b)
{
	uint64_t ua = a, ub = b;

	switch (op) {
	case OP_BIT_OR: return ua | ub;
	case OP_BIT_XOR: return ua ^ ub;
	case OP_BIT_AND: return ua & ub;
	case OP_EQ: return a == b;
	case OP_NE: return a != b;
	case OP_LT: return a < b;
	case OP_LE: return a <= b;
	case OP_GT: return a > b;
	case OP_GE: return a >= b;
	case OP_SHL: return ua << (ub & 63);
	case OP_SHR: return a >> (ub & 63);
	case OP_ADD: return ua + ub;
	case OP_SUB: return ua - ub;
	case OP_MUL: return ua * ub;
	case OP_DIV: return !b ? 0 : b == -1 ? (int64_t)-ua : a / b;
	case OP_MOD: return !b || b == -1 ? 0 : a % b;
	default: return 0;
	}
}

static int64_t eval_binary(struct node *n, const struct hit *h)
{
	switch (n->op) {
	case OP_OR: return eval(n->a, h) || eval(n->b, h);
	case OP_AND: return eval(n->a, h) && eval(n->b, h);
	case OP_IN:
	case OP_SOME_IN:
	case OP_ORDERED_IN: return n->stack_only ? eval_in_cached(n, h) : eval_in(n, h);
	default: return arithmetic(n->op, eval(n->a, h), eval(n->b, h));
	}
}

static int64_t eval_unary(struct node *n, const struct hit *h)
{
	int64_t a = eval(n->a, h);

	return n->op == OP_NOT ? !a : n->op == OP_INVERT ? ~a : (int64_t)-(uint64_t)a;
}

static int64_t eval_field(struct node *n, const struct hit *h)
{
	if (n->last != h->stream) {
		n->last = h->stream;
		n->ref = stream_field(h->stream, n->field);
	}
	return n->ref.offset ? packet_int(h->packet, n->ref) : 0;
}

static int64_t eval(struct node *n, const struct hit *h)
{
	switch (n->kind) {
	case NODE_CONST: return n->value;
	case NODE_VAR: return n->get(h);
	case NODE_FIELD: return eval_field(n, h);
	case NODE_UNARY: return eval_unary(n, h);
	case NODE_BINARY: return eval_binary(n, h);
	case NODE_COND: return eval(n->a, h) ? eval(n->b, h) : eval(n->c, h);
	default: return 0; /* sets stand only beside IN */
	}
}

static void nothing(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
}

bool filter_match(struct filter *f, const struct hit *h)
{
	if (f->needs_all_functions) {
		static const struct metric_set none;

		f->needs_all_functions = false;
		pass_run(h->session, &none, NULL, nothing, NULL, NULL);
	}
	return eval(f->root, h) != 0;
}
