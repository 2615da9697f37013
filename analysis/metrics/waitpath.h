/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reduces stacks of waits to the functions that distinguish them. Frames that every
 * wait or system call has are dropped, and a function that calls itself appears once.
 * Stacks that become equal have one id. As in all reports, a hidden load object is one
 * function, and so are all processes of a program that were not followed.
 *
 * Unless all frames are wanted, two more things are left out. The kernel functions between
 * the one that waited and the system call are folded into one entry, WAIT_PATH_FOLDED; they
 * mostly depend on the file system or driver. Functions that call each other in a cycle
 * appear once, so that the depth of a recursion does not make different stacks.
 */
#ifndef METRICS_WAITPATH_H
#define METRICS_WAITPATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/intern.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/metrics/waitroles.h"

struct func;
struct session;

/* A pseudo function id: two or more folded kernel functions. */
#define WAIT_PATH_FOLDED UINT32_MAX

struct wait_paths {
	struct session *session;
	bool all_frames;
	struct intern ids;
	VEC(uint32_t) first;    /* by path: index into funcs; one more at the end */
	VEC(uint32_t) funcs;    /* function ids, leaf first */
	VEC(uint32_t) by_stack; /* path + 1; 0: not computed yet */
	struct strtab program_names;
	struct map programs;    /* id of a program's name, to its function + 1 */
	VEC(unsigned char) dull; /* by function: 0: not checked yet, 1: no, 2: yes */
	VEC(unsigned char) path_roles; /* by path: enum lock_role + 1; 0: not computed yet */
	VEC(unsigned char) path_kinds; /* by path: enum er_lock + 1; 0: not computed yet */
	VEC(unsigned char) roles; /* by function: func_roles + 1; 0: not checked yet */
	VEC(unsigned char) kinds; /* by function: func_lock_kind + 1; 0: not checked yet */
};

void wait_paths_init(struct wait_paths *wp, struct session *s, bool all_frames);
void wait_paths_free(struct wait_paths *wp);
/* The path of a resolved stack; path ids are dense. */
uint32_t wait_path(struct wait_paths *wp, uint32_t stack);
/*
 * The path's functions, leaf first, at least one; may include WAIT_PATH_FOLDED. Returns
 * their number.
 */
size_t wait_path_funcs(const struct wait_paths *wp, uint32_t path, const uint32_t **ret);
/* The function that took the lock (waitroles.h); NULL: unknown. */
const struct func *wait_path_taker(const struct wait_paths *wp, uint32_t path);
/*
 * What the function nearest to the leaf tells of it (waitroles.h). ER_LOCK_UNKNOWN: none does, or the lock is one that
 * waits by an event.
 */
enum er_lock wait_path_lock_kind(struct wait_paths *wp, uint32_t path);
/*
 * Whether a wait with this path was for a lock whose address is not known: the thread waited by an event of its own, as
 * for a monitor of Java. Equal addresses are then one thread, not one lock.
 */
bool wait_path_own_place(struct wait_paths *wp, uint32_t path);
/* What a wait in state USER_LOCK with this path was for (waitroles.h). */
enum lock_role wait_path_role(struct wait_paths *wp, uint32_t path);

#endif
