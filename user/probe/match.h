/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares names of functions and probes with what the user wrote. */
#ifndef USER_PROBE_MATCH_H
#define USER_PROBE_MATCH_H

#include <stdbool.h>
#include <stddef.h>

enum { NEAREST_MAX = 3 };

/* The names that are most like the one that was not found, and the first ones that were considered. */
struct nearest {
	char *names[NEAREST_MAX], *first[NEAREST_MAX];
	size_t costs[NEAREST_MAX];
	size_t n, nfirst;
};

bool match_has_star(const char *pattern);
/* Whether the pattern matches the whole name. Its * matches any characters. */
bool match_pattern(const char *pattern, const char *name);
/*
 * Whether a symbol is the function of this name: it has the name, or the compiler derived it from
 * the function by specializing it, as in "f.constprop.0". Parts of functions ("f.cold") are not.
 */
bool match_symbol(const char *pattern, const char *symbol);
/*
 * Consider a name. `wanted` is what the user wrote; it is not proposed again. A * in it is overlooked. Takes time
 * by the product of the lengths, which are limited.
 */
void nearest_look(struct nearest *n, const char *wanted, const char *name);
/*
 * The end of a message, which the caller frees: ": did you mean a, b or c?". If no name is like the wanted
 * one: ": write one that it has, such as a, b or c"; and "" if no name was considered.
 */
char *nearest_text(const struct nearest *n);
void nearest_free(struct nearest *n);

#endif
