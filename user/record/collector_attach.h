/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets the processes that a recorder attaches to call the collector API (user/api/collector_call.h).
 */
#ifndef USER_RECORD_COLLECTOR_ATTACH_H
#define USER_RECORD_COLLECTOR_ATTACH_H

struct collector_server;
struct diag;
struct plan;

/*
 * Each target of the plan whose program has the library may call until the server stops. What prevents
 * that is a warning. Needs the privileges of a capture; nothing happens without BPF, or if `s` is NULL.
 */
void collector_attach(struct collector_server *s, const struct plan *plan, struct diag *d);

#endif
