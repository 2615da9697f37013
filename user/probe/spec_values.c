/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/spec_impl.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/diag.h"

enum { NUMBER_MAX = 64 };

struct value_type {
	const char *name;
	bool is_string;
	unsigned size;
	bool is_signed;
};

static const struct value_type types[] = {
	{ "str", true, 8, false }, { "int", false, 0, true },
	{ "s8", false, 1, true },  { "u8", false, 1, false },
	{ "s16", false, 2, true }, { "u16", false, 2, false },
	{ "s32", false, 4, true }, { "u32", false, 4, false },
	{ "s64", false, 8, true }, { "u64", false, 8, false },
};

static const struct value_type *find_type(const char *p, size_t n)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strlen(types[i].name) == n && !memcmp(types[i].name, p, n))
			return &types[i];
	return NULL;
}

/* "3" or "ret". Returns the text behind it; NULL: neither. */
static char *take_number(char *p, unsigned *number)
{
	char *end;
	long n;

	if (!strncmp(p, "ret", 3) && !isalnum((unsigned char)p[3])) {
		*number = PROBE_RETURNED;
		return p + 3;
	}
	if (!isdigit((unsigned char)*p))
		return NULL;
	n = strtol(p, &end, 10);
	if (n < 1 || n > NUMBER_MAX)
		return NULL;
	*number = n;
	return end;
}

static struct probe_value *find_value(struct probe_spec *s, unsigned number)
{
	for (size_t i = 0; i < s->nvalues; i++)
		if (s->values[i].number == number)
			return &s->values[i];
	return NULL;
}

static struct probe_value *add_value(struct probe_spec *s, unsigned number)
{
	struct probe_value *v = find_value(s, number);

	if (v)
		return v;
	if (s->nvalues == ER_PROBE_VALUES)
		return NULL;
	v = &s->values[s->nvalues++];
	*v = (struct probe_value){ .number = number, .is_signed = true };
	return v;
}

/* One "2:int" of the list. Returns the text behind it; NULL after a report. */
static char *take_argument(struct probe_spec *s, char *p, struct diag *d)
{
	const struct value_type *t;
	struct probe_value *v;
	unsigned number;
	size_t n;

	p = take_number(spec_skip(p), &number);
	if (!p || *p != ':') {
		spec_bad(s, d, "not an argument: write its number, or ret, and its type, such as (1:str,2:int)");
		return NULL;
	}
	n = strspn(++p, "abcdefghijklmnopqrstuvwxyz0123456789");
	t = find_type(p, n);
	if (!t) {
		spec_bad(s, d, "not the type of an argument: write str, int, or a size: s8 u8 s16 u16 s32 u32 "
			  "s64 u64");
		return NULL;
	}
	if (find_value(s, number)) {
		spec_bad(s, d, "an argument occurs twice: leave one out");
		return NULL;
	}
	v = add_value(s, number);
	if (!v) {
		spec_bad(s, d, "more than 4 arguments: leave some out");
		return NULL;
	}
	v->recorded = true;
	v->is_string = t->is_string;
	v->size = t->size;
	v->is_signed = t->is_signed;
	return spec_skip(p + n);
}

int spec_arguments(struct probe_spec *s, char *list, struct diag *d)
{
	for (char *p = list; (p = take_argument(s, p, d)); p++) {
		if (!*p)
			return 0;
		if (*p != ',') {
			return spec_bad(s, d, "no comma between two arguments: write them as (1:str,2:int)");
		}
	}
	return -1;
}

char *spec_argument_list(char *text)
{
	char *open = strrchr(text, '('), *p;
	unsigned number;
	size_t n = strlen(text);

	if (!open || text[n - 1] != ')')
		return NULL;
	p = take_number(spec_skip(open + 1), &number);
	if (!p || *p != ':' || p[1] == ':')
		return NULL;
	text[n - 1] = '\0';
	return open;
}

bool spec_is_unclosed(const char *text)
{
	const char *open = strrchr(text, '(');

	return open && !strpbrk(open, ")*");
}

static char *take_op(char *p, unsigned *op)
{
	static const struct {
		const char *text;
		enum er_test_op op;
	} ops[] = {
		{ "==", ER_TEST_EQ }, { "!=", ER_TEST_NE }, { "<=", ER_TEST_LE }, { ">=", ER_TEST_GE },
		{ "<", ER_TEST_LT },  { ">", ER_TEST_GT },  { "&", ER_TEST_BITS },
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		size_t n = strlen(ops[i].text);

		if (strncmp(p, ops[i].text, n))
			continue;
		*op = ops[i].op;
		return p + n;
	}
	return NULL;
}

/* A whole number, with a sign, decimal or 0x. Returns the text behind it; NULL: none. */
static char *take_constant(char *p, uint64_t *ret)
{
	bool minus = *p == '-', hex;
	char *end;

	p += minus;
	hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
	if (!isdigit((unsigned char)*p))
		return NULL;
	errno = 0;
	*ret = strtoull(p, &end, hex ? 16 : 10);
	if (errno)
		return NULL;
	*ret = minus ? -*ret : *ret;
	return end;
}

/* One "arg1 > 4096". Returns the text behind it; NULL: not a test. */
static char *take_test(char *p, unsigned *number, struct er_test *t)
{
	uint64_t constant = 0;

	p = spec_skip(p);
	if (!strncmp(p, "arg", 3) && isdigit((unsigned char)p[3]))
		p += 3;
	else if (strncmp(p, "ret", 3))
		return NULL;
	p = take_number(p, number);
	p = p ? take_op(spec_skip(p), &t->op) : NULL;
	p = p ? take_constant(spec_skip(p), &constant) : NULL;
	t->constant = constant;
	return p;
}

const char spec_not_tests[] =
	"not a filter behind 'if': write comparisons of arguments with whole numbers, by == != < <= > >= or &, and "
	"&& between two, such as arg1 > 4096 && ret == 0";

int spec_tests(struct probe_spec *s, char *p, struct diag *d)
{
	for (;;) {
		struct probe_value *v;
		struct er_test t = { 0 };
		unsigned number;

		p = take_test(p, &number, &t);
		p = p ? spec_skip(p) : NULL;
		if (!p || (*p && strncmp(p, "&&", 2)))
			return spec_bad(s, d, spec_not_tests);
		v = add_value(s, number);
		if (!v || s->ntests == ER_PROBE_TESTS)
			return spec_bad(s, d, "more than 4 arguments or comparisons: leave some out");
		if (v->is_string)
			return spec_bad(s, d, "a filter cannot compare a string: give the argument a type such "
					 "as u64 to compare its address");
		t.value = v - s->values;
		s->tests[s->ntests++] = t;
		if (!*p)
			return 0;
		p += 2;
	}
}

const char *spec_misread(char *text)
{
	char *open = strrchr(text, '('), *p = open ? spec_skip(open + 1) : NULL;
	struct er_test test;
	unsigned number;
	size_t n, type;

	if (!open || text[strlen(text) - 1] != ')')
		return NULL;
	if (take_test(p, &number, &test))
		return "a filter in parentheses: write it behind the place, such as FUNCTION if arg2 > 1000";
	n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	if (n && !strcmp(p + n, ")") && strspn(p, "0123456789") == n)
		return "an argument without a type: write (1:int) for the first one as a number, or (1:str) as a text";
	type = n && p[n] == ':' ? strspn(p + n + 1, "abcdefghijklmnopqrstuvwxyz0123456789") : 0;
	return type && find_type(p + n + 1, type) ?
	       "an argument is named by its number: write (1:int) for the first one" : NULL;
}
