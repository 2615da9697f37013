/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/spec_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"

enum { SPEC_MAX = 4096, LABEL_MAX = 100 };

const char *probe_option(const struct probe_spec *s)
{
	static const char *const options[] = {
		[PROBE_FOR_PROBE] = "--probe", [PROBE_FOR_COUNTS] = "--probe-counts", [PROBE_FOR_SPAN] = "--span",
	};

	return options[s->use];
}

int spec_bad(const struct probe_spec *s, struct diag *d, const char *why)
{
	return diag_error(d, "%s '%s': %s", probe_option(s), s->text, why);
}

char *spec_skip(char *p)
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
			return spec_bad(s, d, two_places);
		if (!comma[1])
			return spec_bad(s, d, "no name behind the comma: write where the span ends");
		if (outer_comma(comma + 1))
			return spec_bad(s, d, "more than two places: a span has one to begin and one to end, so leave the "
					 "others out");
		s->second = xstrdup(comma + 1);
	}
	if (!*names)
		return spec_bad(s, d, "no name of a function or probe: write one behind the colon");
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
		return spec_bad(s, d, "no such line: write a number from 1");
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
		return spec_bad(s, d, s->use == PROBE_FOR_SPAN ?
				 "no binary: write BINARY:FUNCTION, BINARY:FUNCTION,FUNCTION2, "
				 "usdt:BINARY:PROVIDER:PROBE,PROBE2, syscall:NAME or mark" :
				 "no binary: write BINARY:FUNCTION, usdt:BINARY:PROVIDER:PROBE, "
				 "syscall:NAME or tp:CATEGORY:NAME");
	if (pair_has_line(p))
		return spec_bad(s, d, s->use != PROBE_FOR_SPAN ? two_places :
				 "a line means the whole function that it is in, not one of two places: write "
				 "BINARY:FUNCTION,FUNCTION2, or one line");
	colon = line_colon(p);
	if (colon)
		return parse_line(s, p, colon, d);
	s->kind = PROBE_FUNCTION;
	len = strlen(p);
	if (len > n && !strcmp(p + len - n, suffix)) {
		if (s->use == PROBE_FOR_SPAN)
			return spec_bad(s, d, "a span ends at the function's return by itself: leave %return out");
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
		return spec_bad(s, d, "not a USDT probe: write usdt:BINARY:PROVIDER:PROBE");
	return split_pair(s, p, d);
}

static int parse_tracepoint(struct probe_spec *s, char *p, struct diag *d)
{
	s->kind = PROBE_TRACEPOINT;
	s->group = before_colon(&p);
	if (!s->group || !*p || strchr(p, ':'))
		return spec_bad(s, d, "not a tracepoint: write tp:CATEGORY:NAME, such as tp:sched:sched_switch");
	if (s->use == PROBE_FOR_SPAN)
		return spec_bad(s, d, "a tracepoint has no end: write syscall:NAME or a function");
	s->first = xstrdup(p);
	return 0;
}

static int parse_syscall(struct probe_spec *s, char *p, struct diag *d)
{
	s->kind = PROBE_SYSCALL;
	if (!*p)
		return spec_bad(s, d, "no system call: write its name, such as syscall:fsync");
	s->first = xstrdup(p);
	return 0;
}

static int parse_mark(struct probe_spec *s, char *p, struct diag *d)
{
	s->kind = PROBE_MARK;
	if (s->use != PROBE_FOR_SPAN)
		return spec_bad(s, d, "marks are spans: write --span NAME=mark");
	if (!*p)
		return 0;
	if (!p[1])
		return spec_bad(s, d, "no binary: write mark, or mark:BINARY, the program or library that has the marks");
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
			return spec_bad(s, d, returned ? "only a return has a returned value: write FUNCTION%return" :
						    "a function's arguments are gone when it returns: "
						    "record them at its beginning, without %return");
		if (returned && (s->second || s->kind == PROBE_USDT))
			return spec_bad(s, d, "only a function or system call returns a value: leave ret out");
		if (s->kind == PROBE_LINE && s->use != PROBE_FOR_SPAN)
			return spec_bad(s, d, "a line has no arguments: write a function");
		if (s->kind == PROBE_MARK)
			return spec_bad(s, d, "a mark has no arguments: leave them out");
	}
	return 0;
}

static bool ends_with_if(const char *p)
{
	size_t n = strlen(p);

	return n > 3 && !strcmp(p + n - 3, " if");
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
		return spec_bad(s, d, "no name of letters, digits and _-. : write NAME=SPEC, such as "
				 "request=/usr/bin/server:handle");
	if (s->name && strlen(s->name) > LABEL_MAX)
		return spec_bad(s, d, "the name before the = is longer than 100 characters: write a shorter one");
	p = target ? target : p;
	trim_end(p);
	if (!tests && ends_with_if(p))
		return spec_bad(s, d, spec_not_tests);
	if (spec_is_unclosed(p))
		return spec_bad(s, d, "no ) behind the (: write arguments as (1:str,2:int)");
	list = spec_argument_list(p);
	if (list) {
		*list = '\0';
		if (spec_arguments(s, list + 1, d))
			return -1;
	} else if (spec_misread(p)) {
		return spec_bad(s, d, spec_misread(p));
	}
	if (tests && spec_tests(s, tests, d))
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
	return parse(ret, spec_skip(copy), d);
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
