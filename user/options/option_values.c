/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/options/option_values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEC_NS      1000000000.0
#define MAX_SECONDS 1e9

bool option_word(const struct option_word *words, const char *arg, uint64_t *ret)
{
	for (; words->word; words++) {
		if (!strcmp(words->word, arg)) {
			*ret = words->value;
			return true;
		}
	}
	return false;
}

bool option_whole(const char *s, uint64_t max, uint64_t *ret)
{
	uint64_t v;
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (*end || errno || v > max)
		return false;
	*ret = v;
	return true;
}

bool option_number(const char *s, double *ret, char **end)
{
	double v;

	/* strtod also takes signs, blanks, hexadecimal numbers, "inf" and "nan". */
	if (*s != '.' && (*s < '0' || *s > '9'))
		return false;
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		return false;
	errno = 0;
	v = strtod(s, end);
	if (*end == s || errno || !isfinite(v))
		return false;
	*ret = v;
	return true;
}

bool option_duration(const char *s, uint64_t *ns, char **end)
{
	double v;

	if (!option_number(s, &v, end))
		return false;
	if (**end == 'm')
		v *= 60;
	if (**end == 'm' || **end == 's')
		++*end;
	if (v > MAX_SECONDS)
		return false;
	*ns = (uint64_t)(v * SEC_NS);
	return true;
}

bool option_bytes(const char *s, uint64_t *ret)
{
	double v;
	char *end;

	if (!option_number(s, &v, &end) || (strcmp(end, "M") && strcmp(end, "G")))
		return false;
	v *= *end == 'G' ? 1ULL << 30 : 1ULL << 20;
	if (v < 1 << 20 || v > 1ULL << 60)
		return false;
	*ret = (uint64_t)v;
	return true;
}

bool option_megabytes(const char *s, uint64_t *bytes)
{
	static const struct option_word words[] = { { "unlimited", 0 }, { "none", 0 }, { NULL, 0 } };
	uint64_t mb;

	if (option_word(words, s, bytes))
		return true;
	if (!option_whole(s, UINT64_MAX >> 20, &mb) || !mb)
		return false;
	*bytes = mb << 20;
	return true;
}
