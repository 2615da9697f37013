/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets of a recording of the whole system whose process a recording of a program has, too
 * (er_kernel collect PROGRAM, both opened together). Their time is in both. Only recordings of our
 * own recorders are compared: they have the same clock.
 */
#ifndef METRICS_TWICE_H
#define METRICS_TWICE_H

#include <stdbool.h>

struct experiment;
struct hit;
struct session;

/*
 * Whether the packet is of the whole system, and another open experiment recorded its process then,
 * without a pause, and records this kind of data: a recording without the clock has no CPU time.
 */
bool twice_has(const struct hit *h);
/*
 * The founders of such a pair of recordings that overlap in time and have processes and a kind of data in
 * common.
 * False: no two are open.
 */
bool twice_find(const struct session *s, const struct experiment **system,
		const struct experiment **program);

#endif
