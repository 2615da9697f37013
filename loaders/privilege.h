/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the recorder uses rights that its caller does not have.
 *
 * If an ordinary user starts the recorder (with file capabilities or set-user-id), no
 * capability is in effect. So the kernel checks every file that the recorder opens or creates
 * with the caller's own rights: experiments, groups, binaries, debug files. A capability takes
 * effect only between privilege_take() and privilege_return(), and code between them opens no
 * path that the caller or a recorded process chose. Capabilities that override file permissions
 * are given up at the start. A recorder that root started keeps its rights.
 */
#ifndef LOADERS_PRIVILEGE_H
#define LOADERS_PRIVILEGE_H

#include <stdbool.h>
#include <stdint.h>

struct diag;

enum privilege {
	PRIVILEGE_CAPTURE, /* load programs, open events; gone after privilege_drop */
	PRIVILEGE_PROC,    /* look at other users' processes in /proc */
	PRIVILEGE_CPU,     /* open the events of a CPU that came online */
	PRIVILEGE_MAPS,    /* create maps for unwind tables */
};

/*
 * Take on the caller's user and group IDs, and put all capabilities out of effect. Call it
 * first. Returns 0, or -errno after a report.
 */
int privilege_begin(struct diag *d);
/* Give up for good the capabilities that only PRIVILEGE_CAPTURE needs. A failure is a warning. */
void privilege_drop(struct diag *d);
/* Whether the caller may record with BPF: is root with root's capabilities, or has those for it. */
bool privilege_captures(void);
/* Whether the caller is root. The recorder then keeps root's rights. */
bool privilege_root(void);

/*
 * Put the capabilities of `p` into effect, as far as they were granted. Returns the set that
 * was in effect before, for privilege_return(). Without privilege_begin() both do nothing.
 */
uint64_t privilege_take(enum privilege p);
void privilege_return(uint64_t before);

#endif
