/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/match.h"

#include <string.h>
#include <strings.h>

#include "analysis/base/buf.h"

enum { NAME_MAX_LEN = 64 }; /* longer names are not suggested */

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

void nearest_look(struct nearest *n, const char *wanted, const char *name)
{
	size_t nw = strlen(wanted), len = strlen(name), cost, at;

	if (nw > NAME_MAX_LEN || len > NAME_MAX_LEN)
		return;
	cost = distance(wanted, nw, name, len);
	for (size_t i = 0; i < n->n; i++)
		if (!strcmp(n->names[i], name))
			return;
	for (at = n->n; at && n->costs[at - 1] > cost; at--) {
		if (at < NEAREST_MAX) {
			n->names[at] = n->names[at - 1];
			n->costs[at] = n->costs[at - 1];
		}
	}
	if (cost == SIZE_MAX || at == NEAREST_MAX)
		return;
	n->names[at] = name;
	n->costs[at] = cost;
	n->n += n->n < NEAREST_MAX;
}

char *nearest_text(const struct nearest *n)
{
	struct buf b = { 0 };

	buf_puts(&b, n->n ? ": did you mean " : "");
	for (size_t i = 0; i < n->n; i++)
		buf_printf(&b, "%s%s", !i ? "" : i + 1 < n->n ? ", " : " or ", n->names[i]);
	buf_puts(&b, n->n ? "?" : "");
	return b.data;
}
