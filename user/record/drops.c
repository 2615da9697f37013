/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/drops.h"

const char *const drop_names[DROP_COUNT] = {
	[DROP_RECORD] = "unknown ring records",
	[DROP_STACK] = "samples whose stack was lost",
	[DROP_LIMIT] = "samples beyond the size limit",
	[DROP_EXPERIMENT] = "processes without an experiment of their own",
	[DROP_PSEUDO] = "processes shown together",
	[DROP_SIDEBAND] = "records of processes and mappings",
	[DROP_PROCESS] = "processes and mappings beyond the bound",
	[DROP_LATE] = "processes known only from /proc",
	[DROP_ARCHIVE] = "binaries that could not be archived",
	[DROP_CPU] = "CPUs that came online and were not sampled from then on",
};
