/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/difference.h"

#include <math.h>

double change_error(const struct estimate *a, const struct estimate *b)
{
	return sqrt(a->variance + b->variance);
}

enum change change_of(const struct estimate *a, const struct estimate *b, double least, double z)
{
	double by = b->value - a->value, sure = fabs(by) - z * change_error(a, b);

	if (by == 0 || sure <= least)
		return CHANGE_NONE;
	if (by > 0)
		return a->value > 0 ? CHANGE_MORE : CHANGE_NEW;
	return b->value > 0 ? CHANGE_LESS : CHANGE_GONE;
}

double errors_for(double chance, unsigned long n)
{
	double want = n ? chance / (double)n : chance, low = 3, high = 40;

	for (int i = 0; i < 60; i++) {
		double z = (low + high) / 2;

		if (erfc(z / sqrt(2)) / 2 > want)
			low = z;
		else
			high = z;
	}
	return low;
}
