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
	[DROP_CODE] = { "code", "Python functions beyond the bound, shown as <Python>",
			"name of a Python function", "names of Python functions", EFFECT_UNKNOWN },
	[DROP_CPU] = { "cpu", "CPUs that came online and were not sampled from then on",
		       "CPU that came online", "CPUs that came online", EFFECT_TOO_SMALL },
	[DROP_NAMES] = { "names", "maps of generated code that were not read",
			 "map of generated code", "maps of generated code", EFFECT_UNKNOWN },
	[DROP_JAVA] = { "java", "Java VMs that are not understood, whose code is shown as <Java>",
			"Java VM that is not understood", "Java VMs that are not understood",
			EFFECT_UNKNOWN },
	[DROP_UNANSWERED] = { "unanswered", "files and processes that did not answer in time",
			      "file or process that did not answer in time",
			      "files and processes that did not answer in time", EFFECT_UNKNOWN },
	[DROP_HEAP] = { "heap", "heap events that were not recorded", "heap event", "heap events",
			EFFECT_TOO_SMALL },
	[DROP_HEAP_PLACE] = { "heapplace", "heap events of processes without an experiment of their own",
			      "heap event of a process without an experiment of its own",
			      "heap events of processes without an experiment of their own",
			      EFFECT_TOO_SMALL },
	[DROP_HEAP_PROCESS] = { "heapprocess", "processes whose heap was not traced",
				"process whose heap was not traced",
				"processes whose heap was not traced", EFFECT_TOO_SMALL },
	[DROP_LOCK] = { "lock", "locks taken that were not counted", "count of a lock taken",
			"counts of locks taken", EFFECT_TOO_SMALL },
	[DROP_LOCK_PROCESS] = { "lockprocess", "processes whose locks were not counted",
				"process whose locks were not counted",
				"processes whose locks were not counted", EFFECT_TOO_SMALL },
	[DROP_CALL] = { "call", "calls of the collector API beyond the bound" },
	[DROP_IO_OPEN] = { "ioopen", "I/O calls that had not returned at the end" },
	[DROP_IO_FOREIGN] = { "ioforeign", "system calls of 32-bit programs, whose I/O is not traced",
			      "system call of a 32-bit program, whose I/O is not traced",
			      "system calls of 32-bit programs, whose I/O is not traced",
			      EFFECT_TOO_SMALL },
	[DROP_FAILED] = { "failed", "processes that failed, beyond the bound of the table of processes" },
};

void drops_limit(struct drops *d, uint64_t time_ns)
{
	d->n[DROP_LIMIT]++;
	if (!d->limit_ns)
		d->limit_ns = time_ns;
}
