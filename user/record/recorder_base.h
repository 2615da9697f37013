/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the capture and the recorder have counted in this segment, for recorder.xml. */
#ifndef USER_RECORD_RECORDER_BASE_H
#define USER_RECORD_RECORDER_BASE_H

#include "user/record/recorder_xml.h"

/* Fills in a row for each program that ran, ER_PROG_COUNT at most; returns their number. */
size_t recorder_costs(const struct recorder_xml *a, struct capture_cost *ret);
/* Adds to ret[number], an array of ER_MAX_SYSCALLS. */
void recorder_calls(const struct recorder_xml *a, struct er_calls *ret);
void recorder_counted(const struct recorder_xml *a, size_t counter, struct capture_counted *ret);
void recorder_probed(const struct recorder_xml *a, size_t probe, struct capture_probed *ret);
/* The CPU time of this process since it began. */
void recorder_self(uint64_t *user_ns, uint64_t *system_ns);

#endif
