/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters in the files of an experiment: their names in log.xml, what they came to in recorder.xml. */
#ifndef USER_RECORD_COUNTER_LOG_H
#define USER_RECORD_COUNTER_LOG_H

#include "user/counters/counters.h"

struct recorder_xml;
struct buf;
struct expwriter;

/* Announce the metrics of all counters in an experiment; none: nothing. */
void counters_announce(const counter_list *l, struct expwriter *w);
/*
 * The elements <counter>: what each counted by itself and what was seen of that, once
 * the recording has stopped.
 */
void counters_xml(const struct recorder_xml *a, struct buf *b);

#endif
