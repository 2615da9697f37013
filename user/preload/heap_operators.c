/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * C++'s operators new and delete, by the names that the Itanium ABI gives them. libstdc++'s call
 * malloc and would be recorded anyway; those of jemalloc and tcmalloc do not. The next function may
 * throw an exception, which passes through here.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "user/preload/heap_calls.h"

struct nothrow;

/* A program may load libstdc++ later, and for a part of it only. */
static void *find(const char *name)
{
	void *at, *library;

	heap_ready();
	heap_thread.depth++;
	at = dlsym(RTLD_NEXT, name);
	if (!at && (library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD)))
		at = dlsym(library, name);
	heap_thread.depth--;
	return at;
}

static void leave(struct heap_thread **t)
{
	(*t)->depth--;
}

/* Until the end of the block, also if an exception ends it. */
#define ENTER \
	struct heap_thread *t __attribute__((cleanup(leave), unused)) = (heap_thread.depth++, &heap_thread)

#define NEW(name, params, args)                                                            \
	EXPORT void *name params;                                                          \
	EXPORT void *name params                                                           \
	{                                                                                  \
		static void *(*real) params;                                               \
		void *p;                                                                   \
                                                                                           \
		if (!real && !(real = (void *(*)params)find(#name)))                       \
			abort();                                                           \
		{                                                                          \
			ENTER;                                                             \
			p = real args;                                                     \
		}                                                                          \
		heap_allocated(HEAP_SLOT_MALLOC, p, NULL, size, FRAME);                    \
		return p;                                                                  \
	}

#define DELETE(name, params, args)                                                         \
	EXPORT void name params;                                                           \
	EXPORT void name params                                                            \
	{                                                                                  \
		static void (*real) params;                                                \
                                                                                           \
		if (!p)                                                                    \
			return;                                                            \
		if (!real && !(real = (void (*)params)find(#name)))                        \
			abort();                                                           \
		heap_freed(p, 0, FRAME);                                                   \
		{                                                                          \
			ENTER;                                                             \
			real args;                                                         \
		}                                                                          \
	}

NEW(_Znwm, (size_t size), (size))
NEW(_Znam, (size_t size), (size))
NEW(_ZnwmRKSt9nothrow_t, (size_t size, const struct nothrow *no), (size, no))
NEW(_ZnamRKSt9nothrow_t, (size_t size, const struct nothrow *no), (size, no))
NEW(_ZnwmSt11align_val_t, (size_t size, size_t align), (size, align))
NEW(_ZnamSt11align_val_t, (size_t size, size_t align), (size, align))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t align, const struct nothrow *no),
    (size, align, no))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t align, const struct nothrow *no),
    (size, align, no))
DELETE(_ZdlPv, (void *p), (p))
DELETE(_ZdaPv, (void *p), (p))
DELETE(_ZdlPvm, (void *p, size_t size), (p, size))
DELETE(_ZdaPvm, (void *p, size_t size), (p, size))
DELETE(_ZdlPvRKSt9nothrow_t, (void *p, const struct nothrow *no), (p, no))
DELETE(_ZdaPvRKSt9nothrow_t, (void *p, const struct nothrow *no), (p, no))
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t align), (p, align))
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t align), (p, align))
DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t size, size_t align), (p, size, align))
DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t size, size_t align), (p, size, align))
