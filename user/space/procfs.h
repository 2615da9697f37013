/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading /proc: what a process is called, what it has mapped. Any of it may be gone. */
#ifndef USER_PROCFS_H
#define USER_PROCFS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/base/buf.h"

struct maps_line {
	uint64_t start, end, pgoff, dev, ino;
	bool exec;
	const char *path; /* "" for none; points into the line */
};

/* Parse a line of /proc/PID/maps, which is cut at its newline. */
bool procfs_maps_line(char *line, struct maps_line *ret);
/*
 * Call fn for each executable mapping, in the order of their addresses: the kernel is asked
 * for just these (PROCMAP_QUERY, 6.11), or all lines of `maps` are read. 0; -errno when it is gone.
 */
int procfs_code(pid_t pid, void (*fn)(void *ctx, const struct maps_line *l), void *ctx);
/* Read /proc/PID/NAME whole (at most 16 MB). 0 or -errno. */
int procfs_read(pid_t pid, const char *name, struct buf *ret);
/* Its command line, blanks between the words; "" when there is none. */
void procfs_cmdline(pid_t pid, struct buf *ret);

struct procfs_stat {
	char comm[16]; /* with what it escapes */
	pid_t ppid;
	unsigned nthreads; /* also those that have ended and were not waited for */
	bool kthread;
};

/* What /proc/PID/stat says; false, and nothing known, when it is gone. */
bool procfs_stat(pid_t pid, struct procfs_stat *ret);
/* Threads of the process, 0 when it is gone. */
unsigned procfs_nthreads(pid_t pid);
/* Call fn for each process there is. */
void procfs_for_each(void (*fn)(void *ctx, pid_t pid), void *ctx);

#endif
