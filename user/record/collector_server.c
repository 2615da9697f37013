/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/collector_server.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/vec.h"
#include "user/record/token.h"

enum {
	NAME = 16,        /* random bytes of the socket's name */
	AT_ONCE = 16,     /* datagrams taken in one call */
	MAX_WAITING = 64, /* callers that wait for the end */
};

struct caller {
	struct sockaddr_un at;
	socklen_t size;
};

struct collector_server {
	int fd; /* -1: stopped */
	char name[2 * NAME + 1], token[COLLECTOR_TOKEN + 1];
	uint64_t ncalls, refused;
	VEC(struct caller) waiting; /* for the end */
};

struct collector_server *collector_server_open(struct diag *d)
{
	struct collector_server *s = xcalloc(1, sizeof(*s));
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	token_make(s->name, NAME);
	token_make(s->token, COLLECTOR_TOKEN / 2);
	memcpy(at.sun_path + 1, s->name, 2 * NAME);
	s->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd >= 0 && !bind(s->fd, (struct sockaddr *)&at,
				offsetof(struct sockaddr_un, sun_path) + 1 + 2 * NAME))
		return s;
	diag_warn(d, "the collector API has no effect: its socket cannot be made: %s", strerror(errno));
	collector_server_close(s);
	return NULL;
}

void collector_server_close(struct collector_server *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	vec_free(&s->waiting);
	free(s);
}

int collector_server_fd(const struct collector_server *s)
{
	return s->fd;
}

int collector_server_environment(const struct collector_server *s)
{
	char value[2 * NAME + COLLECTOR_TOKEN + 2];

	snprintf(value, sizeof(value), "%s %s", s->name, s->token);
	return setenv(COLLECTOR_VARIABLE, value, 1) ? -errno : 0;
}

/* --- calls --- */

static bool is_sound(const struct collector_server *s, const struct collector_call *c)
{
	return c->version == COLLECTOR_VERSION && token_equal(c->token, s->token, COLLECTOR_TOKEN) &&
	       c->op < COLLECTOR_OPS && memchr(c->text, 0, sizeof(c->text));
}

/*
 * Only to a socket that has no file: a file's name might lead to another program's socket by now. An
 * answer that finds no room is dropped.
 */
static void answer(const struct collector_server *s, const struct caller *to)
{
	if (to->size > offsetof(struct sockaddr_un, sun_path) && !to->at.sun_path[0])
		(void)!sendto(s->fd, "+", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&to->at,
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
		answer(s, from);
}

void collector_server_serve(struct collector_server *s, collector_fn fn, void *ctx)
{
	for (int i = 0; i < AT_ONCE; i++) {
		struct caller from = { .size = sizeof(from.at) };
		struct collector_call c;
		ssize_t n;

		n = s->fd < 0 ? -1 : recvfrom(s->fd, &c, sizeof(c), MSG_DONTWAIT | MSG_TRUNC,
					      (struct sockaddr *)&from.at, &from.size);
		if (n < 0)
			return;
		if (n == sizeof(c) && is_sound(s, &c))
			carry_out(s, &c, &from, fn, ctx);
	}
}

void collector_server_stop(struct collector_server *s)
{
	if (s->fd < 0)
		return;
	vec_for_each(to, &s->waiting)
		answer(s, to);
	s->waiting.len = 0;
	close(s->fd);
	s->fd = -1;
}

uint64_t collector_server_refused(const struct collector_server *s)
{
	return s->refused;
}
