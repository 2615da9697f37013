/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/atrest.h"

#include <stddef.h>

#include "analysis/base/glob.h"
#include "analysis/model/model.h"

/*
 * Patterns of idle threads: the thread waits in `wait`, which `caller` called directly
 * or indirectly. caller NULL: `wait` alone is enough. Names are those of `name short`.
 */
static const struct idle_rule {
	const char *wait, *caller;
} idle_rules[] = {
	/* Go: a thread (M) without a goroutine to run */
	{ "runtime.stopm", NULL }, { "runtime.findRunnable", NULL },
	{ "runtime.findrunnable", NULL }, { "runtime.notesleep", NULL },
	{ "runtime.notetsleep*", NULL },
	/* Java's HotSpot: garbage collector workers, compiler threads, service threads */
	{ "*Monitor::wait*", "GangWorker::*" }, { "*Monitor::wait*", "AbstractGangWorker::*" },
	{ "*Semaphore::wait*", "GangWorker::*" }, { "*Semaphore::wait*", "WorkerThread::run" },
	{ "*Monitor::wait*", "WorkerThread::run" },
	{ "*Monitor::wait*", "CompileQueue::get" },
	{ "*Monitor::wait*", "VMThread::*" }, { "*Monitor::wait*", "ConcurrentGCThread::run" },
	{ "*Monitor::wait*", "G1ServiceThread::*" }, { "*Monitor::wait*", "ServiceThread::*" },
	{ "*Monitor::wait*", "MonitorDeflationThread::*" },
	{ "*Monitor::wait*", "NotificationThread::*" },
	{ "*Monitor::wait*", "WatcherThread::*" }, { "*Semaphore::wait*", "os::signal_wait" },
	{ "*Monitor::wait*", "NMethodSweeper::*" },
	/* Node: workers of V8's platform and of libuv, and the inspector's thread */
	{ "uv_cond_wait", "*PlatformWorkerThread" }, { "uv_cond_wait", "worker" },
	{ "uv_sem_wait", "*StartIoThreadMain" },
};

/* Functions that sleep by a condition variable: Java's Thread.sleep(). */
static const char *const asleep_names[] = { "JVM_Sleep*", "*java.lang.Thread.sleep*" };

enum { IDLE_RULES = sizeof(idle_rules) / sizeof(idle_rules[0]) };

/* Whether a rule names the function as the one that waits, or that sleeps. */
static bool may_rest(const struct func *f)
{
	if (f->obj->kernel)
		return false;
	for (size_t i = 0; i < sizeof(asleep_names) / sizeof(asleep_names[0]); i++) {
		if (glob_match(asleep_names[i], f->name))
			return true;
	}
	for (size_t i = 0; i < IDLE_RULES; i++) {
		if (glob_match(idle_rules[i].wait, f->name))
			return true;
	}
	return false;
}

/* Matching names is slow, so each function is looked at once. */
static bool may_rest_cached(struct session *s, const struct func *f)
{
	__typeof__(s->impl->may_rest) *known = &s->impl->may_rest;

	while (known->len <= f->id)
		vec_push(known, 0);
	if (!known->data[f->id])
		known->data[f->id] = may_rest(f) ? 2 : 1;
	return known->data[f->id] == 2;
}

static const struct func *func_at(const struct session *s, const struct stack *st, size_t i)
{
	return frame_func(s, s->stack_frames.data[st->first + i]);
}

/* The index of the first function from `from` on that matches the pattern; the stack's length: none. */
static size_t find(const struct session *s, const struct stack *st, size_t from, const char *pattern)
{
	for (size_t i = from; i < st->n; i++) {
		const struct func *f = func_at(s, st, i);

		if (!f->obj->kernel && glob_match(pattern, f->name))
			return i;
	}
	return st->n;
}

static bool is_idle(const struct session *s, const struct stack *st, const struct idle_rule *rule)
{
	size_t at = find(s, st, 0, rule->wait);

	return at < st->n && (!rule->caller || find(s, st, at + 1, rule->caller) < st->n);
}

static enum at_rest rest_of(struct session *s, const struct stack *st)
{
	size_t may = 0;

	for (size_t i = 0; i < st->n; i++)
		may += may_rest_cached(s, func_at(s, st, i));
	if (!may)
		return REST_NONE;
	for (size_t i = 0; i < IDLE_RULES; i++) {
		if (is_idle(s, st, &idle_rules[i]))
			return REST_IDLE;
	}
	for (size_t i = 0; i < sizeof(asleep_names) / sizeof(asleep_names[0]); i++) {
		if (find(s, st, 0, asleep_names[i]) < st->n)
			return REST_ASLEEP;
	}
	return REST_NONE;
}

enum at_rest session_at_rest(struct session *s, uint32_t stack)
{
	__typeof__(s->impl->at_rest) *known = &s->impl->at_rest;

	while (known->len <= stack)
		vec_push(known, 0);
	if (!known->data[stack])
		known->data[stack] = 1 + rest_of(s, &s->stacks.data[stack]);
	return known->data[stack] - 1;
}
