/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/hidden.h"

#include <stddef.h>

/*
 * From Unicode 15: Default_Ignorable_Code_Point (including its unassigned code points, which
 * later versions may use), Bidi_Control, the line and paragraph separators, and format
 * characters (general category Cf) without a glyph. Sorted.
 */
static const struct {
	uint32_t first, last;
} ranges[] = {
	{ 0x00ad, 0x00ad },   /* soft hyphen */
	{ 0x034f, 0x034f },   /* combining grapheme joiner */
	{ 0x061c, 0x061c },   /* Arabic letter mark: direction */
	{ 0x115f, 0x1160 },   /* Hangul fillers */
	{ 0x17b4, 0x17b5 },   /* Khmer inherent vowels */
	{ 0x180b, 0x180f },   /* Mongolian variation selectors, vowel separator */
	{ 0x200b, 0x200f },   /* no width; direction */
	{ 0x2028, 0x202e },   /* line, paragraph; embeddings and overrides of direction */
	{ 0x2060, 0x206f },   /* word joiner, invisible operators, isolates of direction */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xfe00, 0xfe0f },   /* variation selectors */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xffa0, 0xffa0 },   /* halfwidth Hangul filler */
	{ 0xfff0, 0xfffb },   /* reserved; interlinear annotation */
	{ 0x13430, 0x1343f }, /* Egyptian hieroglyph format controls */
	{ 0x1bca0, 0x1bca3 }, /* shorthand format controls */
	{ 0x1d173, 0x1d17a }, /* musical beams and slurs */
	{ 0xe0000, 0xe0fff }, /* tags, variation selectors */
};

bool is_hidden(uint32_t c)
{
	size_t lo = 0, hi = sizeof(ranges) / sizeof(ranges[0]);

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c > ranges[mid].last)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < sizeof(ranges) / sizeof(ranges[0]) && c >= ranges[lo].first;
}
