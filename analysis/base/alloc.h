/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for tools: every function here returns memory or ends the program with
 * one sentence. Sizes that come from a file must be checked against that file
 * before they get here. Arenas own what lives as long as its experiment.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

#define __cleanup(fn) __attribute__((cleanup(fn)))

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc_array(void *p, size_t n, size_t size);
/* By this name libiberty asks for it. */
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
__attribute__((format(printf, 1, 2))) char *xasprintf(const char *fmt, ...);

/* Scope guards: `__cleanup(freep) char *s`, `__cleanup(closep) int fd`. */
void freep(void *pp);
void closep(int *fd);
void fclosep(void *fp);

/*
 * An arena hands out memory that is freed all at once. Zero-initialised memory,
 * aligned to 16 bytes; a zeroed struct arena is an empty arena.
 */
struct arena {
	struct arena_chunk *chunks;
	size_t used;
};

void *arena_alloc(struct arena *a, size_t size);
char *arena_strdup(struct arena *a, const char *s);
/* Take over all that another arena has; it is empty then. */
void arena_join(struct arena *a, struct arena *from);
void arena_free(struct arena *a);

#endif
