/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sample points of the recordings, for the timeline and the list of samples of the page. */
#ifndef EXPORT_PAGE_SAMPLES_H
#define EXPORT_PAGE_SAMPLES_H

#include <stdbool.h>

struct buf;
struct session;

/*
 * Append the member `samples` of the index after a comma: for each sample point, in order, an array
 * of the experiment, the number, the time in microseconds, and the label. Nothing if there are no
 * points, or if a process has points of its own, because the page knows only those of recordings.
 * The user wrote the labels: without `labels` they are empty.
 */
void put_sample_points(const struct session *s, bool labels, struct buf *b);

#endif
