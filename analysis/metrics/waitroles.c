/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/metrics/waitroles.h"

#include <string.h>

#include "analysis/base/glob.h"
#include "analysis/metrics/waitpath.h"
#include "analysis/model/session.h"
#include "analysis/model/source.h"

/*
 * The C library and its companions, by the last component of the path. Of collect, er_locks.so stands between
 * the program and the C library.
 */
static const char *const libc_files[] = {
	"libc.so*", "libc-[0-9]*.so*", "libpthread.so*", "libpthread-[0-9]*.so*", "ld-linux*.so*",
	"ld-[0-9]*.so*", "ld.so*", "libc.musl-*.so*", "ld-musl-*.so*", "er_locks.so",
};

/* Functions that wait for an event, and functions that take a lock. */
static const char *const event_names[] = {
	"*pthread_cond_*", "*cnd_wait*", "*cnd_timedwait*", "*pthread_*join*", "*thrd_join*",
	"*pthread_barrier_wait*", "*sem_wait*", "*sem_timedwait*", "*sem_clockwait*",
	"*condition_variable*::wait*", "*Condvar*::wait*", "*thread::park*", "*Semaphore::wait*",
	"*Monitor::wait*", "runtime.notesleep", "runtime.notetsleep*", "runtime.futexsleep*",
};

static const char *const lock_names[] = {
	"*lll_lock_wait*", "*mutex*lock*", "*Mutex*::lock*", "*rwlock*lock*", "*spin_lock*",
	"*spinlock*", "*Lock::lock*", "*lock_slow*", "*lock_contended*", "*AcquireLock*",
	"*acquire_lock*", "lock_*", "*_lock", "runtime.lock2",
};

/*
 * Locks that wait by a semaphore or a condition variable. Python's interpreter lock has one of its own. Of those of
 * PostgreSQL and Java each thread has one: monitors (synchronized), and the locks of java.util.concurrent. Other
 * programs have functions with names like PostgreSQL's, and wait by the address of a mutex, which is the lock's.
 */
static const struct {
	const char *pattern;
	unsigned roles;
} taken_rules[] = {
	{ "take_gil", ROLE_TAKEN },
	{ "*LockAcquire*", ROLE_TAKEN | ROLE_OWN_EVENT }, { "*SemaphoreLock*", ROLE_TAKEN | ROLE_OWN_EVENT },
	{ "ObjectMonitor::enter*", ROLE_TAKEN | ROLE_OWN_PLACE },
	{ "ObjectMonitor::EnterI*", ROLE_TAKEN | ROLE_OWN_PLACE },
	{ "ObjectMonitor::ReenterI*", ROLE_TAKEN | ROLE_OWN_PLACE },
	{ "ObjectMonitor::reenter*", ROLE_TAKEN | ROLE_OWN_PLACE },
	{ "*java.util.concurrent.locks.*Lock*lock*", ROLE_TAKEN | ROLE_OWN_PLACE },
	{ "*java.util.concurrent.locks.StampedLock.*Lock*", ROLE_TAKEN | ROLE_OWN_PLACE },
};

/*
 * Functions of POSIX and the C library's own names for their parts. A condition variable takes its mutex
 * again by __pthread_mutex_cond_lock, which is then nearer to the leaf.
 */
static const struct {
	const char *pattern;
	enum er_lock kind;
} kind_rules[] = {
	{ "*pthread_mutex_*lock*", ER_LOCK_MUTEX }, { "*pthread_rwlock_*rd*lock*", ER_LOCK_READ },
	{ "*pthread_rwlock_*lock*", ER_LOCK_WRITE },
	{ "*pthread_cond_*wait*", ER_LOCK_CONDITION }, { "*pthread_barrier_wait*", ER_LOCK_BARRIER },
	{ "*pthread_*join*", ER_LOCK_JOIN }, { "sem_*wait", ER_LOCK_SEMAPHORE }, { "__sem_*wait*", ER_LOCK_SEMAPHORE },
	{ "__new_sem_*wait*", ER_LOCK_SEMAPHORE },
};

static bool matches_any(const char *name, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (glob_match(patterns[i], name))
			return true;
	}
	return false;
}

static bool is_libc(const struct func *f)
{
	return matches_any(base_name(f->obj->path), libc_files, sizeof(libc_files) / sizeof(libc_files[0]));
}

/* Whether the function belongs to what makes locks for Java programs: the virtual machine, its stubs, its library. */
static bool is_java_library(const struct func *f)
{
	static const char *const names[] = { "*java.util.concurrent.locks.*", "*.misc.Unsafe.park*", "Unsafe_Park",
					     "ObjectMonitor::*", "StubRoutines*", "* Runtime1 stub",
					     "*complete_monitor_locking*" };

	return !strcmp(base_name(f->obj->path), "libjvm.so") || matches_any(f->name, names, sizeof(names) / sizeof(names[0]));
}

/* Whether a method of Java called this function, so that one took the lock even if the stack does not show it. */
static bool is_called_by_java(const struct func *f)
{
	static const char *const names[] = { "ObjectMonitor::[Ee]nter*", "ObjectMonitor::wait", "Unsafe_Park" };

	return matches_any(f->name, names, sizeof(names) / sizeof(names[0]));
}

/* The function of an id; NULL for WAIT_PATH_FOLDED. */
static const struct func *func_of(const struct session *s, uint32_t id)
{
	return id == WAIT_PATH_FOLDED ? NULL : s->funcs.data[id];
}

const struct func *wait_taker(const struct session *s, const uint32_t *funcs, size_t n)
{
	const struct func *of_java = NULL;
	bool by_java = false;

	for (size_t i = 0; i < n; i++) {
		const struct func *f = func_of(s, funcs[i]);

		if (!f || f->obj->kernel || f->flags & FUNC_PSEUDO || f->name[0] == '<' || is_libc(f))
			continue;
		if (!is_java_library(f))
			return f;
		of_java = of_java ? of_java : f;
		by_java |= is_called_by_java(f);
	}
	return by_java ? NULL : of_java;
}

unsigned func_roles(const struct func *f)
{
	unsigned roles = 0;

	if (f->obj->kernel)
		return 0;
	if (matches_any(f->name, event_names, sizeof(event_names) / sizeof(event_names[0])))
		roles |= ROLE_EVENT;
	if (matches_any(f->name, lock_names, sizeof(lock_names) / sizeof(lock_names[0])))
		roles |= ROLE_LOCK;
	for (size_t i = 0; i < sizeof(taken_rules) / sizeof(taken_rules[0]); i++) {
		if (glob_match(taken_rules[i].pattern, f->name))
			roles |= taken_rules[i].roles;
	}
	return roles;
}

enum er_lock func_lock_kind(const struct func *f)
{
	if (f->obj->kernel)
		return ER_LOCK_UNKNOWN;
	for (size_t i = 0; i < sizeof(kind_rules) / sizeof(kind_rules[0]); i++) {
		if (glob_match(kind_rules[i].pattern, f->name))
			return kind_rules[i].kind;
	}
	return ER_LOCK_UNKNOWN;
}
