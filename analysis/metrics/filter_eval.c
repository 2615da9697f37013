/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "analysis/base/interrupt.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/metrics/filter_impl.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/metric.h"
#include "analysis/metrics/pass.h"
#include "analysis/metrics/selection.h"
#include "analysis/model/dataobj.h"
#include "analysis/model/session.h"
#include "analysis/model/spans.h"

static struct value eval(struct node *n, const struct hit *h);

static const struct value unknown = { 0, false };

static struct value known(int64_t i)
{
	return (struct value){ i, true };
}

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

/* A load object matches by its path, its last component, or that in angle brackets. */
static bool matches_object(const struct node *n, const struct loadobj *o)
{
	const char *base = strrchr(o->path, '/');

	return matches(n, o->name) || matches(n, o->path) || matches(n, base ? base + 1 : o->path);
}

/* "vfs_read" for the kernel's "vmlinux`vfs_read"; otherwise the name itself. */
static const char *without_module(const struct func *f, const char *name)
{
	const char *tick = f->obj->kernel ? strchr(name, '`') : NULL;

	return tick ? tick + 1 : name;
}

/* A function matches by any name that reports can show. */
static bool matches_func(const struct node *n, const struct func *f)
{
	const char *const names[] = { f->name, f->long_name, f->mangled };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *bare = without_module(f, names[i]);

		if ((i && names[i] == names[i - 1]) || !names[i])
			continue;
		if (matches(n, names[i]) || (bare != names[i] && matches(n, bare)))
			return true;
	}
	return false;
}

static bool func_in(struct node *n, const struct func *f)
{
	unsigned char *k = known_slot(&n->funcs, f->id);

	if (*k == UNKNOWN) {
		bool yes = n->by_object ? matches_object(n, f->obj) :
					  matches_func(n, f);

		*k = yes ? YES : NO;
	}
	return *k == YES;
}

static const struct func *stack_func(const struct hit *h, uint32_t i)
{
	const struct session *s = h->session;
	const struct stack *st = &s->stacks.data[h->stack];

	return frame_func(s, s->stack_frames.data[st->first + i]);
}

static uint32_t stack_len(const struct hit *h)
{
	return h->session->stacks.data[h->stack].n;
}

/* Only the packet's own data object can be tested. */
static bool data_in(const struct node *n, const struct hit *h, int64_t value)
{
	uint64_t offset;
	const struct dataobj *o = hit_data_object(h, &offset);

	return o && o->obj && o->id == value && matches(n, o->name);
}

/* Whether the value is in the set; a number is a set of one. */
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
	case NODE_DATA:
		return data_in(set, h, value);
	case NODE_FUNCS:
		return value >= 0 && (uint64_t)value < h->session->funcs.len &&
		       func_in(set, h->session->funcs.data[value]);
	default: {
		struct value v = eval(set, h);

		return v.known && v.i == value;
	}
	}
}

/* How many elements of one set are in another, are not, and are unknown. */
struct count {
	size_t in, out, unknown;
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
	default: {
		struct value v = eval(a, h);

		*(!v.known ? &c->unknown : contains(b, h, v.i) ? &c->in : &c->out) += 1;
	}
	}
}

/* The result is known if one element is in, or if all are known. */
static struct value some_in(struct node *a, struct node *b, const struct hit *h)
{
	struct count c = { 0 };

	/* Swapped: a stack is short, but many functions may have the name. */
	if (a->kind == NODE_FUNCS && b->kind == NODE_STACK)
		count_in(b, a, h, &c);
	else
		count_in(a, b, h, &c);
	return c.in || !c.unknown ? known(c.in > 0) : unknown;
}

static struct value all_in(struct node *a, struct node *b, const struct hit *h)
{
	struct count c = { 0 };

	count_in(a, b, h, &c);
	if (c.unknown && !c.out)
		return unknown;
	return known(c.in > 0 && c.out == 0);
}

/* Finds the elements of list a in order while walking through set b. */
static struct value ordered_in(struct node *a, struct node *b, const struct hit *h)
{
	size_t at = 0, n;

	if (a->kind != NODE_LIST || (b->kind != NODE_STACK && b->kind != NODE_LIST))
		return all_in(a, b, h);
	n = b->kind == NODE_STACK ? stack_len(h) : b->items.len;
	for (size_t i = 0; i < n && at < a->items.len; i++) {
		struct value v = b->kind == NODE_STACK ? known(stack_func(h, i)->id) :
				 node_is_set(b->items.data[i]) ? unknown :
								 eval(b->items.data[i], h);

		at += v.known && contains(a->items.data[at], h, v.i);
	}
	return known(at == a->items.len);
}

static struct value eval_in(struct node *n, const struct hit *h)
{
	if (n->op == OP_SOME_IN)
		return some_in(n->a, n->b, h);
	if (n->op == OP_ORDERED_IN)
		return ordered_in(n->a, n->b, h);
	return all_in(n->a, n->b, h);
}

static struct value eval_in_cached(struct node *n, const struct hit *h)
{
	unsigned char *k = known_slot(&n->stacks, h->stack);

	if (*k == UNKNOWN)
		*k = eval_in(n, h).i ? YES : NO;
	return known(*k == YES);
}

/* Arithmetic wraps. Division by zero is 0, because a filter cannot report errors. */
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

/* && is false if one side is false, even if the other is unknown; || likewise with true. */
static struct value eval_logical(struct node *n, const struct hit *h)
{
	bool decides = n->op == OP_OR;
	struct value a = eval(n->a, h), b;

	if (a.known && !!a.i == decides)
		return known(decides);
	b = eval(n->b, h);
	if (b.known && !!b.i == decides)
		return known(decides);
	return a.known && b.known ? known(!decides) : unknown;
}

static struct value eval_binary(struct node *n, const struct hit *h)
{
	struct value a, b;

	switch (n->op) {
	case OP_OR:
	case OP_AND: return eval_logical(n, h);
	case OP_IN:
	case OP_SOME_IN:
	case OP_ORDERED_IN: return n->stack_only ? eval_in_cached(n, h) : eval_in(n, h);
	default: break;
	}
	a = eval(n->a, h);
	b = eval(n->b, h);
	return a.known && b.known ? known(arithmetic(n->op, a.i, b.i)) : unknown;
}

static struct value eval_unary(struct node *n, const struct hit *h)
{
	struct value a = eval(n->a, h);

	if (a.known)
		a.i = n->op == OP_NOT ? !a.i : n->op == OP_INVERT ? ~a.i : (int64_t)-(uint64_t)a.i;
	return a;
}

static struct field_ref field_of(struct node *n, const struct exp_stream *st)
{
	if (n->last != st) {
		n->last = st;
		n->ref = stream_field(st, n->field);
	}
	return n->ref;
}

/* User and system time of a call are known only if they were measured. */
static struct value eval_span_field(struct node *n, const struct hit *h)
{
	const struct span_call *c = hit_span(h);
	bool split = !strcmp(n->field, "SPANUSER") || !strcmp(n->field, "SPANSYSTEM");
	const struct spans *sp;
	struct packet p;

	if (!c || (split && !(c->flags & SPAN_SPLIT)))
		return unknown;
	sp = session_spans(h->session);
	p = span_packet_of(sp, c);
	return known(packet_int(&p, field_of(n, sp->sources.data[c->source].stream)));
}

static struct value eval_field(struct node *n, const struct hit *h)
{
	struct field_ref ref;

	if (n->of_span)
		return eval_span_field(n, h);
	ref = field_of(n, h->stream);
	return ref.offset ? known(packet_int(h->packet, ref)) : unknown;
}

/* The text of a node, valid until the next call for this node. */
static const char *text_of(struct node *n, const struct hit *h)
{
	const char *bytes;
	size_t len;

	if (n->text)
		return n->text(h);
	len = packet_text(h->packet, field_of(n, h->stream), &bytes);
	if (!n->ref.offset)
		return NULL;
	buf_clear(&n->string);
	if (len)
		buf_add(&n->string, bytes, len);
	else
		buf_puts(&n->string, "");
	return n->string.data;
}

static struct value eval_match(struct node *n, const struct hit *h)
{
	const char *text = text_of(n->a, h);
	bool found = false;

	if (!text)
		return unknown;
	vec_for_each(item, &n->items)
		found |= matches(*item, text);
	return known(found == (n->op != OP_NE));
}

static struct value eval_has(struct node *n, const struct hit *h)
{
	return known(n->a->kind == NODE_TEXT ? text_of(n->a, h) != NULL : eval(n->a, h).known);
}

static struct value eval_cond(struct node *n, const struct hit *h)
{
	struct value a = eval(n->a, h);

	return !a.known ? unknown : eval(a.i ? n->b : n->c, h);
}

static struct value eval(struct node *n, const struct hit *h)
{
	switch (n->kind) {
	case NODE_CONST: return known(n->value);
	case NODE_PROPERTY: return n->get(h);
	case NODE_FIELD: return eval_field(n, h);
	case NODE_MATCH: return eval_match(n, h);
	case NODE_HAS: return eval_has(n, h);
	case NODE_UNARY: return eval_unary(n, h);
	case NODE_BINARY: return eval_binary(n, h);
	case NODE_COND: return eval_cond(n, h);
	default: return unknown; /* sets are only used with IN, texts with MATCH */
	}
}

static void nothing(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
}

/* Resolve all stacks once, because a set of functions is drawn from all stacks. */
static void know_functions(struct filter *f, const struct hit *h)
{
	if (!f->needs_all_functions)
		return;
	f->needs_all_functions = false;
	pass_run(h->session, NULL, NULL, nothing, NULL, NULL);
	f->needs_all_functions = interrupt_pending();
}

/* The expression must be true for one of the calls that contain the packet, or without any. */
static bool match_spans(struct filter *f, const struct hit *h)
{
	struct hit at = *h;
	struct span_walk w;
	struct value v = unknown;

	hit_spans(h, &w);
	at.span = span_walk_next(&w);
	if (!at.span)
		at.span = &hit_no_span;
	do {
		v = eval(f->root, &at);
		if (v.known && v.i)
			return true;
		at.span = at.span == &hit_no_span ? NULL : span_walk_next(&w);
	} while (at.span);
	return false;
}

bool filter_match(struct filter *f, const struct hit *h)
{
	struct value v;

	if (f->selection && !selection_match(f->selection, h))
		return false;
	if (!f->root)
		return true;
	know_functions(f, h);
	if (f->has_spans && h->stream->kind != ER_PKT_SPAN)
		return match_spans(f, h);
	v = eval(f->root, h);
	return v.known && v.i;
}

struct value filter_value(struct filter *f, const struct hit *h)
{
	know_functions(f, h);
	return eval(f->root, h);
}

bool filter_is_text(const struct filter *f)
{
	return f->root && f->root->kind == NODE_TEXT;
}

bool filter_has_spans(const struct filter *f)
{
	return f->has_spans;
}

const char *filter_string(struct filter *f, const struct hit *h)
{
	return text_of(f->root, h);
}

const struct enumeration *filter_values(const struct filter *f)
{
	return f->root ? f->root->values : NULL;
}
