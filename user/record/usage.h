/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the resource usage of the whole system, for the founder's usage samples. */
#ifndef USER_RECORD_USAGE_H
#define USER_RECORD_USAGE_H

#include "analysis/experiment/usage.h"

/* The system's usage since boot, from /proc. Fields without a source are 0. */
void usage_now(struct exp_usage *ret);
/* Subtract `base` from *u, and set create_ns and real_ns from the times of both. */
void usage_since(struct exp_usage *u, const struct exp_usage *base);

#endif
