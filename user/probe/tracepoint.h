/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracepoints of the kernel, as tracefs describes them. tracefs need not be mounted: an unmounted
 * instance is read.
 */
#ifndef USER_PROBE_TRACEPOINT_H
#define USER_PROBE_TRACEPOINT_H

#include "bpf/place.h"
#include "user/probe/sites.h"

/* Set ret->tracepoint and ret->places. Returns 0, or -1 after one sentence with the remedy. */
int tracepoint_find(const struct probe_spec *s, struct diag *d, struct probe_sites *ret);
/* Set ret->syscall and ret->places, for probes ret->tracepoint, too. */
int syscall_find(const struct probe_spec *s, struct diag *d, struct probe_sites *ret);
/*
 * The place of field `number` in a tracepoint's record, from the text of its `format` file. `first`
 * fields behind the common ones are not counted. Returns 0; -ENOENT: it has fewer fields; -EINVAL:
 * the field is neither an integer nor text.
 */
int tracepoint_field(const char *format, unsigned first, unsigned number, struct er_place *ret);

#endif
