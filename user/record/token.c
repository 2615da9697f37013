/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

void token_make(char *ret, size_t n)
{
	unsigned char bytes[64];

	if (n > sizeof(bytes) || getrandom(bytes, n, 0) != (ssize_t)n)
		abort();
	for (size_t i = 0; i < n; i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

bool token_equal(const char *a, const char *b, size_t n)
{
	unsigned char different = 0;

	for (size_t i = 0; i < n; i++)
		different |= a[i] ^ b[i];
	return !different;
}
