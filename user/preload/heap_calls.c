/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of the heap that er_heap.so puts before the program's own. Each calls the next one of
 * its name, which may be glibc's, jemalloc's or tcmalloc's, and records what it did. A call that an
 * allocator makes by itself is not recorded, so operator new counts once.
 *
 * An allocation has the time after the call, a free the time before it. So a block's events are in
 * order, whichever threads make them. A realloc that moves the block is recorded as a free with the
 * time before and a realloc without an old address.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user/preload/exec_calls.h"
#include "user/preload/heap_calls.h"
#include "user/preload/heap_sample.h"

enum { EARLY_BYTES = 64 << 10, EARLY_ALIGN = 16 };

__thread struct heap_thread heap_thread __attribute__((tls_model("initial-exec")));
struct heap_next heap_next;

#define thread heap_thread
#define next heap_next

/* --- before the next functions are known --- */

static char early[EARLY_BYTES] __attribute__((aligned(EARLY_ALIGN)));
static size_t early_used;
static enum { UNRESOLVED, RESOLVING, RESOLVED } resolved;

/* dlsym and the loader may allocate. These blocks are zero, and never freed. */
static void *early_block(size_t size)
{
	size_t n = (size + EARLY_ALIGN - 1) & ~(size_t)(EARLY_ALIGN - 1);
	size_t at = size > EARLY_BYTES ? EARLY_BYTES : __atomic_fetch_add(&early_used, n, __ATOMIC_RELAXED);

	if (at + n > EARLY_BYTES) {
		errno = ENOMEM;
		return NULL;
	}
	return early + at;
}

static bool is_early(const void *p)
{
	return (const char *)p >= early && (const char *)p < early + EARLY_BYTES;
}

#define RESOLVE(name) next.name = (__typeof__(next.name))dlsym(RTLD_NEXT, #name)

static void resolve(void)
{
	resolved = RESOLVING;
	thread.depth++;
	RESOLVE(calloc);
	RESOLVE(malloc);
	RESOLVE(realloc);
	RESOLVE(free);
	RESOLVE(posix_memalign);
	RESOLVE(aligned_alloc);
	RESOLVE(memalign);
	RESOLVE(valloc);
	RESOLVE(pvalloc);
	RESOLVE(dlclose);
	if (next.malloc)
		heap_client_init(HEAP_VARIABLE);
	thread.depth--;
	resolved = RESOLVED;
}

bool heap_ready(void)
{
	if (__builtin_expect(resolved == RESOLVED, 1))
		return true;
	if (resolved == UNRESOLVED)
		resolve();
	return resolved == RESOLVED;
}

static __attribute__((constructor)) void begin(void)
{
	heap_ready();
	exec_calls_begin(HEAP_VARIABLE);
}

/* --- what is recorded --- */

static enum heap_mode mode(void)
{
	enum heap_mode m;

	thread.depth++;
	m = heap_client_mode();
	thread.depth--;
	return m;
}

static void write_event(const struct heap_event *e)
{
	int error = errno;

	thread.depth++;
	heap_client_write(&thread, e);
	thread.depth--;
	errno = error;
}

void heap_allocated(enum heap_slot_kind kind, const void *p, const void *old, size_t size,
		    const void *frame)
{
	enum heap_mode m;

	if (!p || thread.depth || (m = mode()) == HEAP_OFF)
		return;
	if (m == HEAP_SAMPLED && kind != HEAP_SLOT_MMAP &&
	    (!heap_sample(&thread, size) || !heap_sample_keep(p)))
		return;
	write_event(&(struct heap_event){ .kind = kind, .size = size, .address = (uintptr_t)p,
					  .old = (uintptr_t)old, .frame = frame });
}

void heap_freed(const void *p, uint64_t time_ns, const void *frame)
{
	enum heap_mode m;

	if (!p || thread.depth || (m = mode()) == HEAP_OFF)
		return;
	if (m == HEAP_SAMPLED && !heap_sample_forget(p))
		return;
	write_event(&(struct heap_event){ .kind = HEAP_SLOT_FREE, .address = (uintptr_t)p,
					  .time_ns = time_ns, .frame = frame });
}

/* --- the functions --- */

EXPORT void *malloc(size_t size)
{
	void *p;

	if (!heap_ready())
		return early_block(size);
	CALL(p, malloc, size);
	heap_allocated(HEAP_SLOT_MALLOC, p, NULL, size, FRAME);
	return p;
}

EXPORT void *calloc(size_t n, size_t size)
{
	void *p;

	if (!heap_ready())
		return early_block(n * size);
	CALL(p, calloc, n, size);
	heap_allocated(HEAP_SLOT_MALLOC, p, NULL, n * size, FRAME);
	return p;
}

EXPORT void free(void *p)
{
	if (!p || is_early(p) || !heap_ready())
		return;
	heap_freed(p, 0, FRAME);
	thread.depth++;
	next.free(p);
	thread.depth--;
}

/* A block from before the next functions were known becomes one of theirs. */
static void *move_early(void *old, size_t size)
{
	size_t most = early + EARLY_BYTES - (char *)old;
	void *p;

	if (!heap_ready()) {
		p = early_block(size);
	} else {
		CALL(p, malloc, size);
	}
	return p ? memcpy(p, old, size < most ? size : most) : NULL;
}

static void *reallocate(void *old, size_t size, const void *frame)
{
	uint64_t before = 0;
	bool chosen = false;
	enum heap_mode m = HEAP_OFF;
	void *p;

	if (old && !thread.depth)
		m = mode();
	if (m == HEAP_ON)
		before = heap_client_now();
	else if (m == HEAP_SAMPLED)
		chosen = heap_sample_forget(old);
	CALL(p, realloc, old, size);
	if (!p && size) {
		if (chosen)
			heap_sample_keep(old);
		return NULL;
	}
	if (m == HEAP_ON && p == old) {
		heap_allocated(HEAP_SLOT_REALLOC, p, old, size, frame);
		return p;
	}
	if (m == HEAP_ON)
		heap_freed(old, before, frame);
	if (chosen)
		write_event(&(struct heap_event){ .kind = HEAP_SLOT_FREE, .address = (uintptr_t)old,
						  .frame = frame });
	heap_allocated(HEAP_SLOT_REALLOC, p, NULL, size, frame);
	return p;
}

EXPORT void *realloc(void *old, size_t size)
{
	if (is_early(old) || !heap_ready())
		return old ? move_early(old, size) : early_block(size);
	return reallocate(old, size, FRAME);
}

EXPORT void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	if (is_early(old) || !heap_ready())
		return old ? move_early(old, bytes) : early_block(bytes);
	return reallocate(old, bytes, FRAME);
}

EXPORT int posix_memalign(void **ret, size_t align, size_t size)
{
	int err;

	if (!heap_ready())
		return ENOMEM;
	CALL(err, posix_memalign, ret, align, size);
	if (!err)
		heap_allocated(HEAP_SLOT_MALLOC, *ret, NULL, size, FRAME);
	return err;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
	void *p;

	if (!heap_ready())
		return NULL;
	CALL(p, aligned_alloc, align, size);
	heap_allocated(HEAP_SLOT_MALLOC, p, NULL, size, FRAME);
	return p;
}

EXPORT void *memalign(size_t align, size_t size)
{
	void *p;

	if (!heap_ready())
		return NULL;
	CALL(p, memalign, align, size);
	heap_allocated(HEAP_SLOT_MALLOC, p, NULL, size, FRAME);
	return p;
}

EXPORT void *valloc(size_t size)
{
	void *p;

	if (!heap_ready())
		return NULL;
	CALL(p, valloc, size);
	heap_allocated(HEAP_SLOT_MALLOC, p, NULL, size, FRAME);
	return p;
}

EXPORT void *pvalloc(size_t size)
{
	void *p;

	if (!heap_ready())
		return NULL;
	CALL(p, pvalloc, size);
	heap_allocated(HEAP_SLOT_MALLOC, p, NULL, size, FRAME);
	return p;
}

EXPORT void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t off)
{
	void *p = (void *)syscall(SYS_mmap, at, size, prot, flags, fd, off);

	if (p != MAP_FAILED && heap_ready())
		heap_allocated(HEAP_SLOT_MMAP, p, NULL, size, FRAME);
	return p;
}

EXPORT void *mmap64(void *at, size_t size, int prot, int flags, int fd, off64_t off)
{
	void *p = (void *)syscall(SYS_mmap, at, size, prot, flags, fd, off);

	if (p != MAP_FAILED && heap_ready())
		heap_allocated(HEAP_SLOT_MMAP, p, NULL, size, FRAME);
	return p;
}

EXPORT int munmap(void *at, size_t size)
{
	if (heap_ready() && size && !((uintptr_t)at & 4095) && !thread.depth && mode() != HEAP_OFF)
		write_event(&(struct heap_event){ .kind = HEAP_SLOT_MUNMAP, .size = size,
						  .address = (uintptr_t)at, .frame = FRAME });
	return syscall(SYS_munmap, at, size);
}

/* Other code may be loaded at the same addresses. */
EXPORT int dlclose(void *handle)
{
	int ret = heap_ready() && next.dlclose ? next.dlclose(handle) : 0;

	heap_walk_forget();
	return ret;
}
