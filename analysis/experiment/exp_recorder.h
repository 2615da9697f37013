/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recorder.xml: what er_kernel reports about its own recording. */
#ifndef EXPERIMENT_EXP_RECORDER_H
#define EXPERIMENT_EXP_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/experiment/xml.h"

struct experiment;

/* An element. */
struct exp_element {
	const char *name;
	const struct xml_attr *attrs;
	size_t nattrs;
};

/* An attribute as text (NULL: none), or as an integer (0: none). */
const char *element_get(const struct exp_element *el, const char *name);
int64_t element_int(const struct exp_element *el, const char *name);
/* Whether the recorder says that it recorded the whole system, or a part of it by choice (-T). */
bool recorder_system_wide(const struct experiment *e);
/* Whether its clock packets are waits for locks and nothing else (collect -p off -s on). */
bool recorder_only_locks(const struct experiment *e);
/*
 * All waits were recorded that had a thread blocked, or waiting for a CPU, for at least so many nanoseconds; of shorter
 * ones a sample was. 0: unknown. The capture may have changed the length: this is the largest.
 */
int64_t recorder_all_waits_from(const struct experiment *e);

#endif
