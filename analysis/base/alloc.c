/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *check(void *p)
{
	if (p)
		return p;
	fputs("out of memory\n", stderr);
	exit(1);
}

void *xmalloc(size_t size)
{
	return check(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return check(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc_array(void *p, size_t n, size_t size)
{
	return check(reallocarray(p, n ? n : 1, size ? size : 1));
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

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return check(n < 0 ? NULL : s);
}

void freep(void *pp)
{
	free(*(void **)pp);
}

void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

void fclosep(void *fp)
{
	FILE *f = *(FILE **)fp;

	if (f)
		fclose(f);
}

enum { CHUNK_SIZE = 64 * 1024, ARENA_ALIGN = 16 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	_Alignas(ARENA_ALIGN) char data[];
};

static struct arena_chunk *chunk_new(struct arena *a, size_t size)
{
	struct arena_chunk *c = xcalloc(1, sizeof(*c) + size);

	c->size = size;
	c->next = a->chunks;
	a->chunks = c;
	a->used = 0;
	return c;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_chunk *c = a->chunks;
	void *p;

	if (size > SIZE_MAX - ARENA_ALIGN)
		check(NULL);
	size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (!c || c->size - a->used < size)
		c = chunk_new(a, size > CHUNK_SIZE ? size : CHUNK_SIZE);
	p = c->data + a->used;
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

		free(a->chunks);
		a->chunks = next;
	}
	a->used = 0;
}
