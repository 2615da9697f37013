/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/match.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"

enum { NAME_MAX_LEN = 100 }; /* longer names are not suggested */

bool match_has_star(const char *pattern)
{
	return strchr(pattern, '*') != NULL;
}

bool match_pattern(const char *pattern, const char *name)
{
	const char *star = NULL, *again = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			again = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool match_symbol(const char *pattern, const char *symbol)
{
	static const char *const made[] = { ".constprop.", ".isra.", ".lto_priv.", ".llvm." };
	size_t n = strlen(pattern);

	if (match_pattern(pattern, symbol))
		return true;
	if (strncmp(symbol, pattern, n) || strstr(symbol, ".cold") || strstr(symbol, ".part."))
		return false;
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		if (!strncmp(symbol + n, made[i], strlen(made[i])))
			return true;
	return false;
}

static size_t least(size_t a, size_t b, size_t c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

/* The number of characters to insert, remove or replace. */
static size_t edits(const char *a, size_t na, const char *b, size_t nb)
{
	size_t row[NAME_MAX_LEN + 1];

	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t above = row[j];

			row[j] = least(above + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1]));
			corner = above;
		}
	}
	return row[nb];
}

/* A name that contains the wanted one is near, too. */
static size_t distance(const char *wanted, size_t n, const char *name, size_t len)
{
	size_t most = n / 4 + 1, e;

	if (n >= 3 && strcasestr(name, wanted))
		return 1 + (len - n) / 4;
	if (len > n + most || n > len + most)
		return SIZE_MAX;
	e = edits(wanted, n, name, len);
	return e <= most ? e : SIZE_MAX;
}

static bool has(char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Names of the same cost stay in the order in which they were considered. */
static void insert(struct nearest *n, const char *name, size_t cost)
{
	size_t at = n->n;

	while (at && n->costs[at - 1] > cost)
		at--;
	if (at == NEAREST_MAX)
		return;
	if (n->n == NEAREST_MAX)
		free(n->names[--n->n]);
	for (size_t i = n->n; i > at; i--) {
		n->names[i] = n->names[i - 1];
		n->costs[i] = n->costs[i - 1];
	}
	n->names[at] = xstrdup(name);
	n->costs[at] = cost;
	n->n++;
}

static char *without_stars(const char *pattern)
{
	char *plain = xstrdup(pattern), *to = plain;

	for (const char *p = pattern; *p; p++)
		if (*p != '*')
			*to++ = *p;
	*to = '\0';
	return plain;
}

void nearest_look(struct nearest *n, const char *wanted, const char *name)
{
	__cleanup(freep) char *plain = without_stars(wanted);
	size_t nw = strlen(plain), len = strlen(name), cost;

	if (nw > NAME_MAX_LEN || len > NAME_MAX_LEN || !strcmp(wanted, name))
		return;
	if (n->nfirst < NEAREST_MAX && !has(n->first, n->nfirst, name))
		n->first[n->nfirst++] = xstrdup(name);
	cost = distance(plain, nw, name, len);
	if (cost != SIZE_MAX && !has(n->names, n->n, name))
		insert(n, name, cost);
}

static void put_names(struct buf *b, char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%s%s", !i ? "" : i + 1 < n ? ", " : " or ", names[i]);
}

char *nearest_text(const struct nearest *n)
{
	struct buf b = { 0 };

	buf_puts(&b, n->n ? ": did you mean " : n->nfirst ? ": write one that it has, such as " : "");
	put_names(&b, n->n ? n->names : n->first, n->n ? n->n : n->nfirst);
	buf_puts(&b, n->n ? "?" : "");
	return b.data;
}

void nearest_free(struct nearest *n)
{
	for (size_t i = 0; i < NEAREST_MAX; i++) {
		free(n->first[i]);
		if (i < n->n)
			free(n->names[i]);
	}
	*n = (struct nearest){ 0 };
}
