/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ctrl-C while a report is made. Whatever may take long asks from time to time whether
 * somebody gave it up, and comes to an end; what it had found by then is thrown away,
 * what it had written ends with a whole line. A second Ctrl-C does what it did before.
 */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT is noted, once; nothing when it is ignored. */
void interrupt_arm(void);
/* As before. Whether one was noted, which is forgotten now. */
bool interrupt_disarm(void);
/* Whether one was noted. From any thread. */
bool interrupt_pending(void);

#endif
