/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads /proc: names and mappings of processes. A process may end during any call. */
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

/* Parse a line of /proc/PID/maps. Writes a NUL over its newline. */
bool procfs_maps_line(char *line, struct maps_line *ret);
/*
 * Call fn for each executable mapping, in the order of their addresses, until it returns false.
 * Linux 6.11 and later can list only these (PROCMAP_QUERY); before that all lines of `maps` are
 * read. Returns 0, or -errno if the process has ended.
 */
int procfs_code(pid_t pid, bool (*fn)(void *ctx, const struct maps_line *l), void *ctx);
/* The same for the opener: it may wait for ever. */
int procfs_code_here(pid_t pid, bool (*fn)(void *ctx, const struct maps_line *l), void *ctx);
/* Read /proc/PID/NAME whole (at most 16 MB). 0 or -errno. */
int procfs_read(pid_t pid, const char *name, struct buf *ret);
/*
 * Its command line, words separated by blanks; "" if there is none. At most 4096 bytes: a program
 * may make it as long as 6 MB.
 */
void procfs_cmdline(pid_t pid, struct buf *ret);
/*
 * Its command line as the kernel shows it, for the opener: the kernel reads it from the memory of
 * the process, which may be a mapped file that nobody answers for.
 */
void procfs_cmdline_here(pid_t pid, struct buf *ret);

struct procfs_stat {
	char comm[16]; /* with the escapes of /proc/PID/stat */
	pid_t ppid;
	unsigned nthreads; /* includes threads that have ended but were not waited for */
	bool kthread;
};

/* The process's real user; root (0) if it has ended. No lock of the process is taken. */
uid_t procfs_user(pid_t pid);
/* Read /proc/PID/stat. False if the process has ended; *ret is not valid then. */
bool procfs_stat(pid_t pid, struct procfs_stat *ret);
/* The number of the process's threads, 0 if it has ended. */
unsigned procfs_nthreads(pid_t pid);
/* Call fn for each process. */
void procfs_for_each(void (*fn)(void *ctx, pid_t pid), void *ctx);

#endif
