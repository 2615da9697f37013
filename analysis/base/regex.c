/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/regex.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/vec.h"

enum { SIZE_MOST = 20000 };

/* The sizes of the text before the reader, with repetitions written out. */
struct sizes {
	uint64_t all, last; /* of the innermost group, of its last part */
	VEC(uint64_t) outer; /* of the groups around it */
};

/* The end of a bracket expression that begins at s; NULL: it has none. */
static const char *bracket_end(const char *s)
{
	s += s[1] == '^' ? 2 : 1;
	s += *s == ']';
	for (; *s && *s != ']'; s++) {
		char kind = s[0] == '[' && s[1] && strchr(".:=", s[1]) ? s[1] : 0;

		if (!kind)
			continue;
		for (s += 2; *s && (s[0] != kind || s[1] != ']'); s++)
			;
		if (!*s)
			return NULL;
		s++;
	}
	return *s ? s : NULL;
}

/* The most repetitions of the interval "{2,5}" at s, and its end; 0: it is none. */
static uint64_t interval(const char *s, const char **end)
{
	char *p;
	unsigned long low = strtoul(s + 1, &p, 10), high = low;

	if (*p == ',')
		high = strtoul(p + 1, &p, 10);
	*end = p;
	return *p != '}' ? 0 : high > low ? high : low + 1;
}

static void repeat(struct sizes *z, uint64_t times)
{
	z->all += z->last * (times - 1);
	z->last *= times;
}

static void begin_group(struct sizes *z)
{
	vec_push(&z->outer, z->all);
	z->all = z->last = 0;
}

static void end_group(struct sizes *z)
{
	z->last = z->all;
	z->all += z->outer.data[--z->outer.len];
}

/* Add the part at s; returns its last character, or NULL: regcomp refuses it. */
static const char *add_part(struct sizes *z, const char *s)
{
	const char *end = s;
	uint64_t times = *s == '+' ? 2 : *s == '{' ? interval(s, &end) : 0;

	if (times) {
		repeat(z, times > SIZE_MOST ? SIZE_MOST + 1 : times);
		return end;
	}
	if (*s == '(') {
		begin_group(z);
		return s;
	}
	if (*s == ')' && z->outer.len) {
		end_group(z);
		return s;
	}
	z->all += z->last = 1;
	return *s == '[' ? bracket_end(s) : *s == '\\' ? s[1] ? s + 1 : NULL : s;
}

static bool is_too_large(const char *text)
{
	struct sizes z = { 0 };
	bool large = false;

	for (const char *s = text; s && *s && !large; s += s != NULL) {
		s = add_part(&z, s);
		large = z.all > SIZE_MOST || z.last > SIZE_MOST;
	}
	vec_free(&z.outer);
	return large;
}

int regex_compile(regex_t *re, const char *text)
{
	return is_too_large(text) ? REG_ESPACE : regcomp(re, text, REG_EXTENDED | REG_NOSUB);
}
