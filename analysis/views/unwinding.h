/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the walks of user stacks ended, as the recorder counted it (<walk> in recorder.xml). Shares
 * are of time, apart for samples on a CPU and for waits. Filters do not apply.
 */
#ifndef VIEWS_UNWINDING_H
#define VIEWS_UNWINDING_H

#include "analysis/experiment/experiment.h"
#include "analysis/views/table.h"

/* Lines of `header`: the share of complete stacks, and of each way in which the others ended. */
void unwinding_summary(struct table *t, const struct experiment *founder);

#endif
