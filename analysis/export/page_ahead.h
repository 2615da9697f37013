/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the page has besides its events and does not depend on them: the findings, and some reports of er_print. They
 * take passes of their own over the packets. Only one thread may use a session, so a child process makes them while
 * this one reads the events. With one CPU, or if there is no such process or it fails, this one makes them.
 */
#ifndef EXPORT_PAGE_AHEAD_H
#define EXPORT_PAGE_AHEAD_H

#include <sys/types.h>

#include "analysis/base/buf.h"
#include "analysis/export/page_reports.h"

struct export;

struct page_ahead {
	const struct export *x;
	struct buf findings;       /* JSON */
	struct made_reports reports;
	pid_t child;               /* 0: none */
	int from;                  /* the pipe from it */
	bool made_here;            /* this process made them */
};

/* Start. No other thread may run meanwhile. */
void page_ahead_begin(struct page_ahead *a, const struct export *x);
/* Wait until findings and reports are there. */
void page_ahead_end(struct page_ahead *a);
/* Also ends a process that is still at work. */
void page_ahead_free(struct page_ahead *a);

#endif
