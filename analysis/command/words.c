/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/words.h"

#include <ctype.h>
#include <string.h>

static void drop_all(struct words *w)
{
	vec_for_each(s, &w->v)
		free(*s);
	w->v.len = 0;
}

/* Add the quoted word at *s, which points behind the opening quote. */
static bool quoted(struct words *w, const char **s)
{
	char *word = xmalloc(strlen(*s) + 1);
	size_t n = 0;
	const char *p = *s;

	while (*p && *p != '"') {
		if (p[0] == '\\' && p[1] == '"')
			p++;
		word[n++] = *p++;
	}
	word[n] = '\0';
	vec_push(&w->v, word);
	*s = *p ? p + 1 : p;
	return *p == '"';
}

static void plain(struct words *w, const char **s)
{
	const char *p = *s;

	while (*p && !isspace((unsigned char)*p))
		p++;
	vec_push(&w->v, xstrndup(*s, p - *s));
	*s = p;
}

bool words_split(struct words *w, const char *line)
{
	const char *s = line;

	drop_all(w);
	for (;;) {
		while (isspace((unsigned char)*s))
			s++;
		if (!*s || *s == '#' || (*s == '@' && !w->v.len))
			return true;
		if (*s != '"') {
			plain(w, &s);
			continue;
		}
		s++;
		if (!quoted(w, &s))
			return false;
	}
}

bool line_continues(const char *line)
{
	size_t n = strlen(line);

	return n && line[n - 1] == '\\' && line[strspn(line, " \t")] != '#';
}

void words_free(struct words *w)
{
	drop_all(w);
	vec_free(&w->v);
}
