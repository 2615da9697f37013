/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * er_locks.so: counts how often each lock is taken (-s all), also if no thread has to wait for it. Each
 * function here calls the next one of its name. Then it adds 1 to the count of this lock, caller and
 * thread. The counts are in memory that the recorder made and reads (heap_ring.h), so none is lost when
 * the program is killed. Only the thread itself changes its counts, so adding needs no atomic
 * instruction.
 *
 * The process's own index finds a count: open addressing, from a hash of its key to the number of its
 * slot. Numbers are only added to it, so threads read it without a lock.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "analysis/experiment/packet.h"
#include "user/api/usdt.h"
#include "user/preload/exec_calls.h"
#include "user/preload/heap_client.h"
#include "user/preload/raw_call.h"

#define EXPORT __attribute__((visibility("default"), noinline, optimize("no-optimize-sibling-calls")))

enum { PLACES = 1 << 18, PLACE_BITS = 18 };

/* Of one recording. In memory that a forked child finds empty. */
struct lock_index {
	uint64_t process; /* 0: the recorder has not been asked for a ring, or has none */
	struct heap_ring *ring;
	struct heap_slot *slots;
	uint32_t at[PLACES]; /* numbers of slots, from 1; 0: free */
};

/* Zero at first. */
struct lock_thread {
	const struct lock_index *index; /* whose ring has the thread's name, */
	uint64_t process; /* in this process, in which tid is right */
	uint64_t tid;
};

static struct lock_index *lock_index;
static __thread struct lock_thread thread __attribute__((tls_model("initial-exec")));

/* A recorder that attaches raises it. */
__attribute__((visibility("hidden"))) USDT_SEMAPHORE(er, locks);

#define load(p) __atomic_load_n(&(p), __ATOMIC_RELAXED)

/* The place of the probe. It never runs: only the semaphore is of use. */
static __attribute__((noinline, noclone, used)) void attached_place(void)
{
	USDT_NOTE(er, locks, "", "i"(0));
}

/* --- counts --- */

/* A slot of the thread's own. NULL: there is none left. */
static struct heap_slot *take_slot(struct lock_index *x, uint32_t most, uint64_t *number)
{
	if (load(x->ring->head) >= most)
		return NULL;
	*number = __atomic_fetch_add(&x->ring->head, 1, __ATOMIC_RELAXED);
	return *number < HEAP_SLOTS ? &x->slots[*number] : NULL;
}

static void publish_slot(struct heap_slot *s, uint32_t kind, const uint64_t words[HEAP_WORDS], uint64_t number)
{
	s->kind = kind;
	s->tid = thread.tid;
	memcpy(s->words, words, sizeof(s->words));
	__atomic_store_n(&s->number, number + 1, __ATOMIC_RELEASE);
}

/* NULL: there is no memory. Without MADV_WIPEONFORK a child would count as its parent. */
static struct lock_index *new_index(void)
{
	long at = raw_call(SYS_mmap, 0, sizeof(*lock_index), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	if ((at < 0 && at > -4096) || raw_call(SYS_madvise, at, sizeof(*lock_index), MADV_WIPEONFORK, 0, 0, 0))
		return NULL;
	return (struct lock_index *)at;
}

/*
 * The index for this ring. Threads may still use that of an earlier recording, so it stays, and the new one has
 * another.
 */
static struct lock_index *index_of(struct lock_index *x, struct heap_ring *ring)
{
	struct lock_index *fresh;

	if (x->ring && x->ring != ring) {
		fresh = new_index();
		if (!fresh)
			return NULL;
		fresh->ring = ring;
		if (__atomic_compare_exchange_n(&lock_index, &x, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			x = fresh;
		else
			raw_call(SYS_munmap, (long)fresh, sizeof(*fresh), 0, 0, 0, 0);
	}
	x->ring = ring;
	x->slots = (struct heap_slot *)((char *)ring + HEAP_SLOTS_AT);
	return x;
}

/*
 * Not inlined: it happens once a thread and recording, and while there is no recorder. Returns the index to use;
 * NULL: there is no recorder.
 */
static __attribute__((noinline)) struct lock_index *begin_thread(struct lock_index *x)
{
	uint64_t name[HEAP_WORDS] = { 0 }, number;
	struct heap_slot *s;

	if (heap_client_mode() != HEAP_LOCKS || !(x = index_of(x, heap_client_ring())))
		return NULL;
	thread.index = x;
	thread.process = raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	thread.tid = raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
	__atomic_store_n(&x->process, thread.process, __ATOMIC_RELEASE);
	raw_call(SYS_prctl, 16 /* PR_GET_NAME */, (long)name, 0, 0, 0, 0);
	s = take_slot(x, COUNT_SLOTS, &number);
	if (s)
		publish_slot(s, HEAP_SLOT_THREAD, name, number);
	return x;
}

/* Whether this thread counts here now. */
static inline bool is_counting(const struct lock_index *x)
{
	return thread.index == x && thread.process == load(x->process) && !load(x->ring->stop);
}

static inline uint64_t place_of(uint64_t object, uint64_t caller)
{
	uint64_t key = object ^ (caller << 32 | caller >> 32) ^ thread.tid << 40;

	return key * 0x9e3779b97f4a7c15 >> (64 - PLACE_BITS);
}

static struct heap_slot *make_count(struct lock_index *x, enum er_lock kind, uint64_t object, uint64_t caller)
{
	uint64_t words[HEAP_WORDS] = { heap_client_now(), object, caller, kind, 0 }, number;
	struct heap_slot *s = take_slot(x, object ? COUNT_SLOTS : HEAP_SLOTS, &number);

	if (!s)
		return NULL;
	publish_slot(s, HEAP_SLOT_LOCK, words, number);
	for (uint64_t at = place_of(object, caller);; at++) {
		uint32_t none = 0;

		if (__atomic_compare_exchange_n(&x->at[at % PLACES], &none, number + 1, false, __ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			return s;
	}
}

/* NULL: there is none. The index always has free places, as there are fewer slots. */
static inline struct heap_slot *find_count(struct lock_index *x, enum er_lock kind, uint64_t object,
					   uint64_t caller)
{
	for (uint64_t at = place_of(object, caller);; at++) {
		uint32_t n = __atomic_load_n(&x->at[at % PLACES], __ATOMIC_ACQUIRE);
		struct heap_slot *s;

		if (!n)
			return NULL;
		s = &x->slots[n - 1];
		if (s->words[COUNT_LOCK] == object && s->words[COUNT_CALLER] == caller &&
		    s->words[COUNT_KIND] == kind && s->tid == thread.tid)
			return s;
	}
}

static __attribute__((noinline)) struct heap_slot *new_count(struct lock_index *x, enum er_lock kind,
							     uint64_t object, uint64_t caller)
{
	struct heap_slot *s = make_count(x, kind, object, caller);

	if (s)
		return s;
	s = find_count(x, kind, 0, caller);
	s = s ? s : make_count(x, kind, 0, caller);
	if (!s)
		__atomic_fetch_add(&x->ring->lost, 1, __ATOMIC_RELAXED);
	return s;
}

/* One instruction, so that a signal handler of the thread may count, too. */
static inline void add_one(uint64_t *count)
{
	__asm__ volatile("addq $1, %0" : "+m"(*count) : : "cc");
}

static inline __attribute__((always_inline)) void count(enum er_lock kind, uint64_t object, void *caller)
{
	struct lock_index *x = load(lock_index);
	struct heap_slot *s;

	if (!x || (__builtin_expect(!is_counting(x), 0) && !(x = begin_thread(x))))
		return;
	s = find_count(x, kind, object, (uintptr_t)caller);
	s = s ? s : new_count(x, kind, object, (uintptr_t)caller);
	if (s)
		add_one(&s->words[COUNT_TIMES]);
}

/* --- the next functions --- */

#define FUNCTIONS(X)                                                                                 \
	X(pthread_mutex_lock) X(pthread_mutex_trylock) X(pthread_mutex_timedlock)                    \
	X(pthread_mutex_clocklock) X(pthread_rwlock_rdlock) X(pthread_rwlock_tryrdlock)              \
	X(pthread_rwlock_timedrdlock) X(pthread_rwlock_clockrdlock) X(pthread_rwlock_wrlock)         \
	X(pthread_rwlock_trywrlock) X(pthread_rwlock_timedwrlock) X(pthread_rwlock_clockwrlock)      \
	X(pthread_spin_lock) X(pthread_spin_trylock) X(sem_wait) X(sem_trywait) X(sem_timedwait)     \
	X(sem_clockwait) X(pthread_cond_wait) X(pthread_cond_timedwait) X(pthread_cond_clockwait)    \
	X(pthread_barrier_wait) X(pthread_join) X(pthread_tryjoin_np) X(pthread_timedjoin_np)        \
	X(pthread_clockjoin_np)

#define MEMBER(name) __typeof__(name) *name;
static struct { FUNCTIONS(MEMBER) } next;

static bool resolved;

/* Of condition variables glibc has an older kind, too; dlsym may find that. */
static void *next_of(const char *name)
{
	void *found = strncmp(name, "pthread_cond_", 13) ? NULL : dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");

	return found ? found : dlsym(RTLD_NEXT, name);
}

/* May happen twice, in two threads: they find the same. */
static __attribute__((noinline)) void resolve(void)
{
#define RESOLVE(name) next.name = (__typeof__(next.name))next_of(#name);
	FUNCTIONS(RESOLVE)
	__atomic_store_n(&resolved, true, __ATOMIC_RELEASE);
}

static inline void ready(void)
{
	if (__builtin_expect(!__atomic_load_n(&resolved, __ATOMIC_ACQUIRE), 0))
		resolve();
}

static __attribute__((constructor)) void begin(void)
{
	ready();
	if (heap_client_init(LOCKS_VARIABLE))
		exec_calls_begin(LOCKS_VARIABLE);
	heap_client_await(&er_locks_semaphore);
	lock_index = new_index();
}

/* --- the functions that the program calls --- */

/* A lock whose owner has died is taken, too. */
#define TAKEN (ret == 0 || ret == EOWNERDEAD)
#define SUCCEEDED (ret == 0)
#define WAITED (ret == 0 || ret == ETIMEDOUT)
#define PASSED (ret == 0 || ret == PTHREAD_BARRIER_SERIAL_THREAD)

/* `kind` is one of enum er_lock, without its prefix. A function that an old C library lacks cannot be called there. */
#define COUNTED(name, parameters, arguments, kind, object, when)                                     \
	EXPORT int name parameters                                                                   \
	{                                                                                            \
		int ret;                                                                             \
                                                                                                     \
		ready();                                                                             \
		ret = next.name arguments;                                                           \
		if (when)                                                                            \
			count(ER_LOCK_##kind, (uintptr_t)(object), __builtin_return_address(0));     \
		return ret;                                                                          \
	}

#define TIMEOUT const struct timespec *restrict t
#define CLOCK clockid_t which

COUNTED(pthread_mutex_lock, (pthread_mutex_t *m), (m), MUTEX, m, TAKEN)
COUNTED(pthread_mutex_trylock, (pthread_mutex_t *m), (m), MUTEX, m, TAKEN)
COUNTED(pthread_mutex_timedlock, (pthread_mutex_t *restrict m, TIMEOUT), (m, t), MUTEX, m, TAKEN)
COUNTED(pthread_mutex_clocklock, (pthread_mutex_t *restrict m, CLOCK, TIMEOUT), (m, which, t), MUTEX, m, TAKEN)

COUNTED(pthread_rwlock_rdlock, (pthread_rwlock_t *l), (l), READ, l, SUCCEEDED)
COUNTED(pthread_rwlock_tryrdlock, (pthread_rwlock_t *l), (l), READ, l, SUCCEEDED)
COUNTED(pthread_rwlock_timedrdlock, (pthread_rwlock_t *restrict l, TIMEOUT), (l, t), READ, l, SUCCEEDED)
COUNTED(pthread_rwlock_clockrdlock, (pthread_rwlock_t *restrict l, CLOCK, TIMEOUT), (l, which, t), READ, l, SUCCEEDED)
COUNTED(pthread_rwlock_wrlock, (pthread_rwlock_t *l), (l), WRITE, l, SUCCEEDED)
COUNTED(pthread_rwlock_trywrlock, (pthread_rwlock_t *l), (l), WRITE, l, SUCCEEDED)
COUNTED(pthread_rwlock_timedwrlock, (pthread_rwlock_t *restrict l, TIMEOUT), (l, t), WRITE, l, SUCCEEDED)
COUNTED(pthread_rwlock_clockwrlock, (pthread_rwlock_t *restrict l, CLOCK, TIMEOUT), (l, which, t), WRITE, l, SUCCEEDED)

COUNTED(pthread_spin_lock, (pthread_spinlock_t *l), (l), SPIN, l, SUCCEEDED)
COUNTED(pthread_spin_trylock, (pthread_spinlock_t *l), (l), SPIN, l, SUCCEEDED)

COUNTED(sem_wait, (sem_t *s), (s), SEMAPHORE, s, SUCCEEDED)
COUNTED(sem_trywait, (sem_t *s), (s), SEMAPHORE, s, SUCCEEDED)
COUNTED(sem_timedwait, (sem_t *restrict s, TIMEOUT), (s, t), SEMAPHORE, s, SUCCEEDED)
COUNTED(sem_clockwait, (sem_t *restrict s, CLOCK, TIMEOUT), (s, which, t), SEMAPHORE, s, SUCCEEDED)

COUNTED(pthread_cond_wait, (pthread_cond_t *restrict c, pthread_mutex_t *restrict m), (c, m), CONDITION, c, WAITED)
COUNTED(pthread_cond_timedwait, (pthread_cond_t *restrict c, pthread_mutex_t *restrict m, TIMEOUT), (c, m, t),
	CONDITION, c, WAITED)
COUNTED(pthread_cond_clockwait, (pthread_cond_t *restrict c, pthread_mutex_t *restrict m, CLOCK, TIMEOUT),
	(c, m, which, t), CONDITION, c, WAITED)

COUNTED(pthread_barrier_wait, (pthread_barrier_t *b), (b), BARRIER, b, PASSED)

COUNTED(pthread_join, (pthread_t thr, void **value), (thr, value), JOIN, thr, SUCCEEDED)
COUNTED(pthread_tryjoin_np, (pthread_t thr, void **value), (thr, value), JOIN, thr, SUCCEEDED)
COUNTED(pthread_timedjoin_np, (pthread_t thr, void **value, const struct timespec *t), (thr, value, t), JOIN, thr,
	SUCCEEDED)
COUNTED(pthread_clockjoin_np, (pthread_t thr, void **value, CLOCK, const struct timespec *t),
	(thr, value, which, t), JOIN, thr, SUCCEEDED)
