/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder's account of itself, as lines of `header`. */
#ifndef VIEWS_LOSS_REPORT_H
#define VIEWS_LOSS_REPORT_H

#include "analysis/model/session.h"
#include "analysis/views/table.h"

struct loss_report;

/* Checked against the packets; NULL for a founder that has no recorder.xml. */
struct loss_report *loss_report_new(const struct session *s, const struct experiment *founder);
void loss_report_free(struct loss_report *a);
/* What was lost and what recording cost: two lines, if all is well. All take NULL. */
void loss_report_brief(struct table *t, struct loss_report *a);
/* The same, whose records were lost, and where figures are less than complete. */
void loss_report_summary(struct table *t, struct loss_report *a);
/* By CPU and by BPF program. */
void loss_report_details(struct table *t, struct loss_report *a);

#endif
