/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Usage of the whole system, for the samples of the founder. */
#ifndef USER_RECORD_USAGE_H
#define USER_RECORD_USAGE_H

#include "analysis/experiment/usage.h"

/* What the system has used since it was booted, from /proc; what is not there is 0. */
void usage_now(struct exp_usage *ret);
/* The same since `base`; times of the record are left alone. */
void usage_since(struct exp_usage *u, const struct exp_usage *base);

#endif
