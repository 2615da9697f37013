/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the recorder may do beyond the rights of its caller, and when.
 *
 * An ordinary caller's recorder (with file capabilities, or set-user-id) has no capability
 * in effect. So the kernel itself checks, with the caller's own rights, every file that the
 * recorder opens or creates: experiments, groups, binaries, debug files. A capability takes
 * effect only between privilege_take() and privilege_return(), and nothing in between opens a
 * path that the caller or a recorded process chose. Capabilities that let a process pass by
 * file permissions are given up at the start. A recorder that root started keeps its rights.
 */
#ifndef LOADERS_PRIVILEGE_H
#define LOADERS_PRIVILEGE_H

#include <stdbool.h>
#include <stdint.h>

struct diag;

enum privilege {
	PRIVILEGE_CAPTURE, /* load programs, open events; nothing is left of it after the drop */
	PRIVILEGE_PROC,    /* look at other users' processes in /proc */
	PRIVILEGE_CPU,     /* open the events of a CPU that came online */
	PRIVILEGE_MAPS,    /* make maps for unwind tables */
};

/* Become the caller. Call it first. 0; -errno after a message. */
int privilege_begin(struct diag *d);
/*
 * Give up for good what only PRIVILEGE_CAPTURE needs. A failure is reported as a warning.
 */
void privilege_drop(struct diag *d);
/* Whether the caller is root, whose rights the recorder then has. */
bool privilege_root(void);

/*
 * Have it take effect, as far as it is held; returns what was in effect before, for
 * privilege_return(). Without privilege_begin() they change nothing.
 */
uint64_t privilege_take(enum privilege p);
void privilege_return(uint64_t before);

#endif
