/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes counters into an experiment: their names into log.xml, their sums into recorder.xml. */
#ifndef USER_RECORD_COUNTER_LOG_H
#define USER_RECORD_COUNTER_LOG_H

#include "user/counters/counters.h"

struct recorder_xml;
struct buf;
struct expwriter;

/* Announce the metrics of all counters in an experiment. Writes nothing if there are none. */
void counters_announce(const counter_list *l, struct expwriter *w);
/*
 * Write the elements <counter>. Once the recording has stopped they also say how many events
 * each counter counted and how many of these its overflows reported.
 */
void counters_xml(const struct recorder_xml *a, struct buf *b);

#endif
