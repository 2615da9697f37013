/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/drops.h"

const char *const drop_kinds[DROP_COUNT] = {
	[DROP_RECORD] = "record",
	[DROP_STACK] = "stack",
	[DROP_LIMIT] = "limit",
	[DROP_EXPERIMENT] = "experiment",
	[DROP_PSEUDO] = "pseudo",
	[DROP_SIDEBAND] = "sideband",
	[DROP_PROCESS] = "process",
	[DROP_LATE] = "late",
	[DROP_ARCHIVE] = "archive",
	[DROP_CPU] = "cpu",
};

const char *const drop_names[DROP_COUNT] = {
	[DROP_RECORD] = "unknown ring records",
	[DROP_STACK] = "samples whose stack was lost",
	[DROP_LIMIT] = "samples beyond the size limit",
	[DROP_EXPERIMENT] = "processes without an experiment",
	[DROP_PSEUDO] = "processes shown together",
	[DROP_SIDEBAND] = "records of processes and mappings",
	[DROP_PROCESS] = "processes and mappings beyond the bound",
	[DROP_LATE] = "processes known only from /proc",
	[DROP_ARCHIVE] = "binaries that could not be archived",
	[DROP_CPU] = "CPUs that came online and were not sampled from then on",
};

void drops_limit(struct drops *d, uint64_t time_ns)
{
	d->n[DROP_LIMIT]++;
	if (!d->limit_ns)
		d->limit_ns = time_ns;
}
