/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"

enum { SPEC_MAX = 4096, NUMBER_MAX = 64 };

const char *probe_option(const struct probe_spec *s)
{
	static const char *const options[] = {
		[PROBE_FOR_PROBE] = "--probe", [PROBE_FOR_COUNTS] = "--probe-counts", [PROBE_FOR_SPAN] = "--span",
	};

	return options[s->use];
}

static int bad(const struct probe_spec *s, struct diag *d, const char *why)
{
	return diag_error(d, "%s '%s': %s", probe_option(s), s->text, why);
}

static char *skip(char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

static void trim_end(char *p)
{
	for (size_t n = strlen(p); n && p[n - 1] == ' '; n--)
		p[n - 1] = '\0';
}

/* --- values and tests --- */

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

	p = take_number(skip(p), &number);
	if (!p || *p != ':') {
		bad(s, d, "not an argument: write its number, or ret, and its type, such as (1:str,2:int)");
		return NULL;
	}
	n = strspn(++p, "abcdefghijklmnopqrstuvwxyz0123456789");
	t = find_type(p, n);
	if (!t) {
		bad(s, d, "not the type of an argument: write str, int, or a size: s8 u8 s16 u16 s32 u32 "
			  "s64 u64");
		return NULL;
	}
	if (find_value(s, number)) {
		bad(s, d, "an argument occurs twice: leave one out");
		return NULL;
	}
	v = add_value(s, number);
	if (!v) {
		bad(s, d, "more than 4 arguments: leave some out");
		return NULL;
	}
	v->recorded = true;
	v->is_string = t->is_string;
	v->size = t->size;
	v->is_signed = t->is_signed;
	return skip(p + n);
}

static int parse_arguments(struct probe_spec *s, char *list, struct diag *d)
{
	for (char *p = list; (p = take_argument(s, p, d)); p++) {
		if (!*p)
			return 0;
		if (*p != ',') {
			return bad(s, d, "no comma between two arguments: write them as (1:str,2:int)");
		}
	}
	return -1;
}

/*
 * The "(...)" at the end of text that is a list of arguments, not the parameters of a C++ function:
 * it begins with a number or ret, and a colon. NULL: there is none.
 */
static char *argument_list(char *text)
{
	char *open = strrchr(text, '('), *p;
	unsigned number;
	size_t n = strlen(text);

	if (!open || text[n - 1] != ')')
		return NULL;
	p = take_number(skip(open + 1), &number);
	if (!p || *p != ':' || p[1] == ':')
		return NULL;
	text[n - 1] = '\0';
	return open;
}

/* A pattern such as "f(int*" may leave its parenthesis open. */
static bool is_unclosed(const char *text)
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

	p = skip(p);
	if (!strncmp(p, "arg", 3) && isdigit((unsigned char)p[3]))
		p += 3;
	else if (strncmp(p, "ret", 3))
		return NULL;
	p = take_number(p, number);
	p = p ? take_op(skip(p), &t->op) : NULL;
	p = p ? take_constant(skip(p), &constant) : NULL;
	t->constant = constant;
	return p;
}

static int parse_tests(struct probe_spec *s, char *p, struct diag *d)
{
	for (;;) {
		struct probe_value *v;
		struct er_test t = { 0 };
		unsigned number;

		p = take_test(p, &number, &t);
		p = p ? skip(p) : NULL;
		if (!p || (*p && strncmp(p, "&&", 2)))
			return bad(s, d, "not a filter behind 'if': write comparisons such as arg1 > 4096 && "
					 "ret == 0");
		v = add_value(s, number);
		if (!v || s->ntests == ER_PROBE_TESTS)
			return bad(s, d, "more than 4 arguments or comparisons: leave some out");
		if (v->is_string)
			return bad(s, d, "a filter cannot compare a string: give the argument a type such "
					 "as u64 to compare its address");
		t.value = v - s->values;
		s->tests[s->ntests++] = t;
		if (!*p)
			return 0;
		p += 2;
	}
}

/* --- the target --- */

/* Text up to the first colon; the rest begins behind it. NULL: no colon, or nothing before it. */
static char *before_colon(char **rest)
{
	char *colon = strchr(*rest, ':'), *got;

	if (!colon || colon == *rest)
		return NULL;
	got = xstrndup(*rest, colon - *rest);
	*rest = colon + 1;
	return got;
}

/* The comma between two functions; those in parameters and template arguments do not count. */
static char *outer_comma(char *p)
{
	int depth = 0;

	for (; *p; p++) {
		if (strchr("(<[", *p))
			depth++;
		else if (strchr(")>]", *p))
			depth--;
		else if (*p == ',' && depth <= 0)
			return p;
	}
	return NULL;
}

static const char two_places[] = "two places: write each of them with a --probe of its own";

static int split_pair(struct probe_spec *s, char *names, struct diag *d)
{
	char *comma = outer_comma(names);

	if (comma) {
		*comma = '\0';
		if (s->use != PROBE_FOR_SPAN)
			return bad(s, d, two_places);
		if (!comma[1])
			return bad(s, d, "no name behind the comma: write where the span ends");
		s->second = xstrdup(comma + 1);
	}
	if (!*names)
		return bad(s, d, "no name of a function or probe: write one behind the colon");
	s->first = xstrdup(names);
	return 0;
}

/* "file.c:12": the colon; NULL: it is a function. "a::b" is a function. */
static char *line_colon(char *p)
{
	char *colon = strrchr(p, ':');

	if (!colon || colon == p || colon[-1] == ':' || !colon[1] ||
	    strspn(colon + 1, "0123456789") != strlen(colon + 1))
		return NULL;
	return colon;
}

static int parse_line(struct probe_spec *s, char *file, char *colon, struct diag *d)
{
	unsigned long line;

	errno = 0;
	line = strtoul(colon + 1, NULL, 10);
	if (errno || !line || line > INT32_MAX)
		return bad(s, d, "no such line: write a number from 1");
	s->kind = PROBE_LINE;
	s->line = line;
	s->first = xstrndup(file, colon - file);
	return 0;
}

/* Whether one of two places is a line. */
static bool pair_has_line(char *p)
{
	char *comma = outer_comma(p);
	bool line;

	if (!comma)
		return false;
	*comma = '\0';
	line = line_colon(p) || line_colon(comma + 1);
	*comma = ',';
	return line;
}

static int parse_function(struct probe_spec *s, char *p, struct diag *d)
{
	static const char suffix[] = "%return";
	size_t n = sizeof(suffix) - 1, len;
	char *colon;

	s->binary = before_colon(&p);
	if (!s->binary)
		return bad(s, d, s->use == PROBE_FOR_SPAN ?
				 "no binary: write BINARY:FUNCTION, BINARY:FUNCTION,FUNCTION2, "
				 "usdt:BINARY:PROVIDER:PROBE,PROBE2, syscall:NAME or mark" :
				 "no binary: write BINARY:FUNCTION, usdt:BINARY:PROVIDER:PROBE, "
				 "syscall:NAME or tp:CATEGORY:NAME");
	if (pair_has_line(p))
		return bad(s, d, s->use != PROBE_FOR_SPAN ? two_places :
				 "a line means the whole function that it is in, not one of two places: write "
				 "BINARY:FUNCTION,FUNCTION2, or one line");
	colon = line_colon(p);
	if (colon)
		return parse_line(s, p, colon, d);
	s->kind = PROBE_FUNCTION;
	len = strlen(p);
	if (len > n && !strcmp(p + len - n, suffix)) {
		if (s->use == PROBE_FOR_SPAN)
			return bad(s, d, "a span ends at the function's return by itself: leave %return out");
		s->ret = true;
		p[len - n] = '\0';
	}
	return split_pair(s, p, d);
}

static int parse_usdt(struct probe_spec *s, char *p, struct diag *d)
{
	s->kind = PROBE_USDT;
	s->binary = before_colon(&p);
	s->group = s->binary ? before_colon(&p) : NULL;
	if (!s->group)
		return bad(s, d, "not a USDT probe: write usdt:BINARY:PROVIDER:PROBE");
	return split_pair(s, p, d);
}

static int parse_tracepoint(struct probe_spec *s, char *p, struct diag *d)
{
	s->kind = PROBE_TRACEPOINT;
	s->group = before_colon(&p);
	if (!s->group || !*p || strchr(p, ':'))
		return bad(s, d, "not a tracepoint: write tp:CATEGORY:NAME, such as tp:sched:sched_switch");
	if (s->use == PROBE_FOR_SPAN)
		return bad(s, d, "a tracepoint has no end: write syscall:NAME or a function");
	s->first = xstrdup(p);
	return 0;
}

static int parse_syscall(struct probe_spec *s, char *p, struct diag *d)
{
	s->kind = PROBE_SYSCALL;
	if (!*p)
		return bad(s, d, "no system call: write its name, such as syscall:fsync");
	s->first = xstrdup(p);
	return 0;
}

static int parse_mark(struct probe_spec *s, char *p, struct diag *d)
{
	s->kind = PROBE_MARK;
	if (s->use != PROBE_FOR_SPAN)
		return bad(s, d, "marks are spans: write --span NAME=mark");
	if (!*p)
		return 0;
	if (!p[1])
		return bad(s, d, "no binary: write mark, or mark:BINARY, the program or library that has the marks");
	s->binary = xstrdup(p + 1);
	return 0;
}

bool probe_spec_is_pair(const struct probe_spec *s)
{
	return s->second || (s->use == PROBE_FOR_SPAN && s->kind == PROBE_USDT);
}

static int parse_target(struct probe_spec *s, char *p, struct diag *d)
{
	if (!strncmp(p, "usdt:", 5))
		return parse_usdt(s, p + 5, d);
	if (!strncmp(p, "tp:", 3))
		return parse_tracepoint(s, p + 3, d);
	if (!strncmp(p, "syscall:", 8))
		return parse_syscall(s, p + 8, d);
	if (!strcmp(p, "mark") || !strncmp(p, "mark:", 5))
		return parse_mark(s, p + 4, d);
	return parse_function(s, p, d);
}

/* --- the whole --- */

/* "NAME=" at the beginning: the text behind it; NULL: there is none. */
static char *behind_name(char *p)
{
	size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");

	return n && p[n] == '=' ? p + n + 1 : NULL;
}

static int check_values(const struct probe_spec *s, struct diag *d)
{
	for (size_t i = 0; i < s->nvalues; i++) {
		bool returned = s->values[i].number == PROBE_RETURNED;

		if (s->use != PROBE_FOR_SPAN && returned != s->ret)
			return bad(s, d, returned ? "only a return has a returned value: write FUNCTION%return" :
						    "a function's arguments are gone when it returns: "
						    "record them at its beginning, without %return");
		if (returned && (s->second || s->kind == PROBE_USDT))
			return bad(s, d, "only a function or system call returns a value: leave ret out");
		if (s->kind == PROBE_LINE && s->use != PROBE_FOR_SPAN)
			return bad(s, d, "a line has no arguments: write a function");
		if (s->kind == PROBE_MARK)
			return bad(s, d, "a mark has no arguments: leave them out");
	}
	return 0;
}

/*
 * Parentheses at the end that are meant as a filter, or that name arguments: what to write instead. NULL:
 * neither. The parameters of a C++ function look like neither.
 */
static const char *misread_list(char *text)
{
	char *open = strrchr(text, '('), *p = open ? skip(open + 1) : NULL;
	struct er_test test;
	unsigned number;
	size_t n, type;

	if (!open || text[strlen(text) - 1] != ')')
		return NULL;
	if (take_test(p, &number, &test))
		return "a filter in parentheses: write it behind the place, such as FUNCTION if arg2 > 1000";
	n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	type = n && p[n] == ':' ? strspn(p + n + 1, "abcdefghijklmnopqrstuvwxyz0123456789") : 0;
	return type && find_type(p + n + 1, type) ?
	       "an argument has a number, not a name: write (1:int) for the first one" : NULL;
}

static int parse(struct probe_spec *s, char *p, struct diag *d)
{
	char *tests = NULL, *list, *target = behind_name(p);

	for (char *at = p; (at = strstr(at, " if ")); at += 4)
		tests = at;
	if (tests) {
		*tests = '\0';
		tests += 4;
	}
	if (target)
		s->name = xstrndup(p, target - p - 1);
	else if (s->use == PROBE_FOR_SPAN)
		return bad(s, d, "no name of letters, digits and _-. : write NAME=SPEC, such as "
				 "request=/usr/bin/server:handle");
	p = target ? target : p;
	trim_end(p);
	if (is_unclosed(p))
		return bad(s, d, "no ) behind the (: write arguments as (1:str,2:int)");
	list = argument_list(p);
	if (list) {
		*list = '\0';
		if (parse_arguments(s, list + 1, d))
			return -1;
	} else if (misread_list(p)) {
		return bad(s, d, misread_list(p));
	}
	if (tests && parse_tests(s, tests, d))
		return -1;
	trim_end(p);
	if (!s->name)
		s->name = xstrdup(p);
	return parse_target(s, p, d) || check_values(s, d) ? -1 : 0;
}

int probe_spec_parse(enum probe_use use, const char *text, struct diag *d, struct probe_spec *ret)
{
	__cleanup(freep) char *copy = xstrdup(text);

	*ret = (struct probe_spec){ .use = use, .text = xstrdup(text) };
	if (strlen(text) > SPEC_MAX)
		return diag_error(d, "%s: the text is longer than %d bytes", probe_option(ret), SPEC_MAX);
	return parse(ret, skip(copy), d);
}

void probe_spec_free(struct probe_spec *s)
{
	free(s->text);
	free(s->name);
	free(s->binary);
	free(s->group);
	free(s->first);
	free(s->second);
	*s = (struct probe_spec){ 0 };
}
