/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Giving up what is no longer needed once the programs are attached. */
#ifndef USER_RECORD_PRIVILEGE_H
#define USER_RECORD_PRIVILEGE_H

#include <stdbool.h>

struct diag;

/*
 * Keep, of the capabilities held, those that reading other processes' /proc and
 * CPUs that come online need; drop all others, for good. A failure is reported as
 * a warning.
 */
void privilege_drop(struct diag *d);

/*
 * After that: what opening perf events needs is in effect, or no longer. Where it was
 * not held at the drop, or cannot be raised, opening will say so.
 */
void privilege_raise(bool on);

#endif
