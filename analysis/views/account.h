/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder's account of itself, as lines of `header`. */
#ifndef VIEWS_ACCOUNT_H
#define VIEWS_ACCOUNT_H

#include "analysis/model/session.h"
#include "analysis/views/table.h"

struct account;

/* Checked against the packets; NULL for a founder that has no recorder.xml. */
struct account *account_new(const struct session *s, const struct experiment *founder);
void account_free(struct account *a);
/* What was lost, what is incomplete, what recording cost: a few lines. Both take NULL. */
void account_summary(struct table *t, struct account *a);
/* By CPU and by BPF program. */
void account_details(struct table *t, struct account *a);

#endif
