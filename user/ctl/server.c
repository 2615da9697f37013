/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/ctl/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "user/ctl/place.h"

enum {
	MAX_CONNS = 8,
	PER_TICK = 16,             /* connections accepted in one tick */
	BACKLOG = 16,
	PATIENCE_NS = 1000000000,  /* time for a request, from the connection on */
	LISTENER = MAX_CONNS,      /* in epoll_data; smaller values are connections */
};

struct conn {
	int fd; /* -1: free */
	bool keep;
	uint64_t since_ns;
};

struct ctl_server {
	int dirfd, listener, epoll;
	char name[CTL_NAME];
	struct conn conns[MAX_CONNS];
	unsigned left; /* connections that may still be accepted in this tick */
};

/* --- the socket's file --- */

/*
 * Whether a recorder listens under this name. A socket refuses connections only if its recorder is
 * gone.
 */
static bool answers(int dirfd, const char *name)
{
	int fd = ctl_connect(dirfd, name);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EAGAIN;
}

static bool is_socket(int dirfd, const char *name)
{
	struct stat st;

	return !fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISSOCK(st.st_mode);
}

/*
 * Remove sockets of recorders that were killed. A socket gets its final name only when it listens.
 */
static void sweep(int dirfd)
{
	ctl_names names = { 0 };

	ctl_place_list(dirfd, &names);
	vec_for_each(n, &names) {
		if (kill(ctl_name_pid(n->text), 0) < 0 && errno == ESRCH &&
		    is_socket(dirfd, n->text) && !answers(dirfd, n->text))
			unlinkat(dirfd, n->text, 0);
	}
	vec_free(&names);
}

/*
 * Bind under a temporary name, and rename the socket when it listens. So a socket that refuses
 * connections is always stale. The rename also replaces a stale socket of this name.
 */
static int appear(struct ctl_server *c)
{
	char fresh[CTL_NAME + 8];
	int err;

	snprintf(fresh, sizeof(fresh), ".%s.new", c->name);
	unlinkat(c->dirfd, fresh, 0);
	err = ctl_bind(c->listener, c->dirfd, fresh);
	if (!err && listen(c->listener, BACKLOG) < 0)
		err = -errno;
	/* A recorder in another PID namespace may have this number. */
	if (!err && answers(c->dirfd, c->name))
		err = -EADDRINUSE;
	if (!err && renameat(c->dirfd, fresh, c->dirfd, c->name) < 0)
		err = -errno;
	if (err)
		unlinkat(c->dirfd, fresh, 0);
	return err;
}

/* --- connections --- */

static bool room(const struct ctl_server *c)
{
	for (int i = 0; i < MAX_CONNS; i++) {
		if (c->conns[i].fd < 0)
			return true;
	}
	return false;
}

/* While no connection can be accepted, waiting ones must not wake the recorder. */
static void watch_listener(struct ctl_server *c)
{
	struct epoll_event ev = { .events = c->left && room(c) ? EPOLLIN : 0, .data.u32 = LISTENER };

	if (c->listener >= 0)
		epoll_ctl(c->epoll, EPOLL_CTL_MOD, c->listener, &ev);
}

static void drop(struct conn *conn)
{
	closep(&conn->fd);
	*conn = (struct conn){ .fd = -1 };
}

static void reply(int fd, int status, const char *text)
{
	struct buf b = { 0 };

	buf_printf(&b, "%c%s", status, text ? text : "");
	/* A reply that does not fit into the client's buffer is dropped. */
	(void)!send(fd, b.data, b.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	buf_free(&b);
}

static bool may_control(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	       (!peer.uid || peer.uid == getuid());
}

static void admit(struct ctl_server *c, int fd, uint64_t now_ns)
{
	for (unsigned i = 0; i < MAX_CONNS; i++) {
		struct epoll_event ev = { .events = EPOLLIN, .data.u32 = i };

		if (c->conns[i].fd >= 0)
			continue;
		if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &ev) < 0)
			break;
		c->conns[i] = (struct conn){ .fd = fd, .since_ns = now_ns };
		return;
	}
	close(fd);
}

static void welcome(struct ctl_server *c, uint64_t now_ns)
{
	while (c->left && room(c)) {
		int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		c->left--;
		if (may_control(fd)) {
			admit(c, fd, now_ns);
			continue;
		}
		reply(fd, CTL_FAILED, "this recorder belongs to another user: only that user and "
				      "root may control it");
		close(fd);
	}
}

/*
 * Receive the request. Returns false if there is none, or if it was ill-formed and has been
 * answered.
 */
static bool take(struct conn *conn, char request[CTL_REQUEST + 1])
{
	ssize_t n = recv(conn->fd, request, CTL_REQUEST, MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n > CTL_REQUEST)
		reply(conn->fd, CTL_FAILED, "the request is too long");
	else if (n > 0 && memchr(request, '\0', n))
		reply(conn->fd, CTL_FAILED, "the request is not text");
	else if (n > 0) {
		request[n] = '\0';
		return true;
	}
	drop(conn);
	return false;
}

static void answer(struct conn *conn, ctl_fn fn, void *ctx)
{
	char request[CTL_REQUEST + 1];
	struct buf text = { 0 };
	int err;

	if (conn->fd < 0 || !take(conn, request))
		return;
	err = fn(ctx, request, &text, &conn->keep);
	reply(conn->fd, err ? CTL_FAILED : CTL_OK, text.data);
	buf_free(&text);
	if (!conn->keep)
		drop(conn);
}

void ctl_server_serve(struct ctl_server *c, uint64_t now_ns, ctl_fn fn, void *ctx)
{
	struct epoll_event ev[MAX_CONNS + 1];
	int n = epoll_wait(c->epoll, ev, MAX_CONNS + 1, 0);

	for (int i = 0; i < n; i++) {
		if (ev[i].data.u32 == LISTENER)
			welcome(c, now_ns);
		else
			answer(&c->conns[ev[i].data.u32], fn, ctx);
	}
	watch_listener(c);
}

void ctl_server_tick(struct ctl_server *c, uint64_t now_ns)
{
	for (int i = 0; i < MAX_CONNS; i++) {
		struct conn *conn = &c->conns[i];

		if (conn->fd >= 0 && !conn->keep && now_ns - conn->since_ns > PATIENCE_NS)
			drop(conn);
	}
	c->left = PER_TICK;
	watch_listener(c);
}

/* --- begin and end --- */

static int begin(struct ctl_server *c, char path[CTL_PLACE])
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = LISTENER };
	int err;

	c->dirfd = ctl_place_open(true, path);
	if (c->dirfd < 0)
		return c->dirfd;
	sweep(c->dirfd);
	c->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->listener < 0 || c->epoll < 0)
		return -errno;
	err = appear(c);
	if (!err && epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->listener, &ev) < 0)
		err = -errno;
	return err;
}

struct ctl_server *ctl_server_open(struct diag *d)
{
	struct ctl_server *c = xcalloc(1, sizeof(*c));
	char path[CTL_PLACE] = "";
	int err;

	*c = (struct ctl_server){ .dirfd = -1, .listener = -1, .epoll = -1, .left = PER_TICK };
	snprintf(c->name, sizeof(c->name), "%d", getpid());
	for (int i = 0; i < MAX_CONNS; i++)
		c->conns[i].fd = -1;
	err = begin(c, path);
	if (!err)
		return c;
	if (!*path)
		diag_warn(d, "no control socket: XDG_RUNTIME_DIR names no directory: --ctl cannot reach "
			     "this recorder");
	else
		diag_warn(d, "no control socket in '%s': %s: --ctl cannot reach this recorder", path,
			  err == -EPERM ? "other users may write there" : strerror(-err));
	closep(&c->listener);
	c->listener = -1;
	ctl_server_close(c);
	return NULL;
}

int ctl_server_fd(const struct ctl_server *c)
{
	return c->epoll;
}

void ctl_server_shut(struct ctl_server *c)
{
	if (c->listener < 0)
		return;
	unlinkat(c->dirfd, c->name, 0);
	closep(&c->listener);
	c->listener = -1;
}

void ctl_server_close(struct ctl_server *c)
{
	if (!c)
		return;
	ctl_server_shut(c);
	for (int i = 0; i < MAX_CONNS; i++)
		closep(&c->conns[i].fd);
	closep(&c->epoll);
	closep(&c->dirfd);
	free(c);
}
