/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a founder says about its spans (span.h): the row of each name, and the texts. */
#ifndef EXPERIMENT_EXP_SPANS_H
#define EXPERIMENT_EXP_SPANS_H

#include <stdint.h>

#include "analysis/experiment/span.h"

struct experiment;

/* The row of spans.xml with this number, also for a sub-experiment; NULL: none. */
const struct span_row *experiment_span(const struct experiment *e, int64_t number);
/* The text with this number, also for a sub-experiment; NULL: none. */
const char *experiment_span_text(const struct experiment *e, int64_t number);

#endif
