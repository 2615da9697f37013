/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of waits as a person tells them apart: by their functions, without the
 * frames that every wait or system call has. Stacks that are the same then have
 * one id. A function that calls itself stands there once. Hidden load objects are
 * one function, as in all reports, and so are all processes of a program that were
 * not followed. Unless all frames are wanted, the kernel's functions between the one that
 * waited and the system call are one entry, WAIT_PATH_FOLDED: which of them a wait went
 * through mostly depends on a file system or a driver.
 */
#ifndef METRICS_WAITPATH_H
#define METRICS_WAITPATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/model/intern.h"

struct func;
struct session;

/* Instead of a function's id: two or more functions of the kernel. */
#define WAIT_PATH_FOLDED UINT32_MAX

struct wait_paths {
	struct session *session;
	bool all_frames;
	struct intern ids;
	VEC(uint32_t) first;    /* by path: into funcs; one more at the end */
	VEC(uint32_t) funcs;    /* function ids, leaf first */
	VEC(uint32_t) by_stack; /* path + 1; 0 not looked at yet */
	struct strtab program_names;
	struct map programs;    /* by the id of a program's name: its function + 1 */
	VEC(unsigned char) dull; /* by function: 0 not looked at yet, 1 no, 2 yes */
	VEC(unsigned char) idle; /* by path, likewise */
};

void wait_paths_init(struct wait_paths *wp, struct session *s, bool all_frames);
void wait_paths_free(struct wait_paths *wp);
/* The path of a resolved stack, a dense id. */
uint32_t wait_path(struct wait_paths *wp, uint32_t stack);
/* Its functions, leaf first, at least one; WAIT_PATH_FOLDED may be among them. */
size_t wait_path_funcs(const struct wait_paths *wp, uint32_t path, const uint32_t **ret);
/* The function that took the lock (waitroles.h), or NULL: the path shows none. */
const struct func *wait_path_taker(const struct wait_paths *wp, uint32_t path);
/* Whether it is that of an idle thread of a language runtime (waitroles.h). */
bool wait_path_idle(struct wait_paths *wp, uint32_t path);

#endif
