/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/glob.h"

#include <stddef.h>

/* Whether a byte is in the set that begins at `set`, behind its bracket. *end: behind the closing bracket. */
static bool in_set(const char *set, char c, const char **end)
{
	bool found = false;

	for (; *set && *set != ']'; set++) {
		if (set[1] == '-' && set[2] && set[2] != ']') {
			found |= *set <= c && c <= set[2];
			set += 2;
		} else {
			found |= *set == c;
		}
	}
	*end = *set ? set + 1 : set;
	return found;
}

/* Whether the byte matches what the pattern has next. *next: what follows in the pattern. */
static bool match_one(const char *pattern, char c, const char **next)
{
	if (*pattern == '[')
		return in_set(pattern + 1, c, next);
	*next = pattern + 1;
	return *pattern == c;
}

bool glob_match(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL, *next;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern && match_one(pattern, *text, &next)) {
			pattern = next;
			text++;
		} else if (star) {
			/* The last star takes one byte more. */
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
