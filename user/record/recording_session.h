/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One recording, from the first signal handler to the last flush. */
#ifndef USER_RECORD_RECORDING_SESSION_H
#define USER_RECORD_RECORDING_SESSION_H

#include "user/record/expname.h"
#include "user/record/plan.h"

struct diag;

/*
 * Record into the experiment `name`, as planned. The caller has checked the plan with preflight.
 * Returns the exit status of the tool. It is 1, after a message, if the recording failed; else
 * that of the load; 0 if there is no load. *load_signal is the signal that ended the load; 0: none.
 * It may be NULL.
 */
int recording_session_run(const struct plan *plan, const struct expname *name, struct diag *d,
			  int *load_signal);

#endif
