/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One recording, from the first check to the last flush. */
#ifndef KERNEL_ER_SESSION_H
#define KERNEL_ER_SESSION_H

#include "kernel_er/plan.h"

struct diag;

/*
 * Record as planned. Returns er_kernel's exit status: the load's where there is
 * one and the recording went well, else 0; 1 after a message.
 */
int session_run(const struct plan *plan, struct diag *d);

#endif
