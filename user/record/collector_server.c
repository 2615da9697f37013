/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/collector_server.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/vec.h"
#include "loaders/uprobes.h"
#include "user/preload/own_call.h"
#include "user/record/token.h"

enum {
	NAME = 16,        /* random bytes of the socket's name */
	AT_ONCE = 16,     /* sockets in one call, and datagrams of each */
	MAX_WAITING = 64, /* callers that wait for the end */
};

struct caller {
	int fd; /* that got the call: the caller's socket is connected to it */
	struct sockaddr_un at;
	socklen_t size;
};

/* A process that the recorder has attached to. */
struct attached {
	int fd, pidfd;
	pid_t pid;
};

struct collector_server {
	int fd; /* -1: stopped */
	int poll; /* watches all sockets */
	VEC(struct attached) attached;
	VEC(struct uprobes *) raised; /* while attached processes may call */
	char name[2 * NAME + 1], token[COLLECTOR_TOKEN + 1];
	uint64_t ncalls, refused;
	VEC(struct caller) waiting; /* for the end */
};

/* A socket with this abstract name, which s->poll watches. Its number there is `n`. Or -errno. */
static int open_socket(const struct collector_server *s, const char *name, uint32_t n)
{
	struct epoll_event readable = { .events = EPOLLIN, .data.u32 = n };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	if (fd < 0)
		return -errno;
	memcpy(at.sun_path + 1, name, strlen(name));
	if (!bind(fd, (struct sockaddr *)&at, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)) &&
	    !epoll_ctl(s->poll, EPOLL_CTL_ADD, fd, &readable))
		return fd;
	err = errno;
	close(fd);
	return -err;
}

struct collector_server *collector_server_open(struct diag *d)
{
	struct collector_server *s = xcalloc(1, sizeof(*s));

	token_make(s->name, NAME);
	token_make(s->token, COLLECTOR_TOKEN / 2);
	s->poll = epoll_create1(EPOLL_CLOEXEC);
	s->fd = open_socket(s, s->name, 0);
	if (s->fd >= 0)
		return s;
	errno = -s->fd;
	diag_warn(d, "the collector API has no effect: its socket cannot be made: %s", strerror(errno));
	collector_server_close(s);
	return NULL;
}

/* Take no more calls. Processes stop calling first. */
static void close_sockets(struct collector_server *s)
{
	vec_for_each(u, &s->raised)
		uprobes_detach(*u);
	s->raised.len = 0;
	vec_for_each(a, &s->attached) {
		close(a->fd);
		close(a->pidfd);
	}
	s->attached.len = 0;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

void collector_server_close(struct collector_server *s)
{
	if (!s)
		return;
	close_sockets(s);
	if (s->poll >= 0)
		close(s->poll);
	vec_free(&s->attached);
	vec_free(&s->raised);
	vec_free(&s->waiting);
	free(s);
}

int collector_server_fd(const struct collector_server *s)
{
	return s->poll;
}

int collector_server_environment(const struct collector_server *s)
{
	char value[2 * NAME + COLLECTOR_TOKEN + 2];

	snprintf(value, sizeof(value), "%s %s", s->name, s->token);
	return setenv(COLLECTOR_VARIABLE, value, 1) ? -errno : 0;
}

struct capture_library collector_server_library(const struct collector_server *s)
{
	struct capture_library ret = { .path = "" };

	own_mark(s->token, ret.mark);
	return ret;
}

int collector_server_attach(struct collector_server *s, pid_t pid)
{
	struct attached a = { .pid = pid };
	char name[32];
	int on = 1;

	if (s->attached.len >= COLLECTOR_ATTACHED_MAX)
		return -E2BIG;
	a.pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (a.pidfd < 0)
		return -errno;
	snprintf(name, sizeof(name), COLLECTOR_ATTACHED, (int)pid);
	a.fd = open_socket(s, name, s->attached.len + 1);
	if (a.fd < 0) {
		close(a.pidfd);
		return a.fd;
	}
	setsockopt(a.fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	vec_push(&s->attached, a);
	return 0;
}

void collector_server_keep(struct collector_server *s, struct uprobes *raised)
{
	if (raised)
		vec_push(&s->raised, raised);
}

/* --- calls --- */

static bool is_sound(const struct collector_call *c)
{
	return c->version == COLLECTOR_VERSION && c->op < COLLECTOR_OPS && memchr(c->text, 0, sizeof(c->text));
}

/* A number that the process had may be another one's when it has ended. */
static bool is_alive(const struct attached *a)
{
	struct pollfd p = { .fd = a->pidfd, .events = POLLIN };

	return !poll(&p, 1, 0);
}

/* The kernel's word for the sender of a datagram; 0: it says nothing. */
static pid_t sender_of(struct msghdr *m)
{
	struct ucred from;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&from, CMSG_DATA(c), sizeof(from));
		return from.pid;
	}
	return 0;
}

/*
 * Only to a socket that has no file: a file's name might lead to another program's socket by now. An
 * answer that finds no room is dropped.
 */
static void answer(const struct caller *to)
{
	if (to->size > offsetof(struct sockaddr_un, sun_path) && !to->at.sun_path[0])
		(void)!sendto(to->fd, "+", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&to->at,
			      to->size);
}

static void carry_out(struct collector_server *s, const struct collector_call *c, const struct caller *from,
		      collector_fn fn, void *ctx)
{
	bool done = true;

	if (s->ncalls < COLLECTOR_CALLS_MAX || c->op == COLLECTOR_TERMINATE)
		done = fn(ctx, c->op, c->text);
	else
		s->refused++;
	s->ncalls++;
	if (!done && s->waiting.len < MAX_WAITING)
		vec_push(&s->waiting, *from);
	else
		answer(from);
}

/* Take a datagram. Returns 1 for a call that may be carried out, 0 for another datagram, -1: none has come. */
static int take(const struct collector_server *s, const struct attached *a, struct collector_call *c,
		struct caller *from)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec to = { c, sizeof(*c) };
	struct msghdr m = { .msg_name = &from->at, .msg_namelen = sizeof(from->at), .msg_iov = &to,
			    .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	ssize_t n;

	from->fd = a ? a->fd : s->fd;
	n = recvmsg(from->fd, &m, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return -1;
	from->size = m.msg_namelen;
	if (n != sizeof(*c) || !is_sound(c))
		return 0;
	return a ? sender_of(&m) == a->pid && is_alive(a) : token_equal(c->token, s->token, COLLECTOR_TOKEN);
}

void collector_server_serve(struct collector_server *s, collector_fn fn, void *ctx)
{
	struct epoll_event ready[AT_ONCE];
	int n = s->fd < 0 ? 0 : epoll_wait(s->poll, ready, AT_ONCE, 0);

	for (int i = 0; i < n; i++) {
		uint32_t which = ready[i].data.u32;
		struct collector_call c;
		struct caller from;

		if (which > s->attached.len)
			continue;
		for (int k = 0, got = 0; k < AT_ONCE && got >= 0; k++) {
			got = take(s, which ? &s->attached.data[which - 1] : NULL, &c, &from);
			if (got > 0)
				carry_out(s, &c, &from, fn, ctx);
		}
	}
}

void collector_server_stop(struct collector_server *s)
{
	if (s->fd < 0)
		return;
	vec_for_each(to, &s->waiting)
		answer(to);
	s->waiting.len = 0;
	close_sockets(s);
}

uint64_t collector_server_refused(const struct collector_server *s)
{
	return s->refused;
}
