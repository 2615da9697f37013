/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder's control socket. A client sends one request, a line of text in one message, and
 * gets one reply. Only root and the recorder's own user may send requests. Nothing here waits. The
 * number of connections, messages and requests in each tick is limited, and a client that sends no
 * request is disconnected, so clients cannot use up resources.
 */
#ifndef USER_CTL_SERVER_H
#define USER_CTL_SERVER_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct ctl_server;
struct diag;

enum {
	CTL_REQUEST = 256, /* bytes of a request, at most */
	CTL_OK = '+',      /* the first byte of a reply, before its text */
	CTL_FAILED = '-',
};

/*
 * Listen under this process's ID, and remove the sockets of recorders that were killed. Returns
 * NULL after a report if this cannot be done. Free with ctl_server_close.
 */
struct ctl_server *ctl_server_open(struct diag *d);
/* A descriptor that polls readable when ctl_server_serve has something to do; borrowed. */
int ctl_server_fd(const struct ctl_server *c);

/*
 * Carry out a request and append the reply, without CTL_OK. Returns 0, or -1 if it failed; the
 * reply then is one sentence. Set *keep to keep the connection until this process ends.
 */
typedef int (*ctl_fn)(void *ctx, char *request, struct buf *reply, bool *keep);

/* Accept connections and handle requests that have come. */
void ctl_server_serve(struct ctl_server *c, uint64_t now_ns, ctl_fn fn, void *ctx);
/* Call it about ten times a second: it disconnects slow clients and accepts more. */
void ctl_server_tick(struct ctl_server *c, uint64_t now_ns);
/* Accept no new connections, and remove the socket. Kept connections stay open. */
void ctl_server_shut(struct ctl_server *c);
/* NULL is allowed. */
void ctl_server_close(struct ctl_server *c);

#endif
