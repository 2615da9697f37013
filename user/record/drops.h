/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts what the recorder itself had to leave out, by kind. `header` shows the counts. */
#ifndef USER_RECORD_DROPS_H
#define USER_RECORD_DROPS_H

#include <stdint.h>

enum drop {
	DROP_RECORD,     /* a ring record of unknown kind or size */
	DROP_STACK,      /* a sample whose stack never came: shown as <Stack-lost> */
	DROP_LIMIT,      /* a sample beyond the -L limit */
	DROP_EXPERIMENT, /* a process for which no experiment could be made */
	DROP_PSEUDO,     /* a process shown as <other processes> */
	DROP_SIDEBAND,   /* records of processes and mappings lost by the kernel */
	DROP_PROCESS,    /* processes and mappings not kept */
	DROP_LATE,       /* processes that no event announced, found in /proc instead */
	DROP_ARCHIVE,    /* binaries that could not be archived */
	DROP_CODE,       /* functions of interpreted programs not kept */
	DROP_CPU,        /* CPUs that came online and could not be followed */
	DROP_NAMES,      /* maps of generated code that may not be read, or are too large */
	DROP_JAVA,       /* Java VMs of a version that is not understood */
	DROP_UNANSWERED, /* files and command lines that were not there in time */
	DROP_HEAP,       /* heap events that were lost in their ring, */
	DROP_HEAP_PLACE, /* or whose process is unknown or has no experiment of its own */
	DROP_HEAP_PROCESS, /* processes whose heap was not traced */
	DROP_LOCK,       /* counts of locks that were lost, or whose process has no experiment */
	DROP_LOCK_PROCESS, /* processes whose locks were not counted */
	DROP_CALL,       /* calls of the collector API beyond their bound */
	DROP_IO_OPEN,    /* I/O calls that had not returned at the end */
	DROP_IO_FOREIGN, /* system calls of 32-bit programs, whose I/O is not traced */
	DROP_FAILED,     /* processes that failed, and are in no table because it has FAILED_MAX of them */
	DROP_COUNT
};

struct drops {
	uint64_t n[DROP_COUNT];
	uint64_t limit_ns; /* time of the first record beyond the -L limit; 0: none */
};

/* What a loss means for the reader of reports. */
enum drop_effect {
	EFFECT_TOO_SMALL = 1 << 0,  /* times and counts are too small */
	EFFECT_NO_STACK = 1 << 1,   /* time without a stack */
	EFFECT_UNKNOWN = 1 << 2,    /* code without a name */
	EFFECT_ONE_FRAME = 1 << 3,  /* all code of a process is one function */
	EFFECT_COUNT = 4,
};

struct drop_desc {
	const char *kind, *what; /* in recorder.xml */
	const char *one, *many;  /* in the recorder's message at the end; NULL: it is not told there */
	unsigned effects;        /* of enum drop_effect */
};

extern const struct drop_desc drop_descs[DROP_COUNT];

/* Count a record beyond the -L limit; time_ns is the record's time. */
void drops_limit(struct drops *d, uint64_t time_ns);

#endif
