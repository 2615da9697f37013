/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the calling thread's own stack, by the call frame information of the loaded files and by the
 * same steps as BPF (bpf/unwind_step.h). The rule of each return address is kept, so a step costs a
 * few nanoseconds. Allocates nothing and takes no lock. Memory whose readability is not known is
 * asked for by a system call, so a damaged stack ends the walk and does not end the program.
 */
#ifndef USER_PRELOAD_HEAP_WALK_H
#define USER_PRELOAD_HEAP_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of the stack that is known to be readable. Of each thread, zero at first. */
struct heap_extent {
	uint64_t low, high;
};

/* Registers of interrupted code, by DWARF number. */
enum { HEAP_REGS = 17 };

/* Call it once, before the first walk. */
void heap_walk_init(void);
/* Leave the functions of this library out of stacks. Call it after heap_walk_init. */
void heap_walk_hide(void);
/* The number of files in which code was found so far, repeated ones included. */
uint64_t heap_walk_files(void);
/* Code was unmapped: forget the rules. */
void heap_walk_forget(void);
/*
 * Write the return addresses of the callers of the function whose frame pointer is `frame`, leaf
 * first, at most `max`. Returns how many; *end is why the walk ended (enum er_end).
 */
size_t heap_walk(struct heap_extent *x, const void *frame, uint64_t *pcs, size_t max, unsigned *end);
/*
 * The same for code that a signal interrupted. The leaf is its pc, the others are return addresses.
 * May be called in a signal handler.
 */
size_t heap_walk_from(struct heap_extent *x, const uint64_t regs[HEAP_REGS], uint64_t *pcs, size_t max,
		      unsigned *end);

#endif
