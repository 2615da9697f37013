/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the page has besides its events and does not depend on them: the findings, and some reports of er_print. They
 * take passes of their own over the packets. Only one thread may use a session, so two child processes make them while
 * this one reads the events. With one CPU, or if there is no such process or it fails, this one makes its part.
 */
#ifndef EXPORT_PAGE_AHEAD_H
#define EXPORT_PAGE_AHEAD_H

#include <sys/types.h>

#include "analysis/base/buf.h"
#include "analysis/export/page_reports.h"

struct export;

/* The findings take about twice as long as the reports: with one process for both, a CPU would be idle at the end. */
enum ahead_part { AHEAD_FINDINGS, AHEAD_REPORTS, AHEAD_PARTS };

struct ahead_process {
	pid_t pid; /* 0: none */
	int from;  /* the pipe from it; -1: none */
};

struct page_ahead {
	const struct export *x;
	struct buf findings;       /* JSON */
	struct made_reports reports;
	struct ahead_process processes[AHEAD_PARTS];
	bool made_here;            /* this process made a part */
};

/* Start. No other thread may run meanwhile. */
void page_ahead_begin(struct page_ahead *a, const struct export *x);
/* Wait until findings and reports are there. */
void page_ahead_end(struct page_ahead *a);
/* Also ends a process that is still at work. */
void page_ahead_free(struct page_ahead *a);

#endif
