/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the recorder reports about its own losses and costs, as lines of `header`. */
#ifndef VIEWS_LOSS_REPORT_H
#define VIEWS_LOSS_REPORT_H

#include "analysis/model/session.h"
#include "analysis/views/losses.h"
#include "analysis/views/table.h"

struct loss_report;

/* Compares the recorder's counts with the packets. NULL if the founder has no recorder.xml. */
struct loss_report *loss_report_new(const struct session *s, const struct experiment *founder);
void loss_report_free(struct loss_report *a);
/*
 * What was lost and what recording cost: two lines if nothing was lost. This function and those
 * below accept NULL.
 */
void loss_report_brief(struct table *t, struct loss_report *a);
/* The same, with the processes whose records were lost and the figures that are incomplete. */
void loss_report_summary(struct table *t, struct loss_report *a);
/* Losses and costs by CPU and by BPF program. */
void loss_report_details(struct table *t, struct loss_report *a);

/* Records produced, lost and missing; all 0 for NULL. */
struct record_loss loss_report_records(struct loss_report *a);

#endif
