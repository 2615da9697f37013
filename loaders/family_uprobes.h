/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaches BPF programs to places in user code of chosen processes and of all that these create from then
 * on, and of no others: the breakpoints are perf events that children inherit. The kernel inherits such
 * events only for probes that are defined in tracefs, so each place is defined there, as
 * er_family_PID/pN with the recorder's PID. Definitions that a killed recorder has left are removed by the
 * next one.
 *
 * A child has the breakpoints from its first instruction on, and keeps them when it runs another program,
 * which then has those in the files that both use. It loses them when that program is set-user-id.
 */
#ifndef LOADERS_FAMILY_UPROBES_H
#define LOADERS_FAMILY_UPROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct family_uprobes;
struct uprobe_site;

/* Whether this user may define such places here. */
bool family_uprobes_possible(void);
/*
 * Whether each process keeps its breakpoints until it ends. Before Linux 6.12 a process may lose all of them when
 * a relative ends, and nothing tells.
 */
bool family_uprobes_hold(void);
/*
 * Define the places; `prog` is the program's descriptor, its section is "uprobe", and uprobes_prepare was
 * not called for it. Nothing runs yet. Adds to *u, which is made if it is NULL. Returns 0, or -errno; *bad is
 * then the site that failed.
 */
int family_uprobes_define(struct family_uprobes **u, int prog, const struct uprobe_site *sites, size_t n,
			  size_t *bad);
/*
 * Set the breakpoints of all places in a process, with all its threads. Returns 0, or -errno; *bad is then the
 * site that failed, counted over all calls of family_uprobes_define.
 */
int family_uprobes_aim(struct family_uprobes *u, pid_t pid, size_t *bad);
/* Remove all. The kernel takes its breakpoints back, also those of children. NULL is allowed. */
void family_uprobes_close(struct family_uprobes *u);

#endif
