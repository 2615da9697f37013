/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the files that define functions of the heap. */
#ifndef USER_PRELOAD_HEAP_CALLS_H
#define USER_PRELOAD_HEAP_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/preload/heap_client.h"

/* A function that the program calls. Its frame tells its caller. */
#define EXPORT __attribute__((visibility("default"), noinline, optimize("no-optimize-sibling-calls")))
#define FRAME __builtin_frame_address(0)

/* The next functions of these names. */
struct heap_next {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	int (*dlclose)(void *);
};

extern struct heap_next heap_next;
extern __thread struct heap_thread heap_thread __attribute__((tls_model("initial-exec")));

/* False while the next functions are being looked for. The program has one thread then. */
bool heap_ready(void);
/* Record an allocation; call it afterwards. Nothing happens if p is NULL or the call is nested. */
void heap_allocated(enum heap_slot_kind kind, const void *p, const void *old, size_t size,
		    const void *frame);
/* Record a free; call it before. time_ns 0: now. */
void heap_freed(const void *p, uint64_t time_ns, const void *frame);

/* Call the next function of the name. What it calls by itself is not recorded. */
#define CALL(ret, name, ...)                               \
	do {                                               \
		heap_thread.depth++;                       \
		ret = heap_next.name(__VA_ARGS__);         \
		heap_thread.depth--;                       \
	} while (0)

#endif
