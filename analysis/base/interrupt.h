/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ctrl-C while a report is computed. Code that may take long calls interrupt_pending from time
 * to time, and stops early when it is true. Unfinished results are discarded; text that was
 * written ends with a whole line. A second Ctrl-C acts as without this.
 */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include <stdbool.h>

/* Note the next SIGINT. Does nothing if SIGINT is ignored. */
void interrupt_arm(void);
/* Restore the old handling. Returns whether a SIGINT was noted, and forgets it. */
bool interrupt_disarm(void);
/* Whether a SIGINT was noted. Any thread may call it. */
bool interrupt_pending(void);

#endif
