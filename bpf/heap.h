/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs of heap tracing (heap.bpf.c) and user space share beside the record, struct er_heap. */
#ifndef HEAP_H
#define HEAP_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* What a function does, and which of its arguments say with what. */
enum er_heap_call {
	ER_HEAP_MALLOC,  /* (size) */
	ER_HEAP_CALLOC,  /* (n, size) */
	ER_HEAP_ALIGNED, /* (alignment, size) */
	ER_HEAP_POSIX,   /* (&block, alignment, size): returns an error or 0 */
	ER_HEAP_REALLOC, /* (block, size) */
	ER_HEAP_REALLOCARRAY, /* (block, n, size) */
	ER_HEAP_FREE,    /* (block) */
	ER_HEAP_MMAP,    /* (address, size) */
	ER_HEAP_MUNMAP,  /* (address, size) */
	ER_HEAP_THROW,   /* an exception: the call in progress may be left */
};

/*
 * A function that is traced, in an array that user space fills. Calls from code between low and high,
 * relative to the function, are not recorded: those that a library makes of its own function.
 */
struct er_heap_site {
	__u32 call;      /* enum er_heap_call */
	__u16 returns;   /* its return is seen, too: by a return probe, */
	__u16 ends;      /* or by breakpoints on the instructions that return, because it may throw */
	__s64 low, high; /* equal: there is no such code */
};

enum { ER_MAX_HEAP_SITES = 256, ER_MAX_HEAP_ENDS = 1024 };

/* A sampled block that is not freed yet. `exec` tells the programs of a process apart. */
struct er_heap_block {
	__u64 address;
	__u32 tgid, exec;
};

enum { ER_MAX_HEAP_BLOCKS = 1 << 18 };

/* Kinds of events: enum heap_type (analysis/metrics/leaks.h). */
enum er_heap_kind { ER_HEAP_IS_MALLOC, ER_HEAP_IS_FREE, ER_HEAP_IS_REALLOC, ER_HEAP_IS_MMAP, ER_HEAP_IS_MUNMAP };

/* Per CPU. */
struct er_heap_cpu {
	__u64 busy; /* a bit for each area that is in use */
} __attribute__((aligned(64)));

#endif
