/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operands with a name: values of an enumeration, sets, functions with a quoted
 * argument, properties, object types, and fields of packets.
 */
#include <regex.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/regex.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/metrics/filter_impl.h"
#include "analysis/metrics/objtype.h"
#include "analysis/model/spans.h"

bool node_is_leaf(const struct node *n)
{
	const struct property *leaf = property_find("LEAF");

	return n->kind == NODE_PROPERTY && n->get == leaf->get;
}

/* Parse "…" or '…'; a backslash makes the next quote literal. */
static char *parse_string(struct parser *ps)
{
	char quote, *s, *to;

	skip_blanks(ps);
	quote = *ps->p;
	if (quote != '"' && quote != '\'') {
		parse_fail(ps, ps->p, "a regular expression in quotes is missing");
		return NULL;
	}
	to = s = xmalloc(strlen(ps->p));
	for (ps->p++; *ps->p && *ps->p != quote; ps->p++) {
		if (ps->p[0] == '\\' && ps->p[1] == quote)
			ps->p++;
		*to++ = *ps->p;
	}
	*to = '\0';
	if (parse_accept(ps, quote == '"' ? "\"" : "'"))
		return s;
	parse_fail(ps, ps->p, "the closing quote is missing");
	free(s);
	return NULL;
}

/* A node with a regular expression, anchored to match the whole string. */
static struct node *regex_new(struct parser *ps, enum node_kind kind, const char *text,
			      const char *at)
{
	__cleanup(freep) char *whole = xasprintf("^(%s)$", text);
	struct node *n = node_new(ps, kind);
	int err;

	if (!n)
		return NULL;
	err = regex_compile(&n->regex, whole);
	if (err)
		return parse_fail(ps, at, err == REG_ESPACE ? "a regular expression with too many repetitions" :
							      "not a regular expression");
	n->has_regex = true;
	return n;
}

static struct node *parse_regex(struct parser *ps, enum node_kind kind)
{
	__cleanup(freep) char *text = NULL;
	const char *at;

	skip_blanks(ps);
	at = ps->p;
	text = parse_string(ps);
	return text ? regex_new(ps, kind, text, at) : NULL;
}

/* "no span has this name; there are a, b". */
static char *span_names(const struct spans *sp)
{
	enum { NAMES_MOST = 20 };
	struct buf b = { 0 };

	buf_puts(&b, sp->names.len ? "no span has this name; there are " : "no spans were recorded");
	for (size_t i = 0; i < sp->names.len && i < NAMES_MOST; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", sp->names.data[i].sum.name);
	if (sp->names.len > NAMES_MOST)
		buf_printf(&b, " and %zu more, which spans lists", sp->names.len - NAMES_MOST);
	return b.data;
}

/* Names of spans are few, and nothing passes a filter with a wrong one. */
static bool check_span_name(struct parser *ps, const struct node *item, const char *at)
{
	const struct spans *sp = session_spans(ps->session);
	__cleanup(freep) char *why = NULL;

	vec_for_each(name, &sp->names) {
		if (!regexec(&item->regex, name->sum.name, 0, NULL, 0))
			return true;
	}
	why = span_names(sp);
	parse_fail(ps, at, why);
	return false;
}

struct node *parse_match(struct parser *ps, struct node *text, enum op op)
{
	bool of_span = text->text == property_find("SPAN")->text;
	struct node *n = node_new(ps, NODE_MATCH);
	bool list = parse_accept(ps, "(");

	if (!n)
		return NULL;
	n->a = text;
	n->op = op;
	do {
		const char *at = (skip_blanks(ps), ps->p);
		struct node *item = parse_regex(ps, NODE_CONST);

		if (!item || (of_span && !check_span_name(ps, item, at)))
			return NULL;
		vec_push(&n->items, item);
	} while (list && parse_accept(ps, ","));
	if (list && !parse_expect(ps, ")", "')' is missing"))
		return NULL;
	return n;
}

static struct node *property_new(struct parser *ps, const struct property *p)
{
	struct node *n = node_new(ps, p->text ? NODE_TEXT : p->get ? NODE_PROPERTY : NODE_FIELD);

	if (!n)
		return NULL;
	n->get = p->get;
	n->text = p->text;
	n->field = p->fields;
	n->values = p->values;
	return n;
}

static struct node *number_new(struct parser *ps, int64_t value)
{
	struct node *n = node_new(ps, NODE_CONST);

	if (n)
		n->value = value;
	return n;
}

struct node *parse_value_in_quotes(struct parser *ps)
{
	const char *at = ps->p;
	__cleanup(freep) char *text = NULL;
	int64_t value;

	if (!ps->values)
		return parse_fail(ps, at, "a number is expected here, not text");
	text = parse_string(ps);
	if (!text)
		return NULL;
	if (!ps->values->value(ps->session, text, &value))
		return parse_fail(ps, at,
				  "the operand on the left has no value of this name; describe lists "
				  "its values");
	return number_new(ps, value);
}

static struct node *parse_funcs(struct parser *ps, bool by_object)
{
	struct node *n;

	if (!parse_expect(ps, "(", "'(' is missing"))
		return NULL;
	n = parse_regex(ps, NODE_FUNCS);
	if (!n || !parse_expect(ps, ")", "')' is missing"))
		return NULL;
	n->by_object = by_object;
	return n;
}

static struct node *parse_fname(struct parser *ps)
{
	return parse_funcs(ps, false);
}

static struct node *parse_lname(struct parser *ps)
{
	return parse_funcs(ps, true);
}

/* DNAME("regexp"): data objects by name. Alone, it tests the packet's data object. */
static struct node *parse_dname(struct parser *ps)
{
	struct node *n;

	skip_blanks(ps);
	if (*ps->p != '(')
		return property_new(ps, property_find("DNAME"));
	ps->p++;
	n = parse_regex(ps, NODE_DATA);
	return n && parse_expect(ps, ")", "')' is missing") ? n : NULL;
}

static struct node *parse_has(struct parser *ps)
{
	struct node *n = node_new(ps, NODE_HAS);

	if (!n || !parse_expect(ps, "(", "'(' is missing"))
		return NULL;
	skip_blanks(ps);
	if (!name_char(*ps->p))
		return parse_fail(ps, ps->p, "the name of a property is missing");
	n->a = parse_name(ps);
	return n->a && parse_expect(ps, ")", "')' is missing") ? n : NULL;
}

static struct node *parse_stack(struct parser *ps)
{
	return node_new(ps, NODE_STACK);
}

static struct node *parse_true(struct parser *ps)
{
	return number_new(ps, 1);
}

static struct node *parse_false(struct parser *ps)
{
	return number_new(ps, 0);
}

/*
 * gprofng's words for stacks all mean the one stack: Java and OpenMP frames are not
 * distinguished.
 */
static const struct word {
	const char *name;
	struct node *(*parse)(struct parser *ps);
} words[] = {
	{ "STACK", parse_stack },  { "USTACK", parse_stack }, { "XSTACK", parse_stack },
	{ "MSTACK", parse_stack }, { "HSTACK", parse_stack }, { "FNAME", parse_fname },
	{ "LNAME", parse_lname },  { "DNAME", parse_dname },  { "HAS_PROP", parse_has },
	{ "TRUE", parse_true },	   { "FALSE", parse_false },
};

/* The type of a field in any stream; -1: there is no such field. */
static int field_type(const struct session *s, const char *name)
{
	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams) {
			struct field_ref ref = stream_field(st, name);

			if (ref.offset)
				return ref.type;
		}
	}
	for (size_t i = 0; i < npacket_descs; i++) {
		for (size_t j = 0; j < packet_descs[i].nfields; j++) {
			if (!strcmp(packet_descs[i].fields[j].name, name))
				return packet_descs[i].fields[j].type;
		}
	}
	return -1;
}

/* Whether the name is that of a property of spans, which all packets inside a span have. */
static bool is_of_span(const char *name)
{
	return !strncmp(name, "SPAN", 4);
}

static struct node *field_new(struct parser *ps, const char *name, int type)
{
	struct node *n = node_new(ps, type == ER_STRING ? NODE_TEXT : NODE_FIELD);

	if (n) {
		n->field = name;
		n->of_span = is_of_span(name);
	}
	return n;
}

/* An object type is replaced by its expression, which was checked when it was defined. */
static struct node *type_new(struct parser *ps, const struct objtype *t)
{
	const char *text = ps->text, *p = ps->p;
	const struct enumeration *values = ps->values;
	struct node *n;

	ps->text = ps->p = t->text;
	ps->values = NULL;
	n = parse_cond(ps);
	ps->text = text;
	ps->p = p;
	ps->values = values;
	return n;
}

/* Parse a name; `name` is in capitals, `start` is where it begins. */
static struct node *name_new(struct parser *ps, const char *name, const char *start)
{
	const struct property *prop = property_find(name);
	const struct objtype *t = objtype_find(ps->types, name);
	int type;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i].name, name))
			return words[i].parse(ps);
	}
	ps->f->has_spans |= is_of_span(name);
	if (prop)
		return property_new(ps, prop);
	type = field_type(ps->session, name);
	if (type >= 0)
		return field_new(ps, name, type);
	if (t)
		return type_new(ps, t);
	return parse_fail(
		ps, start,
		ps->values
			? "neither a property nor a value of the operand on the left; describe lists both"
			: "no property, object type or field has this name; describe lists them");
}

struct node *parse_name(struct parser *ps)
{
	const char *start = ps->p;
	int64_t value;
	char *name;

	while (name_char(*ps->p))
		ps->p++;
	name = xstrndup(start, ps->p - start);
	vec_push(&ps->f->names, name);
	for (char *c = name; *c; c++)
		*c = toupper((unsigned char)*c);
	if (ps->values && ps->values->value(ps->session, name, &value))
		return number_new(ps, value);
	return name_new(ps, name, start);
}
