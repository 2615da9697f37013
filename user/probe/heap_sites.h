/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the functions that allocate and free in programs that do not load er_heap.so: those that run
 * already, are linked statically or are set-user-id. Sites are functions of C by their names, in every
 * file that has some. C++'s operators of libstdc++ end there, too. Those of a file that has a malloc of its
 * own, as jemalloc has, are sites as well. A probe of their return would end the program when they throw,
 * so breakpoints are set on the instructions that return, also in functions that they only jump to.
 */
#ifndef USER_PROBE_HEAP_SITES_H
#define USER_PROBE_HEAP_SITES_H

#include <stdbool.h>
#include <sys/types.h>

#include "analysis/base/vec.h"
#include "loaders/capture.h"
#include "user/probe/sites.h"

struct diag;

struct heap_sites {
	VEC(struct capture_heap_site) sites;
	VEC(struct uprobe_site) ends; /* of sites with rule.ends */
	struct probe_sites files; /* only its binaries */
	bool shared;  /* the files are libraries, which other programs use, too */
	bool inherit; /* shared: breakpoints are set in a process and in those that it creates; the caller sets it */
};

/* Of processes that run. Returns 0, or -1 after one sentence with the remedy. */
int heap_sites_of_processes(const pid_t *pids, size_t n, struct diag *d, struct heap_sites *ret);
/*
 * Of a program that will be started. No site is found if it loads er_heap.so. The same if it is linked statically
 * and its symbols are gone, after a warning: its descendants may load it. Returns 0, or -1 after one sentence.
 */
int heap_sites_of_program(const char *path, struct diag *d, struct heap_sites *ret);
/* Whether a file has a malloc, or is a program that is linked statically and whose functions are not known. */
bool heap_sites_in(int fd, bool program);
/*
 * Whether a set-user-id program that will be started can be stopped when it has begun to run, so that breakpoints
 * are set then. Only root can trace it, and the kernel removes earlier ones.
 */
bool heap_sites_can_trap(void);
void heap_sites_free(struct heap_sites *h);

#endif
