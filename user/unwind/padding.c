/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/padding.h"

enum { NOP = 0x90, INT3 = 0xcc, OPERAND_SIZE = 0x66, CS = 0x2e };

/* The length of a NOP with a memory operand (0F 1F /0), opcode included. 0: another instruction. */
static size_t long_nop(const unsigned char *p, size_t n)
{
	/* By the form of the operand: no displacement, 8 or 32 bits, each with and without SIB. */
	static const unsigned char lengths[256] = {
		[0x00] = 3, [0x40] = 4, [0x44] = 5, [0x80] = 7, [0x84] = 8,
	};

	if (n < 3 || p[0] != 0x0f || p[1] != 0x1f || lengths[p[2]] > n)
		return 0;
	return lengths[p[2]];
}

size_t padding_length(const unsigned char *p, size_t n)
{
	size_t prefixes = 0, length;

	if (!n)
		return 0;
	if (p[0] == INT3 || !p[0])
		return 1;
	while (prefixes < n && (p[prefixes] == OPERAND_SIZE || p[prefixes] == CS))
		prefixes++;
	if (prefixes == n)
		return 0;
	if (p[prefixes] == NOP)
		return prefixes + 1;
	length = long_nop(p + prefixes, n - prefixes);
	return length ? prefixes + length : 0;
}

bool is_padding(const unsigned char *p, size_t n)
{
	while (n) {
		size_t length = padding_length(p, n);

		if (!length)
			return false;
		p += length;
		n -= length;
	}
	return true;
}
