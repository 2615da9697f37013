// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The collector API's library. It is linked to programs of users, so it has no state but the address
 * of the recorder and what it knows of its file of functions. It makes no thread, keeps no descriptor,
 * allocates nothing, and leaves errno alone.
 */
#define NEED_COLLECTOR_MODULE
#include "user/api/collectorAPI.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

#include "user/api/collector_call.h"
#include "user/api/func_dump.h"
#include "user/api/func_map.h"
#include "user/api/usdt.h"
#include "user/preload/own_call.h"

enum { PATIENCE_MS = 2000 }; /* for an answer */

static struct sockaddr_un recorder;
static socklen_t recorder_size; /* 0: no recorder has started this program */
static char token[COLLECTOR_TOKEN];
static int impatient; /* the recorder did not answer in time once: wait no more */

/* Not 0 while a recorder is attached to this process. It puts the name of its socket in place first. */
__attribute__((visibility("hidden"))) USDT_SEMAPHORE(er, collector);

/* The place of the probe. It never runs: only the semaphore is of use. */
static __attribute__((noinline, noclone, used)) void attached_place(void)
{
	USDT_NOTE(er, collector, "", "i"(0));
}

/* By which the recorder knows our calls; see own_call.h. */
static const char *mark(void)
{
	return er_collector_semaphore ? OWN_ATTACHED : token;
}

static inline bool is_recorded(void)
{
	return recorder_size || __builtin_expect(er_collector_semaphore != 0, 0);
}

/* Before the constructors of the program, which may call, too. */
static __attribute__((constructor(101))) void find_recorder(void)
{
	const char *value = secure_getenv(COLLECTOR_VARIABLE), *blank = value ? strchr(value, ' ') : NULL;
	size_t n = blank ? blank - value : 0;

	if (!n || n >= sizeof(recorder.sun_path) || strlen(blank + 1) != COLLECTOR_TOKEN)
		return;
	recorder.sun_family = AF_UNIX;
	memcpy(recorder.sun_path + 1, value, n);
	memcpy(token, blank + 1, COLLECTOR_TOKEN);
	recorder_size = offsetof(struct sockaddr_un, sun_path) + 1 + n;
	func_map_begin();
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Signals may interrupt the wait: it goes on. */
static bool await_answer(int sock)
{
	long end = now_ms() + PATIENCE_MS, left = PATIENCE_MS;
	struct pollfd p = { .fd = sock, .events = POLLIN };
	long got;

	do
		got = raw_call(SYS_poll, (long)&p, 1, left, 0, 0, 0);
	while (got == -EINTR && (left = end - now_ms()) > 0);
	return got == 1;
}

/* Where a recorder listens that is attached to this process. */
static socklen_t attached_address(struct sockaddr_un *ret)
{
	int n;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, COLLECTOR_ATTACHED,
		     (int)raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0));
	return offsetof(struct sockaddr_un, sun_path) + 1 + n;
}

/*
 * The recorder that came last. A forked child has a copy of the semaphore, but nobody is attached to it:
 * then it is the recorder that has started the program.
 */
static bool connect_to(int sock)
{
	struct sockaddr_un attached;
	socklen_t size = attached_address(&attached);

	if (er_collector_semaphore && !own_call(mark(), SYS_connect, sock, (long)&attached, size))
		return true;
	return recorder_size && !own_call(mark(), SYS_connect, sock, (long)&recorder, recorder_size);
}

/* A socket with a name of its own, to which the recorder answers. */
static int connect_recorder(void)
{
	const struct timeval patience = { .tv_sec = PATIENCE_MS / 1000 };
	const struct sockaddr_un any = { .sun_family = AF_UNIX };
	int sock = own_call(mark(), SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (sock < 0)
		return sock;
	raw_call(SYS_setsockopt, sock, SOL_SOCKET, SO_SNDTIMEO, (long)&patience, sizeof(patience), 0);
	if (raw_call(SYS_bind, sock, (long)&any, sizeof(any.sun_family), 0, 0, 0) || !connect_to(sock)) {
		own_call(mark(), SYS_close, sock, 0, 0);
		return -1;
	}
	return sock;
}

static void call_recorder(enum collector_op op, const char *text)
{
	struct collector_call c = { .version = COLLECTOR_VERSION, .op = op };
	struct iovec whole = { &c, sizeof(c) };
	const struct msghdr m = { .msg_iov = &whole, .msg_iovlen = 1 };
	int sock = connect_recorder();
	bool hasty = __atomic_load_n(&impatient, __ATOMIC_RELAXED);
	int flags = MSG_NOSIGNAL | (hasty ? MSG_DONTWAIT : 0);

	if (sock < 0)
		return;
	memcpy(c.token, token, sizeof(c.token));
	if (text)
		strncpy(c.text, text, sizeof(c.text) - 1);
	if (own_call(mark(), SYS_sendmsg, sock, (long)&m, flags) == sizeof(c) && !hasty &&
	    !await_answer(sock))
		__atomic_store_n(&impatient, 1, __ATOMIC_RELAXED);
	own_call(mark(), SYS_close, sock, 0, 0);
}

void collector_sample(const char *name)
{
	if (is_recorded())
		call_recorder(COLLECTOR_SAMPLE, name);
}

void collector_pause(void)
{
	if (is_recorded())
		call_recorder(COLLECTOR_PAUSE, NULL);
}

void collector_resume(void)
{
	if (is_recorded())
		call_recorder(COLLECTOR_RESUME, NULL);
}

void collector_terminate_expt(void)
{
	if (is_recorded())
		call_recorder(COLLECTOR_TERMINATE, NULL);
}

void collector_func_load(const char *name, const char *alias, const char *sourcename, void *vaddr, int size,
			 int lntsize, Lineno *lntable)
{
	const struct func_description f = { .name = name, .alias = alias, .source = sourcename, .start = vaddr,
					    .size = size, .lines = lntable, .nlines = lntsize > 0 ? lntsize : 0 };

	if (is_recorded() && name && *name && vaddr && size > 0 && !func_dump_add(&f))
		func_map_add(name, vaddr, size);
}

void collector_func_unload(void *vaddr)
{
	if (is_recorded() && vaddr && !func_dump_remove(vaddr))
		func_map_remove(vaddr);
}

void collector_thread_pause(pthread_t tid)
{
	(void)tid;
}

void collector_thread_resume(pthread_t tid)
{
	(void)tid;
}

void collector_module_load(const char *modulename, void *vaddr)
{
	(void)modulename;
	(void)vaddr;
}

void collector_module_unload(void *vaddr)
{
	(void)vaddr;
}
