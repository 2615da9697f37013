/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An address may have several names. This decides which one is shown and lists the others. */
#ifndef SYMBOLS_ALIASES_H
#define SYMBOLS_ALIASES_H

#include <stdbool.h>
#include <string.h>

/*
 * Sorts the name to show first: the alphabetically last. Names with a dot, which
 * compilers derive from others, come after all names without: "foo" is shown, not gcc's
 * "foo.localalias".
 */
static inline int alias_cmp(const char *a, const char *b)
{
	bool made_a = strchr(a, '.') != NULL, made_b = strchr(b, '.') != NULL;

	if (made_a != made_b)
		return made_a ? 1 : -1;
	return strcmp(b, a);
}

/* Whether the list, separated by blanks, contains the name. NULL is the empty list. */
static inline bool alias_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; p && n && (p = strstr(p, name)); p += n) {
		if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
	}
	return false;
}

#endif
