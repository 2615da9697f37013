/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder's side of the collector API (user/api/collector_call.h): takes calls of the load and
 * its descendants, and of processes that it attaches to, and answers them when they have been carried
 * out. Everybody on the machine can send datagrams to the sockets. Those without the token are
 * dropped, and at the socket of an attached process those of other processes. Nothing here waits.
 */
#ifndef USER_RECORD_COLLECTOR_SERVER_H
#define USER_RECORD_COLLECTOR_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "loaders/capture.h"
#include "user/api/collector_call.h"

struct collector_server;
struct diag;
struct uprobes;

enum { COLLECTOR_CALLS_MAX = 100000 }; /* of one recording; later ones are answered only */

/* Listen. NULL after a warning: the calls of the load do nothing then. */
struct collector_server *collector_server_open(struct diag *d);
void collector_server_close(struct collector_server *s); /* NULL: nothing */
/* Polls readable when a call has come; borrowed. */
int collector_server_fd(const struct collector_server *s);
/* Set COLLECTOR_VARIABLE of this process: the load's, before its exec. 0 or -errno. */
int collector_server_environment(const struct collector_server *s);
/* How I/O tracing knows the calls of the API's library in the load. */
struct capture_library collector_server_library(const struct collector_server *s);

enum { COLLECTOR_ATTACHED_MAX = 64 };
/*
 * Take calls of this process, which the recorder has not started. 0, or -errno: -EADDRINUSE if another
 * recorder does, or if somebody else has taken the socket's name.
 */
int collector_server_attach(struct collector_server *s, pid_t pid);
/* Keep what makes attached processes call until the server stops, and take ownership. NULL: nothing. */
void collector_server_keep(struct collector_server *s, struct uprobes *raised);

/* Carry out a call; `text` is a label. Returns false if it is to be answered by collector_server_stop. */
typedef bool (*collector_fn)(void *ctx, enum collector_op op, const char *text);

/* Carry out calls that have come: only some, if there are many. */
void collector_server_serve(struct collector_server *s, collector_fn fn, void *ctx);
/* The recording has ended: answer the calls that asked for that. No more are taken. */
void collector_server_stop(struct collector_server *s);
/* The number of calls that were left out because there were too many. */
uint64_t collector_server_refused(const struct collector_server *s);

#endif
