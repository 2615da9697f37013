/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for tools. Every allocating function returns memory, or prints one sentence and ends
 * the program. A size that comes from a file must be checked against that file first. An arena
 * holds objects that live as long as their experiment.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stdarg.h>
#include <stddef.h>

#define __cleanup(fn) __attribute__((cleanup(fn)))

/*
 * Blocks of this many bytes and more use huge pages if the kernel has them. program_begin tells malloc to map each
 * of them by itself.
 */
enum { ALLOC_MAPPED = 4 << 20 };

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc_array(void *p, size_t n, size_t size);
/* Named as libiberty expects. */
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
__attribute__((format(printf, 1, 2))) char *xasprintf(const char *fmt, ...);
__attribute__((format(printf, 1, 0))) char *xvasprintf(const char *fmt, va_list ap);

/*
 * Scope guards: `__cleanup(freep) char *s`, `__cleanup(closep) int fd`. closep closes a descriptor unless it is
 * -1, which it becomes.
 */
void freep(void *pp);
void closep(int *fd);
void fclosep(void *fp);

/*
 * An arena allocates memory that is freed all at once. The memory is zeroed and aligned to 16
 * bytes. A zeroed struct arena is an empty arena. One thread at a time may use it.
 */
struct arena {
	struct arena_chunk *chunks;
	size_t used;
};

void *arena_alloc(struct arena *a, size_t size);
char *arena_strdup(struct arena *a, const char *s);
void arena_free(struct arena *a);

#endif
