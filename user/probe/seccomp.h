/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Return probes and seccomp filters. From Linux 6.11 on x86-64 a return probe makes the thread call
 * uretprobe(2). A filter that does not know this system call kills the thread; from 6.14 on the
 * kernel does not show the call to filters.
 */
#ifndef USER_PROBE_SECCOMP_H
#define USER_PROBE_SECCOMP_H

#include <stdbool.h>

#include "user/probe/sites.h"

/* Whether filters see the call, by the release in uname(2), such as "6.12.8-amd64". */
bool seccomp_sees_return(const char *release);
/*
 * Whether a return probe at these sites could kill a process that runs now: it has a filter and one
 * of the binaries. If so, reports it.
 */
bool seccomp_forbids(const struct probe_spec *s, const struct probe_sites *p, struct diag *d);

/* Whether a return probe could kill this process. */
bool seccomp_kills_return(pid_t pid);

#endif
