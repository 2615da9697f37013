/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the layout of a Java VM's structures: the symbols of libjvm.so, and the tables that they name. */
#ifndef USER_JIT_HOTSPOT_LAYOUT_H
#define USER_JIT_HOTSPOT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct hotspot_layout;
struct snapshot;

/*
 * True: found. False: something is missing, which the snapshot has noted (`lacking`), or the
 * library is not understood.
 */
bool hotspot_layout_find(struct snapshot *s, uint64_t library, struct hotspot_layout *ret);

#endif
