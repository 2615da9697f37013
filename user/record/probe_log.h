/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes probes into an experiment: their names into log.xml, their counts into recorder.xml. */
#ifndef USER_RECORD_PROBE_LOG_H
#define USER_RECORD_PROBE_LOG_H

#include "user/probe/probes.h"

struct buf;
struct expwriter;
struct recorder_xml;

/* Announce the metrics of all probes in an experiment. Writes nothing if there are none. */
void probes_announce(const probe_list *l, struct expwriter *w);
/* An element for each probe, with its hits. */
void probes_xml(const struct recorder_xml *a, struct buf *b);

#endif
