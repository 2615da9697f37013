/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the reports on spans: texts about calls. */
#ifndef VIEWS_SPANROWS_H
#define VIEWS_SPANROWS_H

#include "analysis/model/spans.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

struct buf;
struct diag;

/* The state's name; MS_LINUX_CPU is all time on a CPU. */
const char *span_state_name(enum er_mstate state);
/* Move the text into the table's arena. */
const char *span_keep(struct table *t, struct buf *b);
/* Note that there are no spans, and why that may be so. */
void span_nothing(const struct view_state *v, struct table *t);
/* The span with this name; NULL: none. Report that there is none; returns -1. */
const struct span_name *span_named(const struct spans *sp, const char *name);
int span_unknown(const struct spans *sp, const char *name, struct diag *d);
/* The thread of a call: "app, PID 12, TID 13 (worker)". */
const char *span_thread_text(struct view_state *v, struct table *t, const struct span_call *c);
/*
 * Append how the call began and ended, if it is not whole, its arguments, and its text: "left; arguments 42, (text),
 * -1; text 'select 1'".
 */
void span_put_facts(const struct spans *sp, const struct span_call *c, struct buf *b);
/* The same without the text, for files that others may see. */
void span_put_numbers(const struct spans *sp, const struct span_call *c, struct buf *b);
/* The process of a call. */
int64_t span_pid(const struct spans *sp, const struct span_call *c);
/* The time of a call in a state; MS_LINUX_CPU: all time on a CPU. */
int64_t span_state_ns(const struct spans *sp, const struct span_call *c, enum er_mstate state);

#endif
