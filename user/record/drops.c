/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/drops.h"

const struct drop_desc drop_descs[DROP_COUNT] = {
	[DROP_RECORD] = { "record", "unknown ring records", "unknown record", "unknown records",
			  EFFECT_TOO_SMALL },
	[DROP_STACK] = { "stack", "samples whose stack was lost", "stack of a sample or wait",
			 "stacks of samples and waits", EFFECT_NO_STACK },
	[DROP_LIMIT] = { "limit", "samples beyond the size limit" },
	[DROP_EXPERIMENT] = { "experiment", "processes without an experiment",
			      "experiment of a process", "experiments of processes",
			      EFFECT_ONE_FRAME },
	[DROP_PSEUDO] = { "pseudo", "processes shown together" },
	[DROP_SIDEBAND] = { "sideband", "records of processes and mappings",
			    "record of processes and mappings", "records of processes and mappings",
			    EFFECT_UNKNOWN },
	[DROP_PROCESS] = { "process", "processes and mappings beyond the bound",
			   "process or mapping", "processes and mappings", EFFECT_UNKNOWN },
	[DROP_LATE] = { "late", "processes known only from /proc" },
	[DROP_ARCHIVE] = { "archive", "binaries that could not be archived" },
	[DROP_CPU] = { "cpu", "CPUs that came online and were not sampled from then on",
		       "CPU that came online", "CPUs that came online", EFFECT_TOO_SMALL },
};

void drops_limit(struct drops *d, uint64_t time_ns)
{
	d->n[DROP_LIMIT]++;
	if (!d->limit_ns)
		d->limit_ns = time_ns;
}
