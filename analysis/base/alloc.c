/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *check(void *p)
{
	if (p)
		return p;
	fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
	exit(1);
}

/*
 * Touching a hundred megabytes in pages of 4 KB takes longer than filling them. All pages of the block get the
 * advice, because mremap, and so realloc, moves a block only if it is one mapping.
 */
static void *use_huge_pages(void *p, size_t size)
{
	size_t within = (uintptr_t)p % (size_t)sysconf(_SC_PAGESIZE);

	/* Where there are none it fails, and nothing is lost. */
	madvise((char *)p - within, within + size, MADV_HUGEPAGE);
	return p;
}

static void *advise(void *p, size_t n, size_t size)
{
	return n * size < ALLOC_MAPPED ? p : use_huge_pages(p, n * size);
}

void *xmalloc(size_t size)
{
	return advise(check(malloc(size ? size : 1)), size, 1);
}

void *xcalloc(size_t n, size_t size)
{
	return advise(check(calloc(n ? n : 1, size ? size : 1)), n, size);
}

void *xrealloc_array(void *p, size_t n, size_t size)
{
	return advise(check(reallocarray(p, n ? n : 1, size ? size : 1)), n, size);
}

void *xrealloc(void *p, size_t size)
{
	return xrealloc_array(p, size, 1);
}

char *xstrdup(const char *s)
{
	return check(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return check(strndup(s, n));
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	return check(vasprintf(&s, fmt, ap) < 0 ? NULL : s);
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

void freep(void *pp)
{
	free(*(void **)pp);
}

void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void fclosep(void *fp)
{
	FILE *f = *(FILE **)fp;

	if (f)
		fclose(f);
}

/*
 * Each chunk is twice as large as the one before, up to CHUNK_MOST. Chunks of ALLOC_MAPPED bytes or
 * more are mapped here: they come zeroed.
 */
enum { ARENA_ALIGN = 16, CHUNK_LEAST = 4 * 1024, CHUNK_MOST = 8 << 20 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	_Alignas(ARENA_ALIGN) char data[]; /* allocations begin here */
};

static void *pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		check(NULL);
	return use_huge_pages(p, size);
}

static struct arena_chunk *chunk_new(struct arena *a, size_t least)
{
	size_t size = a->chunks ? a->chunks->size * 2 : CHUNK_LEAST;
	struct arena_chunk *c;

	size = size > CHUNK_MOST ? CHUNK_MOST : size;
	size = size < least + sizeof(*c) ? least + sizeof(*c) : size;
	c = size < ALLOC_MAPPED ? xcalloc(1, size) : pages(size);
	c->size = size;
	c->next = a->chunks;
	a->chunks = c;
	a->used = sizeof(*c);
	return c;
}

static void chunk_free(struct arena_chunk *c)
{
	if (c->size < ALLOC_MAPPED)
		free(c);
	else
		munmap(c, c->size);
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_chunk *c = a->chunks;
	void *p;

	if (size > SIZE_MAX / 2)
		check(NULL);
	size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (!c || c->size - a->used < size)
		c = chunk_new(a, size);
	p = (char *)c + a->used;
	a->used += size;
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(arena_alloc(a, n), s, n);
}

void arena_free(struct arena *a)
{
	while (a->chunks) {
		struct arena_chunk *next = a->chunks->next;

		chunk_free(a->chunks);
		a->chunks = next;
	}
	a->used = 0;
}
