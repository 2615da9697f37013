/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs of I/O tracing and user space share beside the record, struct er_io. */
#ifndef IO_H
#define IO_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* The kinds of I/O, as field IOTYPE has them. */
enum er_io_type {
	ER_IO_READ,
	ER_IO_WRITE,
	ER_IO_OPEN,  /* and all that gives a file a descriptor */
	ER_IO_CLOSE,
	ER_IO_OTHER,
	ER_IO_TYPES  /* added to the type of a call that failed */
};

enum er_io_name {
	ER_IO_NAME_NONE,
	ER_IO_NAME_GIVEN,  /* the call's argument */
	ER_IO_NAME_PATH,   /* names from the file up to the root, each with its NUL */
	ER_IO_NAME_CUT,    /* the same, but the root was not reached */
	ER_IO_NAME_PSEUDO, /* of a file in no directory, such as a socket: one name */
};

enum {
	ER_IO_NAME_BYTES = 1024, /* of a name; */
	ER_IO_NAME_LAST = 256,   /* the last part may go beyond by so many; */
	ER_IO_NAME_PARTS = 64,   /* parts of a path and mounts on the way; the rest is cut off */
};

enum {
	ER_IO_LIBRARIES = 4, /* er_heap.so, er_locks.so, the collector API twice */
	ER_IO_LIBRARY_PATH = 512,
};

/* A library that the recorder has loaded into the program. */
struct er_io_library {
	__u64 mark[2];                 /* in registers of its own calls */
	char path[ER_IO_LIBRARY_PATH]; /* as the loader opens it; empty: it does not, or too long */
};

/* Per CPU, in an array that user space maps. */
struct er_io_cpu {
	__u64 entered, returned; /* calls; the difference of the sums is in progress */
	__u64 foreign;           /* system calls of 32-bit programs, which are not traced */
} __attribute__((aligned(64)));

#endif
