/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the recorder itself had to leave out, by kind: counted here, shown by `header`. */
#ifndef USER_RECORD_DROPS_H
#define USER_RECORD_DROPS_H

#include <stdint.h>

/* drop_kinds and drop_names have a word and a sentence for each; both go into recorder.xml. */
enum drop {
	DROP_RECORD,     /* a ring record of a kind or size that we do not know */
	DROP_STACK,      /* a sample whose stack never came: shown as <Stack-lost> */
	DROP_LIMIT,      /* a sample beyond the -L limit */
	DROP_EXPERIMENT, /* a process that got no experiment of its own for want of room */
	DROP_PSEUDO,     /* a process shown as <other processes> */
	DROP_SIDEBAND,   /* records of processes and mappings lost by the kernel */
	DROP_PROCESS,    /* processes and mappings not kept */
	DROP_LATE,       /* processes that no record announced, looked up in /proc */
	DROP_ARCHIVE,    /* binaries that could not be archived */
	DROP_CPU,        /* CPUs that came online and could not be followed */
	DROP_COUNT
};

struct drops {
	uint64_t n[DROP_COUNT];
	uint64_t limit_ns; /* when the first record met the -L limit; 0: none did */
};

extern const char *const drop_kinds[DROP_COUNT];
extern const char *const drop_names[DROP_COUNT];

/* Count a record of that time as one beyond the -L limit. */
void drops_limit(struct drops *d, uint64_t time_ns);

#endif
