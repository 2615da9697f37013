/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets the processes that a recorder attaches to call the collector API (user/api/collector_call.h), and count
 * their locks (user/preload/heap_ring.h).
 */
#ifndef USER_RECORD_COLLECTOR_ATTACH_H
#define USER_RECORD_COLLECTOR_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

struct collector_server;
struct diag;
struct heap_server;
struct plan;

/*
 * Each target of the plan whose program has the library may call until the server stops. What prevents
 * that is a warning. Needs the privileges of a capture; nothing happens without BPF, or if `s` is NULL.
 */
void collector_attach(struct collector_server *s, const struct plan *plan, struct diag *d);
/* Whether the process has the library that counts locks: the user has preloaded it. */
bool lock_attach_possible(pid_t pid);
/*
 * Have the plan's process, and those that it creates, count for this server. What prevents that is a warning.
 * Nothing happens with a load, or if `s` is NULL.
 */
void lock_attach(struct heap_server *s, const struct plan *plan, struct diag *d);

#endif
