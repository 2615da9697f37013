/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder's account of itself, as lines of `header`. */
#ifndef VIEWS_ACCOUNT_H
#define VIEWS_ACCOUNT_H

#include "analysis/model/session.h"
#include "analysis/views/table.h"

/* Nothing for a founder that has no recorder.xml. */
void put_account(struct table *t, const struct session *s, const struct experiment *founder);

#endif
