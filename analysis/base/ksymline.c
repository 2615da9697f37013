/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/ksymline.h"

enum { MAX_DIGITS = 16 };

struct word {
	const char *s;
	size_t len;
};

/* The value of a hexadecimal digit plus one; 0 for other characters. */
static const unsigned char hex_digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,	['6'] = 7,  ['7'] = 8,
	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* No name contains control characters, so they end a word, too. */
static bool in_word(char c)
{
	return (unsigned char)c > ' ';
}

/* The next word of [*p, end); length 0: none. */
static struct word next_word(const char **p, const char *end)
{
	const char *s = *p;
	struct word w;

	while (s < end && !in_word(*s))
		s++;
	w.s = s;
	while (s < end && in_word(*s))
		s++;
	w.len = s - w.s;
	*p = s;
	return w;
}

/* Reads the next word of [*p, end) as a hexadecimal number. False if it is none or does not fit. */
static bool next_hex(const char **p, const char *end, uint64_t *ret)
{
	const char *s = *p, *first;
	uint64_t v = 0;

	while (s < end && !in_word(*s))
		s++;
	first = s;
	for (unsigned digit; s < end && (digit = hex_digits[(unsigned char)*s]); s++)
		v = v << 4 | (digit - 1);
	*ret = v;
	*p = s;
	return s > first && s - first <= MAX_DIGITS && (s == end || !in_word(*s));
}

static bool is_module(struct word w)
{
	return w.len > 2 && w.s[0] == '[' && w.s[w.len - 1] == ']';
}

/*
 * After the address come a type and a name, or a size, a type and a name. A size and a type can
 * both be one letter ("d"), so the number of words decides.
 */
bool ksym_line_parse(const char *p, const char *end, struct ksym_line *ret)
{
	struct word type, name, more;

	*ret = (struct ksym_line){ .type = '\0' };
	if (!next_hex(&p, end, &ret->addr))
		return false;
	type = next_word(&p, end);
	name = next_word(&p, end);
	more = next_word(&p, end);
	if (more.len && !is_module(more)) {
		if (!next_hex(&type.s, type.s + type.len, &ret->size))
			return false;
		ret->sized = true;
		type = name;
		name = more;
		more = next_word(&p, end);
	}
	if (type.len != 1 || !name.len || (more.len && !is_module(more)) || next_word(&p, end).len)
		return false;
	ret->type = *type.s;
	ret->name = name.s;
	ret->name_len = name.len;
	ret->module = more.len ? more.s + 1 : NULL;
	ret->module_len = more.len ? more.len - 2 : 0;
	return true;
}
